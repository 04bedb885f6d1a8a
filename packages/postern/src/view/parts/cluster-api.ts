import type { Drawn, Node } from "@postern/core/dashboard/picture.ts";
import { keyOf } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import { connectionsOf, type PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import { conditions } from "../../cluster-api/names.ts";
import { privateLinksOf } from "../../cluster-api/requested-links.ts";
import { capiClustersIn, type RequestedEndpoint } from "../cluster-objects.ts";
import { clusterApiReport } from "../health/condition-report.ts";
import { isHidden, networkOf, type WorldIndex } from "../index-of.ts";
import { backendPart } from "./backend.ts";
import { addCluster } from "./cluster-node.ts";
import { missing } from "./missing.ts";
import { nameParts } from "./names.ts";
import {
  balancerIdOf,
  conditionState,
  endpointState,
  type NodeStatus,
  provisioned,
} from "./states.ts";

/** Clusters of Cluster API: cluster → link services of its load balancer → endpoints to them → names. */
export function clusterApiParts(index: WorldIndex, only?: string): Drawn {
  const drawn: Drawn = { clusters: [], nodes: [], lines: [] };
  for (const cluster of capiClustersIn(index.world.kube)) {
    const key = keyOf(cluster);
    if (only !== undefined && only !== key) continue;
    const chains = servicesOf(index, cluster).map((service) => chainOf(index, key, service));
    const missing = missingLinks(index, cluster);
    const isServed = chains.length + missing.length > 0;
    const isInternal = cluster.spec.networkSpec?.apiServerLB?.type === "Internal";
    const about = {
      key,
      kind: "AzureCluster" as const,
      access: isInternal ? "Private" : "Public",
      reported: clusterApiReport(cluster, index.now, isServed),
      isDeleting: cluster.metadata.deletionTimestamp !== undefined,
      hosts: [cluster.spec.controlPlaneEndpoint?.host].flatMap((host) =>
        typeof host === "string" && host !== "" ? [host] : [],
      ),
    };
    addCluster(drawn, index, about, {
      nodes: [...chains.flatMap(({ nodes }) => nodes), ...missing],
      lines: chains.flatMap(({ lines }) => lines),
    });
  }
  return drawn;
}

/** The link services that a cluster asks for, by name, in its resource group. */
function servicesOf(index: WorldIndex, cluster: AzureCluster): PrivateLinkService[] {
  const group = cluster.spec.resourceGroup ?? cluster.metadata.name;
  const prefix = idKey(`/subscriptions/${cluster.spec.subscriptionID}/resourceGroups/${group}/`);
  const asked = privateLinksOf(cluster);
  const names = new Set((asked.links ?? []).map(({ name }) => name.toLowerCase()));
  return index.world.azure.linkServices.filter(
    ({ id = "", name = "" }) => idKey(id).startsWith(prefix) && names.has(name.toLowerCase()),
  );
}

/** The link services that it asks for and that are not there. */
function missingLinks(index: WorldIndex, cluster: AzureCluster): Node[] {
  const key = keyOf(cluster);
  const all = cluster.status?.conditions as readonly Condition[] | undefined;
  const found = new Set(servicesOf(index, cluster).map(({ name = "" }) => name.toLowerCase()));
  return privateLinksOf(cluster)
    .links.filter(({ name }) => !found.has(name.toLowerCase()))
    .map(({ name }) => ({
      id: `${key}|link-service|${name.toLowerCase()}`,
      kind: "link-service",
      label: name,
      cluster: key,
      under: `cluster|${key}`,
      ...missing(
        conditionState(all, conditions.links, index.now),
        isHidden(index, "link services"),
      ),
      facts: {},
    }));
}

function chainOf(
  index: WorldIndex,
  cluster: string,
  service: PrivateLinkService,
): Pick<Drawn, "nodes" | "lines"> {
  const id = (kind: string, what: string | undefined) => `${cluster}|${kind}|${idKey(what ?? "")}`;
  const balancer = index.loadBalancer(balancerIdOf(service));
  const home = networkOf(service.properties.ipConfigurations?.[0]?.properties.subnet?.id);
  const balancerStatus: NodeStatus = balancer
    ? provisioned(balancer.properties.provisioningState)
    : isHidden(index, "load balancers")
      ? { state: "unknown", reason: "NotRead", isUnread: true }
      : { state: "absent", reason: "NotFound" };
  const serviceStatus = provisioned(service.properties.provisioningState);
  const balancerNode = id("load-balancer", balancerIdOf(service));
  const serviceNode = id("link-service", service.id);
  const nodes: Node[] = [
    {
      id: balancerNode,
      kind: "load-balancer",
      label: balancer?.name ?? lastSegment(balancerIdOf(service) ?? "unknown"),
      cluster,
      under: `cluster|${cluster}`,
      ...(home && { network: home }),
      ...balancerStatus,
      facts: {},
      ...(balancer?.id && { azureId: balancer.id }),
    },
    {
      id: serviceNode,
      kind: "link-service",
      label: service.name ?? "",
      cluster,
      under: balancerNode,
      ...(home && { network: home }),
      ...serviceStatus,
      facts: { ...(service.properties.alias && { alias: service.properties.alias }) },
      azureId: service.id ?? "",
    },
  ];
  const lines: Drawn["lines"] = [
    { from: `cluster|${cluster}`, to: balancerNode, state: balancerStatus.state },
    { from: balancerNode, to: serviceNode, state: serviceStatus.state },
  ];
  const backend = backendPart({ cluster, under: balancerNode, network: home, balancer, service });
  const requested = ownEndpoints(index, cluster, service);
  nodes.push(...backend.nodes, ...missingEndpoints(index, cluster, serviceNode, requested));
  lines.push(...backend.lines);
  const own = new Set(requested.map((each) => idKey(each.id)));
  for (const endpoint of index.endpointsTo(service)) {
    const isOwn = own.has(idKey(endpoint.id ?? ""));
    const part = endpointPart(index, cluster, serviceNode, endpoint, isOwn);
    nodes.push(...part.nodes);
    lines.push(...part.lines);
  }
  return { nodes, lines };
}

/**
 * The endpoints through which a cluster is reached: those that its own spec requests to its link service, and that of the
 * management cluster. Anybody who may write an AzureCluster can request one to the link service of another.
 */
function ownEndpoints(
  index: WorldIndex,
  cluster: string,
  { id = "" }: PrivateLinkService,
): RequestedEndpoint[] {
  const { management } = index.world;
  return index
    .requestedEndpoints(id)
    .filter((each) => each.cluster === cluster || each.cluster === management);
}

/** The endpoints among those requested that are not there. */
function missingEndpoints(
  index: WorldIndex,
  cluster: string,
  under: string,
  requested: readonly RequestedEndpoint[],
): Node[] {
  return requested
    .filter(({ id }) => index.endpoint(id) === undefined)
    .map(({ id, conditions: all, network }) => ({
      id: `${cluster}|endpoint|${idKey(id)}`,
      kind: "endpoint",
      label: lastSegment(id),
      cluster,
      under,
      ...(network && { network }),
      ...missing(
        conditionState(all, conditions.privateEndpoints, index.now),
        isHidden(index, "endpoints"),
      ),
      facts: {},
      azureId: id,
    }));
}

function endpointPart(
  index: WorldIndex,
  cluster: string,
  under: string,
  endpoint: PrivateEndpoint,
  isOwn: boolean,
): Pick<Drawn, "nodes" | "lines"> {
  const status = endpointState(endpoint);
  const owner = isOwn ? {} : { owner: "another" };
  const network = networkOf(endpoint.properties.subnet?.id);
  const addresses = index.addressesOf(endpoint);
  const node = `${cluster}|endpoint|${idKey(endpoint.id ?? "")}`;
  // A zone belongs to the chain where a record in it names this endpoint.
  const zones = index.world.azure.zones
    .map((zone) => ({
      ...zone,
      records: zone.records.filter((record) =>
        (record.properties.aRecords ?? []).some((each) => addresses.includes(each.ipv4Address)),
      ),
    }))
    .filter(
      ({ records, links }) =>
        records.length > 0 &&
        links.some(({ properties }) => networkOf(properties.virtualNetwork?.id) === network),
    );
  const names = nameParts({ cluster, under: node, network, addresses, zones });
  return {
    nodes: [
      {
        id: node,
        kind: "endpoint",
        label: endpoint.name ?? "",
        cluster,
        under,
        ...(network && { network }),
        ...status,
        facts: {
          ...(addresses[0] && { address: addresses[0] }),
          ...(connectionsOf(endpoint)[0]?.name && {
            connection: connectionsOf(endpoint)[0]?.name ?? "",
          }),
          ...owner,
        },
        azureId: endpoint.id ?? "",
      },
      ...names.nodes.map((each) => ({ ...each, facts: { ...each.facts, ...owner } })),
    ],
    lines: [
      {
        from: under,
        to: node,
        state: status.state,
        ...(status.reason && { label: status.reason }),
      },
      ...names.lines,
    ],
  };
}
