import type { Explained } from "@postern/core/failure.ts";
import { keyOf } from "@postern/core/kind.ts";
import type { PrivateLink } from "@postern/core/kinds/api-server-load-balancer.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { PrivateEndpointSpec, SubnetSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { annotations, conditions } from "../../names.ts";
import { isPaused } from "../../paused.ts";
import { privateLinksOf } from "../../requested-links.ts";

/** Where an AzureCluster is. */
export interface ClusterName {
  namespace: string;
  name: string;
}

/** Says why Postern does not act for an AzureCluster; undefined where it does. Such a cluster counts for nobody. */
export type RefusalOf = (cluster: AzureCluster) => Explained | undefined;

/** The subnet of a cluster that holds its private endpoints. */
export interface EndpointSubnet {
  name: string;
  endpoints: readonly PrivateEndpointSpec[];
}

/** What of an AzureCluster decides about endpoints. */
export interface ClusterFacts extends ClusterName {
  key: string;
  uid: string;
  created: string;
  subscription: string;
  group: string;
  location: string;
  /** Whether the API server is private; `missing` or `unknown` where nobody can tell. */
  balancer: "Internal" | "Public" | "missing" | "unknown";
  links: readonly PrivateLink[];
  linksProblem: string | undefined;
  linksReady: boolean;
  /** Whether an address of its API server is published, and whether all its endpoints are connected. */
  published: boolean;
  connected: boolean;
  paused: boolean;
  deleting: boolean;
  subnet: EndpointSubnet | undefined;
  /** The other subnets, where they hold endpoints too. */
  others: readonly EndpointSubnet[];
}

/** Read an AzureCluster; `owner` is its Cluster, where there is one. */
export function factsOf(cluster: AzureCluster, owner: CapiCluster | undefined): ClusterFacts {
  const { metadata, spec, status } = cluster;
  const { links, problem } = privateLinksOf(cluster);
  const isTrue = (wanted: string) =>
    status?.conditions?.find(({ type }) => type === wanted)?.status === "True";
  return {
    key: keyOf(cluster),
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    uid: metadata.uid ?? "",
    created: metadata.creationTimestamp ?? "",
    subscription: spec.subscriptionID ?? "",
    // CAPZ's webhook fills it in the same way.
    group: spec.resourceGroup || metadata.name,
    location: spec.location,
    balancer: balancerOf(cluster),
    links,
    linksProblem: problem,
    linksReady: isTrue(conditions.privateLinks),
    published: metadata.annotations?.[annotations.apiServerAddress] !== undefined,
    connected: isTrue(conditions.links),
    paused: isPaused(owner, cluster),
    deleting: metadata.deletionTimestamp !== undefined,
    ...subnetsOf(spec.networkSpec?.subnets),
  };
}

function balancerOf({ spec }: AzureCluster): ClusterFacts["balancer"] {
  // CAPZ writes null where it runs no control plane.
  const balancer = spec.networkSpec?.apiServerLB ?? undefined;
  if (balancer === undefined) return "missing";
  const type: string | undefined = balancer.type;
  return type === "Internal" || type === "Public" ? type : "unknown";
}

/** The first subnet for nodes, else the first; and the others, whose endpoints are nearly always somebody else's. */
function subnetsOf(
  subnets: readonly (SubnetSpec | null)[] | null | undefined,
): Pick<ClusterFacts, "subnet" | "others"> {
  const all = (subnets ?? []).filter((each) => each !== null);
  const selected = all.find(({ role }) => role === "node") ?? all[0];
  const read = ({ name, privateEndpoints }: SubnetSpec): EndpointSubnet => {
    const endpoints: readonly (PrivateEndpointSpec | null)[] = privateEndpoints ?? [];
    return { name, endpoints: endpoints.filter((each) => each !== null) };
  };
  const others = all.filter((each) => each !== selected).map(read);
  return {
    subnet: selected && read(selected),
    others: others.filter(({ endpoints }) => endpoints.length > 0),
  };
}

/** The subnet that holds the endpoints of a cluster. */
export function endpointSubnetOf(
  subnets: readonly (SubnetSpec | null)[] | null | undefined,
): EndpointSubnet | undefined {
  return subnetsOf(subnets).subnet;
}
