import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import type { Registry } from "@prometheus-io/client";
import type { Arm } from "../azure/arm.ts";
import { DnsMetrics } from "../cluster-api/dns/azure/metrics.ts";
import { dnsFeature } from "../cluster-api/dns/feature.ts";
import { orphanedDnsFeature } from "../cluster-api/dns/objects/orphaned-azure-cluster.ts";
import { managementEndpointsFeature } from "../cluster-api/endpoints/management/feature.ts";
import { workloadEndpointsFeature } from "../cluster-api/endpoints/workload/feature.ts";
import type { ClusterArmClients } from "../cluster-api/identities.ts";
import { pausingFeature } from "../cluster-api/pausing/feature.ts";
import { privateLinksFeature } from "../cluster-api/private-links/feature.ts";
import { providerConfigFeature } from "../cluster-api/provider-config/feature.ts";
import { createArmClients, createHostedArmClients } from "../hosted/arm-clients.ts";
import { endpointFeature } from "../hosted/endpoint/feature.ts";
import type { Identities } from "../hosted/identities.ts";
import { linkFeature } from "../hosted/link/feature.ts";
import { servicesFeature } from "../hosted/services/feature.ts";
import { registeredIn } from "../hosted/tenancy.ts";
import { topologyFeature } from "../hosted/topology/feature.ts";
import { type MakeFeature, whereServed } from "../kube/runtime.ts";
import type { ClusterApiSettings } from "./cluster-api.ts";

/** What the controllers of the management cluster go by. */
export interface ManagementSettings {
  managementGroup: ResourceId;
  /** Groups with load balancers of the management cluster, beside its own. */
  otherLoadBalancerGroups?: readonly ResourceId[] | undefined;
  natSubnets: "shared" | "per-cluster";
  natPrefixLength: number;
  /** The first 8 characters of the uid of namespace kube-system. */
  installation: string;
  /** Tags of link services, beside Postern's own; undefined where that is not known. */
  azureTags?: Tags | undefined;
  /** Which namespace may use what; undefined where nobody has said. */
  policy?: TenantPolicy | undefined;
}

/** What serves the management cluster, one line each. */
export function managementControllers(
  arm: Arm,
  { credentialOf }: Identities,
  { managementGroup, otherLoadBalancerGroups, ...settings }: ManagementSettings,
): readonly MakeFeature[] {
  const armClients = createArmClients({
    arm,
    managementGroup,
    otherLoadBalancerGroups,
    credentialOf,
  });
  const { policy } = settings;
  return [topologyFeature({ policy }), linkFeature({ armClients, ...settings })];
}

/** What serves the control planes, one line each. */
export function controlPlaneControllers(
  arm: Arm,
  identities: Identities,
  policy?: TenantPolicy,
): readonly MakeFeature[] {
  const armClients = createHostedArmClients(arm, identities.credentialOf);
  return [servicesFeature(), following(identities, endpointFeature({ armClients, policy }))];
}

/** What serves the clusters of Cluster API, one line each. Where its kinds are not served, each waits for them. */
export function clusterApiControllers(
  clients: ClusterArmClients,
  settings: ClusterApiSettings,
  registry: Registry,
): readonly MakeFeature[] {
  const { managementCluster, managementLinks, gates, dns, others } = settings;
  const shared = { management: managementCluster, managementLinks, clients };
  const names = dns && {
    ...shared,
    ...dns,
    settings: others,
    metrics: new DnsMetrics(registry),
  };
  const expected = [
    managementEndpointsFeature({ management: managementCluster, clients }),
    workloadEndpointsFeature(shared),
    privateLinksFeature({ clients, management: managementCluster }),
    ...(names ? [dnsFeature(names), orphanedDnsFeature(names)] : []),
  ];
  const optional = [
    pausingFeature({ managementCluster, gates }),
    providerConfigFeature(clients.policy),
  ];
  return [
    ...expected.map((make) => whereServed(make, "expected")),
    ...optional.map((make) => whereServed(make)),
  ];
}

/** A feature that acts by the credentials of control planes: they go when their control plane does. */
function following(identities: Identities, make: MakeFeature): MakeFeature {
  return (parts) => {
    identities.follow(parts.caches.of(hostedControlPlane), registeredIn(parts.caches));
    return make(parts);
  };
}
