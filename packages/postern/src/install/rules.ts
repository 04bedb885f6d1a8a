import type { Settings } from "./settings.ts";
import { holds } from "./template/evaluate.ts";
import { all, any, type Condition, not, setting } from "./template/template.ts";

/** What settings must not be together, and what to say then. Settings are named by their paths. */
export interface Rule {
  violated: Condition;
  message: string;
}

const hosted = setting("hosted.enabled");
const clusterApi = setting("clusterApi.enabled");
const identity = setting("azure.clientId");
const secret = setting("azure.credentialsSecret.name");
const subscription = setting("azure.subscriptionId");
const managementCluster = setting("clusterApi.managementCluster.name");
const baseDomain = setting("clusterApi.baseDomain");
const identityRef = setting("clusterApi.identityRef.name");
const serviceMonitor = setting("metrics.serviceMonitor.enabled");
const podMonitor = setting("metrics.podMonitor.enabled");

const differ = (a: Condition, b: Condition): Condition => any(all(a, not(b)), all(not(a), b));

/** Said where nothing would be served. */
export const nothingToServe = "nothing is enabled: set hosted.enabled or clusterApi.enabled";

/** The rules between settings. The rules for one setting are in its schema. */
export const rules: readonly Rule[] = [
  {
    violated: all(not(hosted), not(clusterApi)),
    message: nothingToServe,
  },
  {
    violated: all(hosted, not(identity), not(secret)),
    message: "no credential for Azure: set azure.clientId or azure.credentialsSecret.name",
  },
  {
    violated: all(identity, secret),
    message: "azure.clientId and azure.credentialsSecret.name are mutually exclusive",
  },
  {
    violated: all(identity, not(subscription)),
    message: "azure.clientId needs azure.subscriptionId",
  },
  {
    violated: all(
      setting("azure.projectedToken"),
      any(not(identity), not(setting("azure.tenantId"))),
    ),
    message: "azure.projectedToken needs azure.clientId and azure.tenantId",
  },
  {
    violated: all(hosted, not(setting("azure.resourceGroup"))),
    message: "hosted control planes need azure.resourceGroup",
  },
  {
    violated: all(
      clusterApi,
      any(not(managementCluster), not(setting("clusterApi.managementCluster.namespace"))),
    ),
    message:
      "Cluster API needs clusterApi.managementCluster.name and clusterApi.managementCluster.namespace",
  },
  {
    violated: all(not(clusterApi), any(managementCluster, baseDomain, identityRef)),
    message:
      "clusterApi.managementCluster.name, clusterApi.baseDomain and clusterApi.identityRef.name need clusterApi.enabled",
  },
  {
    violated: differ(baseDomain, setting("clusterApi.baseDomainResourceGroup")),
    message: "clusterApi.baseDomain and clusterApi.baseDomainResourceGroup must be set together",
  },
  {
    violated: all(baseDomain, not(subscription), not(secret)),
    message: "clusterApi.baseDomain needs azure.subscriptionId, the subscription of its zone",
  },
  {
    violated: differ(identityRef, setting("clusterApi.identityRef.namespace")),
    message:
      "clusterApi.identityRef.name and clusterApi.identityRef.namespace must be set together",
  },
  {
    violated: all(setting("hosted.controlPlanes"), not(setting("splitRoles"))),
    message: "hosted.controlPlanes needs splitRoles",
  },
  {
    violated: all(serviceMonitor, podMonitor),
    message:
      "metrics.serviceMonitor.enabled and metrics.podMonitor.enabled are mutually exclusive: every pod would be scraped twice",
  },
  {
    violated: all(podMonitor, not(setting("metrics.podMonitor.tokenSecret.name"))),
    message: "metrics.podMonitor.enabled needs metrics.podMonitor.tokenSecret.name",
  },
];

/** The messages of all rules that settings violate. */
export function ruleViolations(settings: Settings): string[] {
  const values = { settings, release: { namespace: "", version: "" } };
  return rules.filter(({ violated }) => holds(violated, values)).map(({ message }) => message);
}
