import type { Drawn, Node } from "@postern/core/dashboard/picture.ts";
import { type Cause, type HealthReport, reportOf } from "@postern/core/health.ts";
import { keyOf } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { ownerIn } from "@postern/core/ownership.ts";
import { idKey, lastSegment, sameId } from "@postern/core/resource-id.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import { conditions, endpointName, linkServiceName } from "../../hosted/names.ts";
import { accessOf, hostedReport, linksByCluster } from "../health/condition-report.ts";
import { isHidden, networkOf, type WorldIndex } from "../index-of.ts";
import { backendPart } from "./backend.ts";
import { addCluster } from "./cluster-node.ts";
import { hostsOf, missing, missingNames, zonesOfLink } from "./missing.ts";
import { nameParts } from "./names.ts";
import {
  admission,
  balancerIdOf,
  conditionState,
  endpointState,
  privateAddressesOf,
  provisioned,
} from "./states.ts";

/** Hosted clusters: cluster → load balancer → link service → endpoint → zone → record. */
export function hostedParts(index: WorldIndex, only?: string): Drawn {
  const linksOf = linksByCluster(index.world.kube.links);
  const drawn: Drawn = { clusters: [], nodes: [], lines: [] };
  for (const cluster of index.world.kube.hostedClusters) {
    const key = keyOf(cluster);
    if (only !== undefined && only !== key) continue;
    const links = linksOf.get(key) ?? [];
    const access = accessOf(cluster);
    const chains = links.map((link) => chainOf(index, key, link, cluster.spec.clusterID));
    const about = {
      key,
      kind: "HostedCluster" as const,
      access,
      reported: withUnserved(hostedReport(cluster, links, access, index.now), index),
      isDeleting: cluster.metadata.deletionTimestamp !== undefined,
      hosts: [...links.flatMap(hostsOf), ...publishedHosts(cluster)],
    };
    addCluster(drawn, index, about, {
      nodes: chains.flatMap(({ nodes }) => nodes),
      lines: chains.flatMap(({ lines }) => lines),
    });
  }
  return drawn;
}

/** Without the kinds of its objects nothing of a hosted cluster is reconciled, whatever its own conditions say. */
function withUnserved(reported: HealthReport, { world }: WorldIndex): HealthReport {
  const missing = world.unread.filter(
    ({ isUnserved, type }) => isUnserved && type !== azureCluster.plural,
  );
  const causes = missing.map(
    ({ what, why, remedy }): Cause => ({
      health: "Unknown",
      reason: "KindNotServed",
      message: why,
      about: what,
      ...(remedy !== undefined && { remedy }),
    }),
  );
  return causes.length === 0 ? reported : reportOf([...reported.causes, ...causes], reported.since);
}

/** The hosts by which a cluster publishes its services. */
function publishedHosts({ spec }: HostedCluster): string[] {
  return (spec.services ?? []).flatMap(({ servicePublishingStrategy }) =>
    [
      servicePublishingStrategy?.route?.hostname,
      servicePublishingStrategy?.loadBalancer?.hostname,
    ].flatMap((host) => (typeof host === "string" ? [host] : [])),
  );
}

/** One link of a cluster, from its load balancer to its names. */
function chainOf(
  index: WorldIndex,
  cluster: string,
  link: AzurePrivateLinkService,
  clusterID: string | undefined,
): Pick<Drawn, "nodes" | "lines"> {
  const { status, spec, metadata } = link;
  const all = status?.conditions;
  const id = (kind: string) => `${cluster}|${metadata.name}|${kind}`;
  const service = index.linkService(status?.privateLinkServiceID);
  const balancer = index.loadBalancer(
    status?.internalLoadBalancerID ?? (service && balancerIdOf(service)),
  );
  const endpoint = index.endpoint(status?.privateEndpointID) ?? newEndpoint(index, link, service);
  const network = idKey(spec.guestVNetID);
  const home = networkOf(
    balancer?.properties.frontendIPConfigurations?.find(({ properties }) => properties.subnet)
      ?.properties.subnet?.id,
  );
  const shared = { cluster, object: `AzurePrivateLinkService ${keyOf(link)}` };
  const balancerStatus = balancer
    ? provisioned(balancer.properties.provisioningState)
    : missing(
        conditionState(all, conditions.loadBalancer, index.now),
        isHidden(index, "load balancers"),
      );
  const serviceStatus = service
    ? provisioned(service.properties.provisioningState)
    : missing(conditionState(all, conditions.link, index.now), isHidden(index, "link services"));
  const endpointStatus = endpoint
    ? endpointState(endpoint)
    : missing(conditionState(all, conditions.endpoint, index.now), isHidden(index, "endpoints"));
  const addresses = endpoint
    ? [
        ...index.addressesOf(endpoint),
        ...(status?.privateEndpointIP ? [status.privateEndpointIP] : []),
      ]
    : [];
  const nodes: Node[] = [
    {
      ...shared,
      id: id("load-balancer"),
      kind: "load-balancer",
      label: balancer?.name ?? lastSegment(status?.internalLoadBalancerID ?? metadata.name),
      under: `cluster|${cluster}`,
      ...(home && { network: home }),
      ...balancerStatus,
      facts: {
        service: metadata.name,
        ...(spec.loadBalancerIP && { address: spec.loadBalancerIP }),
        ...(balancer && { frontends: String(privateAddressesOf(balancer).length) }),
      },
      ...idOf(balancer?.id ?? status?.internalLoadBalancerID),
    },
    {
      ...shared,
      id: id("link-service"),
      kind: "link-service",
      label: service?.name ?? serviceName(link, clusterID),
      under: id("load-balancer"),
      ...(home && { network: home }),
      ...serviceStatus,
      facts: {
        ...(service?.properties.alias && { alias: service.properties.alias }),
        ...(service?.properties.enableProxyProtocol && { proxyProtocol: "v2" }),
      },
      ...idOf(service?.id ?? status?.privateLinkServiceID),
    },
    {
      ...shared,
      id: id("endpoint"),
      kind: "endpoint",
      label:
        endpoint?.name ?? lastSegment(status?.privateEndpointID ?? endpointName(metadata.name)),
      under: id("link-service"),
      network,
      ...endpointStatus,
      facts: {
        ...(addresses[0] && { address: addresses[0] }),
        ...linkIdOf(service, endpoint?.id),
      },
      ...idOf(endpoint?.id ?? status?.privateEndpointID),
    },
  ];
  const others = otherConnections(
    index,
    cluster,
    id("link-service"),
    service,
    endpoint?.id ?? status?.privateEndpointID,
  );
  const names = nameParts({
    cluster,
    under: id("endpoint"),
    network,
    addresses,
    zones: zonesOfLink(index, link),
    clusterID,
  });
  const backend = backendPart({
    cluster,
    under: id("load-balancer"),
    network: home,
    balancer,
    service,
  });
  const missingRecords = missingNames(index, link, { cluster, under: id("endpoint"), network });
  return {
    nodes: [...nodes, ...backend.nodes, ...names.nodes, ...missingRecords, ...others.nodes],
    lines: [
      { from: `cluster|${cluster}`, to: id("load-balancer"), state: balancerStatus.state },
      { from: id("load-balancer"), to: id("link-service"), state: serviceStatus.state },
      {
        from: id("link-service"),
        to: id("endpoint"),
        state: endpointStatus.state,
        ...(endpointStatus.reason && { label: endpointStatus.reason }),
      },
      ...backend.lines,
      ...names.lines,
      ...others.lines,
    ],
  };
}

/** The link id by which the PROXY protocol names an endpoint, where the link service sends it. */
function linkIdOf(service: PrivateLinkService | undefined, endpoint: string | undefined) {
  const { enableProxyProtocol, privateEndpointConnections = [] } = service?.properties ?? {};
  if (enableProxyProtocol !== true || endpoint === undefined) return {};
  const linkId = privateEndpointConnections.find(({ properties }) =>
    sameId(properties.privateEndpoint?.id ?? "", endpoint),
  )?.properties.linkIdentifier;
  return linkId === undefined ? {} : { linkId };
}

function idOf(id: string | undefined): { azureId?: string } {
  return id ? { azureId: id } : {};
}

/** The name of a link service that does not exist: the one in the status, or the one that it is going to have. */
function serviceName({ status, metadata }: AzurePrivateLinkService, clusterID = ""): string {
  const id = status?.privateLinkServiceID;
  return id ? lastSegment(id) : linkServiceName(metadata.name, clusterID);
}

/** Our endpoint while it is being created: only its tags name its owner, because the status names it when it exists. */
function newEndpoint(
  index: WorldIndex,
  { metadata }: AzurePrivateLinkService,
  service: PrivateLinkService | undefined,
) {
  return (service?.properties.privateEndpointConnections ?? [])
    .map(({ properties }) => index.endpoint(properties.privateEndpoint?.id))
    .find((found) => ownerIn(found?.tags)?.uid === metadata.uid);
}

/** Endpoints of other people that ask for a connection, or have one. */
function otherConnections(
  index: WorldIndex,
  cluster: string,
  under: string,
  service: PrivateLinkService | undefined,
  own: string | undefined,
): Pick<Drawn, "nodes" | "lines"> {
  const nodes: Node[] = [];
  const lines: Drawn["lines"] = [];
  for (const { name = "", properties } of service?.properties.privateEndpointConnections ?? []) {
    const endpointId = properties.privateEndpoint?.id ?? "";
    if (own && sameId(own, endpointId)) continue;
    const connectionState = properties.privateLinkServiceConnectionState;
    const status = admission(connectionState?.status, connectionState?.description);
    const network = networkOf(index.endpoint(endpointId)?.properties.subnet?.id);
    const node = `${cluster}|connection|${name}`;
    nodes.push({
      id: node,
      kind: "endpoint",
      label: endpointId ? lastSegment(endpointId) : name,
      cluster,
      under,
      ...(network && { network }),
      ...status,
      facts: { connection: name, owner: "another", ...linkIdOf(service, endpointId) },
      ...(endpointId && { azureId: endpointId }),
    });
    lines.push({
      from: under,
      to: node,
      state: status.state,
      ...(status.reason && { label: status.reason }),
    });
  }
  return { nodes, lines };
}
