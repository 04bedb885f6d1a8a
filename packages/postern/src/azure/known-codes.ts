/**
 * When to try again.
 * `now`: what we knew was stale, so read again and decide anew (the queue's back-off).
 * `soon`: something of ours is still moving (30 s).
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

const identity = "check tenantId, clientId and the credential that the operator was given";
const federation =
  "make a federated credential on the identity with this issuer, subject and audience";
const reread = "nothing to do: it is read again and decided anew";
const waits = "nothing to do: it is tried again";

/** Codes that Azure Resource Manager and its providers answer. */
const arm: Record<string, KnownCode> = {
  // Concurrency: docs of the async pattern, issues and recordings (spec of the ARM wire, section 3.3).
  PreconditionFailed: now("the resource changed since it was read", reread),
  PreconditionFailedEtagMismatch: now("the resource changed since it was read", reread),
  Canceled: now("Azure cancelled the operation", reread),
  CanceledAndSupersededDueToAnotherOperation: now(
    "a later write took the place of this one",
    reread,
  ),
  RetryableError: soon("Azure asks to try again", waits),
  RetryableErrorDueToAnotherOperation: soon("another operation is changing this resource", waits),
  ReferencedResourceNotProvisioned: soon(
    "a resource that this one refers to is still being changed",
    waits,
  ),
  AnotherOperationInProgress: soon(
    "another write on this or a dependent resource is running",
    waits,
  ),
  ConflictingConcurrentWriteNotAllowed: soon("another write on this resource is running", waits),
  ResourceGroupBeingDeleted: slow(
    "the resource group is being deleted",
    "name another resource group, or wait until it is gone and make it again",
  ),
  ThirdPartyPrivateLinkServiceProvidedDuringPrivateEndpointCreationDoesNotExistOrIsNotVisible: soon(
    "the link service is not there, or does not let this subscription see it",
    "wait until it is made, or add the subscription to its visibility",
  ),
  PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted: soon(
    "private endpoints are still connected to the link service",
    "remove the connections first; one that others made must be removed on the service's side",
  ),

  // Throttling: https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling
  TooManyRequests: slow(
    "Azure limits how often this identity may ask",
    "nothing to do: it waits as long as Azure says; see postern_azure_remaining_requests",
  ),
  OperationNotAllowed: slow(
    "Azure refuses the operation because of a limit or a quota",
    "look at the quotas of the subscription in this region",
  ),
  SubscriptionRequestsThrottled: slow(
    "Azure limits how often this subscription may be asked",
    "nothing to do: it waits as long as Azure says",
  ),
  ResourceRequestsThrottled: slow(
    "Azure limits how often a resource provider may be asked in this subscription",
    "nothing to do: it waits as long as Azure says",
  ),

  // Absence. Reading what is absent is no error; these surface from writes and from configuration.
  ResourceNotFound: slow("the resource does not exist", "check the name and the resource group"),
  NotFound: slow("the resource does not exist", "check the name"),
  ResourceGroupNotFound: slow(
    "the resource group does not exist",
    "make the resource group, or correct its name",
  ),
  ParentResourceNotFound: slow(
    "the resource that this one lies in does not exist",
    "make the parent first, or correct its name",
  ),
  SubscriptionNotFound: slow(
    "the subscription does not exist, or this identity may not see it",
    "check the subscription and give the identity a role in it",
  ),

  // Rights.
  InvalidAuthenticationToken: slow(
    "Azure refused the token",
    "check the cloud (AZURE_CLOUD_NAME), the tenant and the machine's clock",
  ),
  InvalidAuthenticationTokenTenant: slow(
    "the token is of another tenant than the subscription",
    "use an identity of the subscription's tenant",
  ),
  ExpiredAuthenticationToken: slow(
    "the token has expired",
    "check the machine's clock and that new tokens can be fetched",
  ),
  AuthenticationFailed: slow("Azure did not accept the identity", identity),
  AuthorizationFailed: slow(
    "the identity lacks a right",
    "give the identity a role with this action on this scope; it can take 10 minutes to count",
  ),
  LinkedAuthorizationFailed: slow(
    "the identity lacks a right on a resource that this one refers to",
    "give the identity a role with the join action on the resource referred to",
  ),
  RequestDisallowedByPolicy: slow(
    "an Azure policy forbids it",
    "ask for an exemption, or set what the policy wants (tags, regions)",
  ),
  ScopeLocked: slow(
    "a management lock forbids it",
    "remove the lock from the resource or its group",
  ),
  MissingSubscriptionRegistration: slow(
    "the resource provider is not registered in the subscription",
    "run: az provider register --namespace Microsoft.Network",
  ),
  NoRegisteredProviderFound: slow(
    "this cloud or region does not offer the resource type in the version that is asked for",
    "check the location; in a sovereign cloud the version may come later",
  ),

  // Validation. The remedy is mostly in Azure and not in the object, hence `slow` and not `never`.
  MissingApiVersionParameter: slow(
    "the request named no version",
    "this is a defect of Postern: please report it",
  ),
  InvalidParameter: slow("a value was refused", "correct the value named in the message"),
  InvalidRequestFormat: slow("the request was refused", "correct the value named in the message"),
  InvalidResourceName: never(
    "the name is not allowed in Azure",
    "use a shorter name of letters, digits, hyphens and dots",
  ),
  InvalidResourceReference: slow(
    "a resource referred to does not exist or lies in another region",
    "check the ids in the object, and that all lie in one region",
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
    "a backend pool holds either addresses or network interfaces, never both",
    "use a pool of its own for addresses, or join the network interface to this one",
  ),
  DuplicateIpConfigurationReferenceOnBackendAddressPool: slow(
    "the same IP configuration is in the backend pool twice",
    "remove the one that was added by hand",
  ),
  FrontendIPConfigHasBothSubnetAndPublicIP: slow(
    "a frontend has a subnet or a public address, never both",
    "remove one of the two",
  ),
};

/** Codes of Entra: https://learn.microsoft.com/entra/identity-platform/reference-error-codes */
const entra: Record<string, KnownCode> = {
  AADSTS: slow("Entra gave no token", identity),
  AADSTS50034: slow("the account is not in the tenant", identity),
  AADSTS53003: slow(
    "a conditional access policy forbids a token",
    "exempt the workload identity from the policy",
  ),
  AADSTS70021: slow("no federated credential of the identity matches the token file", federation),
  AADSTS70025: slow("the identity has no federated credential", federation),
  AADSTS500011: slow(
    "the tenant does not know this cloud's Resource Manager",
    "check AZURE_CLOUD_NAME and the tenant",
  ),
  AADSTS700016: slow("the client id is not known in the tenant", "check clientId and tenantId"),
  AADSTS700024: slow(
    "the token file has expired",
    "check that the token file is renewed, and the machine's clock",
  ),
  AADSTS700027: slow(
    "the certificate is not one of the application's",
    "add the certificate to the application, or give the right one",
  ),
  AADSTS700211: slow("no federated credential has the issuer of the token file", federation),
  AADSTS700212: slow("no federated credential has the audience of the token file", federation),
  AADSTS700213: slow("no federated credential has the subject of the token file", federation),
  AADSTS7000215: slow("the client secret is wrong", "give the secret's value and not its id"),
  AADSTS7000222: slow(
    "the client secret has expired",
    "make a new secret and put it into the credential",
  ),
  AADSTS90002: slow("the tenant does not exist", "check tenantId"),
};

/** Codes of our own, for what never reached Azure or never came back. */
const own: Record<string, KnownCode> = {
  AnswerLost: now("the write was sent and its answer was lost", reread),
  Cancelled: now("it was stopped before it ended", waits),
  CloudDiffers: never(
    "the control plane is in another Azure cloud than this operator",
    "correct spec.platform.azure.cloud, or run an operator with AZURE_CLOUD_NAME set to that cloud",
  ),
  CertificateNotAllowed: slow(
    "the certificate file is outside the directory that AzureClusterIdentities of this namespace may use",
    "put the file into the folder of the namespace below --certificate-directory and name it by its whole path",
  ),
  ClusterIdentityIncomplete: slow(
    "the AzureClusterIdentity does not say all that its type needs",
    "set tenantID, clientID and, where its type has a Secret, clientSecret in its spec",
  ),
  ClusterIdentityMissing: slow(
    "the cluster names no AzureClusterIdentity that exists",
    "set spec.identityRef to an AzureClusterIdentity, or make the one that it names",
  ),
  ClusterIdentityUnsupported: slow(
    "an AzureClusterIdentity of this type cannot be used",
    "set its type to WorkloadIdentity, ServicePrincipal, ServicePrincipalCertificate or UserAssignedMSI",
  ),
  ControlPlaneNotVerified: never(
    "the control plane does not belong to the HostedCluster that it names",
    "let the HostedCluster create its control plane; no other is obeyed",
  ),
  CredentialMissing: slow(
    "no credential for Azure was given",
    "set AZURE_PLS_CLIENT_ID, AZURE_FEDERATED_TOKEN_FILE or AZURE_CREDENTIALS_FILE",
  ),
  CredentialUnreadable: slow(
    "the credential cannot be read",
    "check the path, the permissions and the form of the file",
  ),
  FederatedTokenMissing: slow(
    "this process has no token by which to prove a workload identity",
    "run it in a pod with the label azure.workload.identity/use, or set AZURE_FEDERATED_TOKEN_FILE",
  ),
  ForeignAddress: slow(
    "the answer points to another server, to which the token is not sent",
    "check that the Resource Manager endpoint is right and that nothing rewrites its answers",
  ),
  IdentityMissing: never(
    "the control plane names no identity by which to act in Azure",
    "set tenantID and azureAuthenticationConfig.workloadIdentities.controlPlaneOperator.clientID in spec.platform.azure of the HostedCluster",
  ),
  IdentityNotFound: slow(
    "this machine has no such managed identity",
    "assign the managed identity to the machine, or correct its client id",
  ),
  ImdsUnavailable: slow(
    "the instance metadata service gave no token",
    "check that this runs in Azure and that 169.254.169.254 can be reached",
  ),
  InvalidRequestPath: never(
    "it is not a path of Azure Resource Manager",
    "correct the resource id",
  ),
  NamespaceNotAllowed: slow(
    "the AzureClusterIdentity does not admit clusters of this namespace",
    "add the namespace to spec.allowedNamespaces of the AzureClusterIdentity; {} admits all",
  ),
  NotAllowedByPolicy: slow(
    "the tenant policy does not allow it for this namespace",
    "use what the policy allows, or add it to the entry of this namespace in the file of --tenant-policy",
  ),
  NotLeader: now(
    "this process does not lead, so it writes nothing",
    "nothing to do: the leader writes",
  ),
  OperationFailed: slow(
    "the operation failed and Azure did not say why",
    "look at the activity log of the resource",
  ),
  OperationTimedOut: slow(
    "the operation did not end in an hour",
    "look at the resource in Azure; it is read again",
  ),
  ProofMissing: slow(
    "neither the guest nor the management cluster gave a token of service account control-plane-operator",
    "let the operator reach the guest's API server by a kubeconfig Secret, or make a ServiceAccount control-plane-operator in the control plane's namespace",
  ),
  RedirectRefused: slow(
    "the answer was a redirect, which is not followed",
    "check that the Resource Manager endpoint is right and that no proxy answers for it",
  ),
  ResourceGroupOfAnother: slow(
    "the network, the private zone or a private endpoint of the cluster leads into a resource group of another namespace",
    "use a resource group of the cluster's own namespace, or list the group by its name for both namespaces in the file of --tenant-policy",
  ),
  ResourceGroupTaken: slow(
    "the resource group is that of a cluster in another namespace",
    "use another resource group, or list the group for both namespaces in the file of --tenant-policy",
  ),
  SecretForbidden: slow(
    "the operator may not read Secrets in this namespace",
    "allow the operator's ServiceAccount to get Secrets there, with a RoleBinding in that namespace",
  ),
  SecretIncomplete: slow(
    "the Secret of the AzureClusterIdentity does not hold what its type needs",
    "put the client secret, or the certificate with its key in PEM, under the key clientSecret",
  ),
  SecretMissing: slow(
    "the Secret that the AzureClusterIdentity names does not exist",
    "make the Secret, or correct spec.clientSecret of the AzureClusterIdentity",
  ),
  SecretNotAllowed: slow(
    "the Secret is in another namespace and does not allow the AzureClusterIdentity to use it",
    "keep the Secret in the namespace of the AzureClusterIdentity, or list that namespace in the annotation postern.io/allowed-identity-namespaces of the Secret",
  ),
  Throttled: slow("Azure said to wait", "nothing to do: it waits as long as Azure says"),
  TimedOut: slow("Azure did not answer in time", "check the network between here and Azure"),
  TokenExpired: slow(
    "the token that was given has expired",
    "check the machine's clock and where the token comes from",
  ),
  UnknownCloud: never(
    "there is no such Azure cloud",
    "use AzurePublicCloud, AzureUSGovernmentCloud, AzureChinaCloud, AzureGermanCloud or AzureBleuCloud",
  ),
  Unreachable: slow(
    "there is no connection to Azure",
    "check name resolution, firewall and proxy settings (HTTPS_PROXY, NO_PROXY)",
  ),
  UnreadableAnswer: slow(
    "the answer was cut off or is not in Azure's form",
    "check that the endpoint is Azure Resource Manager and that no proxy answers for it",
  ),
};

/** One row for each code we have met. A code that is not here is tried again by its HTTP status. */
export const knownCodes: Readonly<Record<string, KnownCode>> = { ...arm, ...entra, ...own };

/** The row of a code; a number of Entra that we do not know falls back to the row of its family. */
export function knownCode(code: string): KnownCode | undefined {
  if (Object.hasOwn(knownCodes, code)) return knownCodes[code];
  return code.startsWith("AADSTS") ? knownCodes.AADSTS : undefined;
}
