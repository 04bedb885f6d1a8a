/** A variable of the environment that Postern reads. */
export interface Variable {
  name: string;
  /** What it does. */
  does: string;
}

/** Every variable that the code reads, by whom it concerns. A test compares this with the sources. */
export const variables: Readonly<Record<string, readonly Variable[]>> = {
  "Which Azure": [
    {
      name: "AZURE_CLOUD_NAME",
      does: "`AzurePublicCloud` (the default), `AzureUSGovernmentCloud`, `AzureChinaCloud`, `AzureGermanCloud` or `AzureBleuCloud`",
    },
    {
      name: "AZURE_RESOURCE_MANAGER_ENDPOINT",
      does: "the address of Resource Manager, for a cloud of your own or the simulator; it stands before `AZURE_CLOUD_NAME`",
    },
    {
      name: "AZURE_AUTHORITY_HOST",
      does: "the address of Entra; it stands before the cloud's own",
    },
    {
      name: "AZURE_CA_FILE",
      does: "the authority of an Entra with a certificate of its own, in PEM",
    },
    {
      name: "AZURE_SUBSCRIPTION_ID",
      does: "the subscription of the management cluster; for Cluster API that of the base domain's zone. Without it the one in `AZURE_CREDENTIALS_FILE`",
    },
    {
      name: "AZURE_RESOURCE_GROUP",
      does: "the group of the management cluster's load balancers; `--role control-plane` and `cluster-api` need none",
    },
    {
      name: "AZURE_LOAD_BALANCER_RESOURCE_GROUPS",
      does: "other groups of the subscription with load balancers of the management cluster, separated by commas",
    },
  ],
  "Who acts in it": [
    {
      name: "AZURE_PLS_CLIENT_ID",
      does: "a switch: act by what the platform gives the pod, which is a secret, a certificate, a token file or a managed identity, in this order",
    },
    {
      name: "AZURE_CREDENTIALS_FILE",
      does: "a file with `subscriptionId`, `tenantId`, `clientId` and `clientSecret`; it stands before the variables below, and is read again for every token",
    },
    { name: "AZURE_TENANT_ID", does: "the tenant of the identity" },
    { name: "AZURE_CLIENT_ID", does: "the client id of the identity" },
    { name: "AZURE_CLIENT_SECRET", does: "its secret" },
    { name: "AZURE_CLIENT_CERTIFICATE_PATH", does: "or its certificate and key, in PEM" },
    { name: "AZURE_CLIENT_CERTIFICATE_PASSWORD", does: "the password of that key" },
    { name: "AZURE_FEDERATED_TOKEN_FILE", does: "or a token of a service account that it trusts" },
    {
      name: "AZURE_POD_IDENTITY_AUTHORITY_HOST",
      does: "where managed identities get their tokens, if it is not the machine's metadata service",
    },
  ],
  "Clusters of Cluster API that are no AzureClusters": [
    {
      name: "CLUSTER_AZURE_SUBSCRIPTION_ID",
      does: "the subscription in which their zones are made; it counts together with the next two, else the management cluster's does",
    },
    { name: "CLUSTER_AZURE_TENANT_ID", does: "the tenant of the identity for them" },
    { name: "CLUSTER_AZURE_CLIENT_ID", does: "its client id" },
    { name: "CLUSTER_AZURE_LOCATION", does: "the region of the groups that are made for them" },
  ],
  "Which Kubernetes": [
    { name: "KUBECONFIG", does: "the kubeconfig, where `--kubeconfig` does not name one" },
    {
      name: "KUBERNETES_SERVICE_HOST",
      does: "set in every pod: the service account is used, where no kubeconfig is named",
    },
    { name: "KUBERNETES_SERVICE_PORT", does: "its port; 443 without it" },
    { name: "HOME", does: "at last `.kube/config` in this folder" },
    { name: "POD_NAME", does: "the name of this replica in the Lease; the host's name without it" },
  ],
  "What is shown and sent": [
    { name: "NO_COLOR", does: "no colour, even on a terminal" },
    { name: "TERM", does: "`dumb`: no colour either" },
    {
      name: "OTEL_EXPORTER_OTLP_ENDPOINT",
      does: "where traces are sent; the other variables of OpenTelemetry's exporter count too",
    },
    { name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", does: "the same, for traces only" },
    { name: "OTEL_TRACES_EXPORTER", does: "`otlp` sends to the usual place, `none` sends nothing" },
    {
      name: "OTEL_TRACES_SAMPLER",
      does: "which traces are sent: `always_on`, `always_off`, `traceidratio`, or one of them with `parentbased_` before it; `parentbased_always_on` without it",
    },
    { name: "OTEL_TRACES_SAMPLER_ARG", does: "the ratio of `traceidratio`, from 0 to 1" },
    { name: "OTEL_BSP_SCHEDULE_DELAY", does: "milliseconds between two batches; 5000 without it" },
    { name: "OTEL_BSP_EXPORT_TIMEOUT", does: "milliseconds that sending one may take; 30000" },
    { name: "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", does: "most spans in a batch; 512" },
    { name: "OTEL_BSP_MAX_QUEUE_SIZE", does: "most spans that wait, others are dropped; 2048" },
    { name: "OTEL_ATTRIBUTE_COUNT_LIMIT", does: "most attributes of a span; 128" },
    { name: "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", does: "longest value of one; no limit" },
    { name: "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", does: "counts before OTEL_ATTRIBUTE_COUNT_LIMIT" },
    {
      name: "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
      does: "counts before OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    },
    { name: "OTEL_SPAN_EVENT_COUNT_LIMIT", does: "most events of a span; 128" },
    { name: "OTEL_SPAN_LINK_COUNT_LIMIT", does: "most links of a span; 128" },
    { name: "OTEL_SPAN_ATTRIBUTE_PER_EVENT_COUNT_LIMIT", does: "most attributes of an event; 128" },
    { name: "OTEL_SPAN_ATTRIBUTE_PER_LINK_COUNT_LIMIT", does: "most attributes of a link; 128" },
    { name: "OTEL_SDK_DISABLED", does: "`true`: no traces" },
    { name: "OTEL_SERVICE_NAME", does: "the name in the traces; `postern` without it" },
  ],
  "The agent": [
    { name: "POSTERN_POOL", does: "stands in for `--pool`" },
    {
      name: "NOTIFY_SOCKET",
      does: "set by systemd: it is told when the agent has joined and when it leaves",
    },
    { name: "WATCHDOG_USEC", does: "set by systemd: how often it wants to hear of the agent" },
    { name: "WATCHDOG_PID", does: "set by systemd: for which process" },
  ],
};
