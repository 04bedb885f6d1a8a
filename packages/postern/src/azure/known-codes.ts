/**
 * When to retry.
 * `now`: the cached observation was stale, so read and plan again (the queue's back-off).
 * `soon`: an operation on one of our resources is still running (30 s).
 * `slow`: somebody has to act, in Azure or in Entra (minutes, by HTTP status).
 * `never`: only a change of the object can help.
 */
export type Retry = "now" | "soon" | "slow" | "never";

/** What we know about one code. */
export interface KnownCode {
  retry: Retry;
  /** What it means, for the reader of a condition. */
  why: string;
  /** What that reader can do. */
  hint: string;
}

const row =
  (retry: Retry) =>
  (why: string, hint: string): KnownCode => ({ retry, why, hint });
const now = row("now");
const soon = row("soon");
const slow = row("slow");
const never = row("never");

const identity = "check tenantId, clientId and the operator's credential";
const federation =
  "create a federated credential for the identity with this issuer, subject and audience";
const reread = "no action needed: Postern reads the resource and plans again";
const waits = "no action needed: Postern retries";

/** Codes that Azure Resource Manager and its providers return. */
const arm: Record<string, KnownCode> = {
  // Concurrency: docs of the async pattern, issues and recordings (spec of the ARM wire, section 3.3).
  PreconditionFailed: now("the resource changed since it was read", reread),
  PreconditionFailedEtagMismatch: now("the resource changed since it was read", reread),
  Canceled: now("Azure cancelled the operation", reread),
  CanceledAndSupersededDueToAnotherOperation: now("a later write superseded this one", reread),
  RetryableError: soon("Azure asks for a retry", waits),
  RetryableErrorDueToAnotherOperation: soon("another operation is changing this resource", waits),
  ReferencedResourceNotProvisioned: soon("a referenced resource is still being changed", waits),
  AnotherOperationInProgress: soon(
    "another write to this resource or a dependent one is running",
    waits,
  ),
  ConflictingConcurrentWriteNotAllowed: soon("another write to this resource is running", waits),
  ResourceGroupBeingDeleted: slow(
    "the resource group is being deleted",
    "use another resource group, or wait until it is deleted and recreate it",
  ),
  ThirdPartyPrivateLinkServiceProvidedDuringPrivateEndpointCreationDoesNotExistOrIsNotVisible: soon(
    "the link service does not exist, or is not visible to this subscription",
    "wait until it exists, or add the subscription to its visibility",
  ),
  PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted: soon(
    "private endpoints are still connected to the link service",
    "delete the connections first; a connection of another owner can be deleted on the link service",
  ),

  // Throttling: https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling
  TooManyRequests: slow(
    "the request limit of this identity is reached",
    "no action needed: Postern waits as long as Azure asks; see the metric postern_azure_remaining_requests",
  ),
  OperationNotAllowed: slow(
    "the operation would exceed a limit or quota",
    "check the quotas of the subscription in this region",
  ),
  SubscriptionRequestsThrottled: slow(
    "the request limit of this subscription is reached",
    "no action needed: Postern waits as long as Azure asks",
  ),
  ResourceRequestsThrottled: slow(
    "the request limit of a resource provider in this subscription is reached",
    "no action needed: Postern waits as long as Azure asks",
  ),

  // Absence. Reading an absent resource is not an error; these come from writes and from configuration.
  ResourceNotFound: slow("the resource does not exist", "check the name and the resource group"),
  NotFound: slow("the resource does not exist", "check the name"),
  ResourceGroupNotFound: slow(
    "the resource group does not exist",
    "create the resource group, or correct its name",
  ),
  ParentResourceNotFound: slow(
    "the parent resource does not exist",
    "create the parent first, or correct its name",
  ),
  SubscriptionNotFound: slow(
    "the subscription does not exist, or this identity has no access to it",
    "check the subscription, and assign the identity a role in it",
  ),

  // Permissions.
  InvalidAuthenticationToken: slow(
    "Azure rejected the token",
    "check the cloud (AZURE_CLOUD_NAME), the tenant and the machine's clock",
  ),
  InvalidAuthenticationTokenTenant: slow(
    "the token was issued by another tenant than the subscription's",
    "use an identity of the subscription's tenant",
  ),
  ExpiredAuthenticationToken: slow(
    "the token has expired",
    "check the machine's clock, and that new tokens can be requested",
  ),
  AuthenticationFailed: slow("Azure did not accept the identity", identity),
  AuthorizationFailed: slow(
    "the identity lacks a permission",
    "assign the identity a role with this action at this scope; it can take 10 minutes to take effect",
  ),
  LinkedAuthorizationFailed: slow(
    "the identity lacks a permission on a referenced resource",
    "assign the identity a role with the join action on the referenced resource",
  ),
  RequestDisallowedByPolicy: slow(
    "an Azure policy denies it",
    "ask for an exemption, or comply with the policy (tags, regions)",
  ),
  ScopeLocked: slow(
    "a management lock prevents it",
    "remove the lock from the resource or its resource group",
  ),
  MissingSubscriptionRegistration: slow(
    "the resource provider is not registered in the subscription",
    "run: az provider register --namespace Microsoft.Network",
  ),
  NoRegisteredProviderFound: slow(
    "this cloud or region does not offer the resource type in the requested API version",
    "check the location; a sovereign cloud may get an API version later",
  ),

  // Validation. The remedy is mostly in Azure and not in the object, hence `slow` and not `never`.
  MissingApiVersionParameter: slow(
    "the request has no API version",
    "this is a bug in Postern: please report it",
  ),
  InvalidParameter: slow("Azure rejected a value", "correct the value named in the message"),
  InvalidRequestFormat: slow(
    "Azure rejected the request",
    "correct the value named in the message",
  ),
  InvalidResourceName: never(
    "the name is not allowed in Azure",
    "use a shorter name of letters, digits, hyphens and dots",
  ),
  InvalidResourceReference: slow(
    "a referenced resource does not exist or is in another region",
    "check the ids in the object, and that all resources are in one region",
  ),
  PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled: slow(
    "the NAT subnet has private link service network policies enabled",
    "set privateLinkServiceNetworkPolicies to Disabled on the NAT subnet",
  ),
  PrivateEndpointCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled: slow(
    "the subnet has private endpoint network policies enabled",
    "set privateEndpointNetworkPolicies to Disabled on the subnet",
  ),
  CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool: slow(
    "a backend pool contains either addresses or network interfaces, never both",
    "use a separate pool for addresses, or add the network interface to this one",
  ),
  DuplicateIpConfigurationReferenceOnBackendAddressPool: slow(
    "the same IP configuration is in the backend pool twice",
    "remove the one that was added manually",
  ),
  FrontendIPConfigHasBothSubnetAndPublicIP: slow(
    "a frontend has either a subnet or a public address, never both",
    "remove one of the two",
  ),
};

/** Codes of Entra: https://learn.microsoft.com/entra/identity-platform/reference-error-codes */
const entra: Record<string, KnownCode> = {
  AADSTS: slow("Entra issued no token", identity),
  AADSTS50034: slow("the account is not in the tenant", identity),
  AADSTS53003: slow(
    "a conditional access policy blocks the token",
    "exempt the workload identity from the policy",
  ),
  AADSTS70021: slow("no federated credential of the identity matches the token file", federation),
  AADSTS70025: slow("the identity has no federated credential", federation),
  AADSTS500011: slow(
    "this cloud's Resource Manager is not registered in the tenant",
    "check AZURE_CLOUD_NAME and the tenant",
  ),
  AADSTS700016: slow("the client id does not exist in the tenant", "check clientId and tenantId"),
  AADSTS700024: slow(
    "the token file has expired",
    "check that the token file is renewed, and the machine's clock",
  ),
  AADSTS700027: slow(
    "the certificate is not registered for the application",
    "add the certificate to the application, or configure the one that is registered",
  ),
  AADSTS700211: slow("no federated credential matches the issuer of the token file", federation),
  AADSTS700212: slow("no federated credential matches the audience of the token file", federation),
  AADSTS700213: slow("no federated credential matches the subject of the token file", federation),
  AADSTS7000215: slow(
    "the client secret is wrong",
    "configure the value of the secret, not its id",
  ),
  AADSTS7000222: slow(
    "the client secret has expired",
    "create a new secret, and update the credential with it",
  ),
  AADSTS90002: slow("the tenant does not exist", "check tenantId"),
};

/** Codes of Postern, for requests that never reached Azure or whose response was lost. */
const own: Record<string, KnownCode> = {
  AnswerLost: now("the write was sent, but the response was lost", reread),
  Cancelled: now("it was stopped before it completed", waits),
  CloudDiffers: never(
    "the control plane is in another Azure cloud than this operator",
    "correct spec.platform.azure.cloud, or run an operator with AZURE_CLOUD_NAME set to that cloud",
  ),
  CertificateNotAllowed: slow(
    "the certificate file is outside the directory that AzureClusterIdentities of this namespace may use",
    "move the file to the namespace's folder in --certificate-directory, and use its absolute path",
  ),
  ClusterIdentityIncomplete: slow(
    "the AzureClusterIdentity lacks a field that its type requires",
    "set tenantID, clientID and, where its type has a Secret, clientSecret in its spec",
  ),
  ClusterIdentityMissing: slow(
    "the cluster references no existing AzureClusterIdentity",
    "set spec.identityRef to an AzureClusterIdentity, or create the one that it references",
  ),
  ClusterIdentityUnsupported: slow(
    "this type of AzureClusterIdentity is not supported",
    "set its type to WorkloadIdentity, ServicePrincipal, ServicePrincipalCertificate or UserAssignedMSI",
  ),
  ControlPlaneNotVerified: never(
    "the control plane does not belong to the HostedCluster that it names",
    "let the HostedCluster create its control plane; any other is ignored",
  ),
  CredentialMissing: slow(
    "no Azure credential is configured",
    "set AZURE_PLS_CLIENT_ID, AZURE_FEDERATED_TOKEN_FILE or AZURE_CREDENTIALS_FILE",
  ),
  CredentialUnreadable: slow(
    "the credential cannot be read",
    "check the path, the permissions and the format of the file",
  ),
  FederatedTokenMissing: slow(
    "this process has no service account token for a workload identity",
    "run it in a pod with the label azure.workload.identity/use, or set AZURE_FEDERATED_TOKEN_FILE",
  ),
  ForeignAddress: slow(
    "the response points to another server, and the token is not sent there",
    "check that the Resource Manager endpoint is correct, and that no proxy rewrites its responses",
  ),
  IdentityMissing: never(
    "the control plane names no Azure identity",
    "set tenantID and azureAuthenticationConfig.workloadIdentities.controlPlaneOperator.clientID in spec.platform.azure of the HostedCluster",
  ),
  IdentityNotFound: slow(
    "this machine does not have the managed identity",
    "assign the managed identity to the machine, or correct its client id",
  ),
  ImdsUnavailable: slow(
    "the instance metadata service returned no token",
    "check that this runs in Azure, and that 169.254.169.254 is reachable",
  ),
  InvalidRequestPath: never(
    "it is not a valid path of Azure Resource Manager",
    "correct the resource id",
  ),
  NamespaceNotAllowed: slow(
    "the AzureClusterIdentity does not allow clusters of this namespace",
    "add the namespace to spec.allowedNamespaces of the AzureClusterIdentity; {} allows all",
  ),
  NotAllowedByPolicy: slow(
    "the tenant policy does not allow it for this namespace",
    "use a value that the policy allows, or add it to the namespace's entry in the file of --tenant-policy",
  ),
  NotLeader: now(
    "this process is not the leader, so it does not write",
    "no action needed: the leader writes",
  ),
  OperationFailed: slow(
    "the operation failed without a reason from Azure",
    "check the activity log of the resource",
  ),
  OperationTimedOut: slow(
    "the operation did not complete within an hour",
    "check the resource in Azure; Postern reads it again",
  ),
  ProofMissing: slow(
    "neither the hosted cluster nor the management cluster issued a token for ServiceAccount control-plane-operator",
    "give the operator a kubeconfig Secret of the hosted cluster's API server, or create a ServiceAccount control-plane-operator in the control plane's namespace",
  ),
  RedirectRefused: slow(
    "the response was a redirect, which Postern does not follow",
    "check that the Resource Manager endpoint is correct, and that no proxy responds in its place",
  ),
  ResourceGroupOfAnother: slow(
    "the network, the private zone or a private endpoint of the cluster is in a resource group of another namespace",
    "use a resource group of the cluster's own namespace, or list the group by its name for both namespaces in the file of --tenant-policy",
  ),
  ResourceGroupTaken: slow(
    "the resource group belongs to a cluster in another namespace",
    "use another resource group, or list the group for both namespaces in the file of --tenant-policy",
  ),
  SecretForbidden: slow(
    "the operator is not allowed to read Secrets in this namespace",
    "allow the operator's ServiceAccount to get Secrets there, with a RoleBinding in that namespace",
  ),
  SecretIncomplete: slow(
    "the Secret of the AzureClusterIdentity lacks the value that its type requires",
    "store the client secret, or the certificate with its key in PEM, under the key clientSecret",
  ),
  SecretMissing: slow(
    "the Secret of the AzureClusterIdentity does not exist",
    "create the Secret, or correct spec.clientSecret of the AzureClusterIdentity",
  ),
  SecretNotAllowed: slow(
    "the Secret is in another namespace and does not allow the AzureClusterIdentity to use it",
    "keep the Secret in the namespace of the AzureClusterIdentity, or list that namespace in the annotation postern.io/allowed-identity-namespaces of the Secret",
  ),
  Throttled: slow(
    "Azure asks the client to wait",
    "no action needed: Postern waits as long as Azure asks",
  ),
  TimedOut: slow("Azure did not respond in time", "check the network connection to Azure"),
  TokenExpired: slow(
    "the configured token has expired",
    "check the machine's clock, and the source of the token",
  ),
  UnknownCloud: never(
    "the Azure cloud is unknown",
    "use AzurePublicCloud, AzureUSGovernmentCloud, AzureChinaCloud, AzureGermanCloud or AzureBleuCloud",
  ),
  Unreachable: slow(
    "Azure is unreachable",
    "check name resolution, firewall and proxy settings (HTTPS_PROXY, NO_PROXY)",
  ),
  UnreadableAnswer: slow(
    "the response is incomplete or not in Azure's format",
    "check that the endpoint is Azure Resource Manager, and that no proxy responds in its place",
  ),
};

/** One row for each known code. Any other code is retried by its HTTP status. */
export const knownCodes: Readonly<Record<string, KnownCode>> = { ...arm, ...entra, ...own };

/** The row of a code. An unknown number of Entra falls back to the row of its family. */
export function knownCode(code: string): KnownCode | undefined {
  if (Object.hasOwn(knownCodes, code)) return knownCodes[code];
  return code.startsWith("AADSTS") ? knownCodes.AADSTS : undefined;
}
