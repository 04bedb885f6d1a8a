import { isTrue } from "@postern/core/conditions.ts";
import { plainName } from "@postern/core/dns-name.ts";
import { isExplained } from "@postern/core/failure.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { privateAccess } from "@postern/core/kinds/private-access.ts";
import { idKey, parseResourceId, type ResourceId } from "@postern/core/resource-id.ts";
import { defaultPolicy, type TenantPolicy } from "@postern/core/tenant-policy.ts";
import { parseUserTags } from "@postern/core/user-tags.ts";
import type { WatchCache } from "../../../kube/cache.ts";
import { byPublishedHostname, hostnameOwner } from "../../hostnames.ts";
import {
  annotations,
  clusterAnnotation,
  conditions,
  controlPlaneFinalizer,
  endpointFinalizer,
} from "../../names.ts";
import { whyNotAllowed } from "../../policy.ts";
import {
  controllerOf,
  isHomeOf,
  parseClusterKey,
  type Registered,
  unverifiedMessage,
} from "../../tenancy.ts";
import { unreachable } from "../../topology/cluster/check.ts";
import { publishingOf } from "../../topology/cluster/publishing.ts";
import { clusterGroup } from "../desired/desired.ts";
import type { Choices, ClusterFacts, Deletion, Sibling } from "../observed.ts";
import type { Peer } from "./placement.ts";

/** Azure links a private zone to 1000 networks, but each link is a read and a write, and a tenant chooses how many there are. */
const mostNetworks = 50;

/** The caches from which it is known what a link belongs to. */
export interface Sources {
  /** With the indexes `namespace` and `uid`. */
  links: WatchCache<AzurePrivateLinkService>;
  /** With the index `namespace`. */
  controlPlanes: WatchCache<HostedControlPlane>;
  registered: Registered;
  /** With the index `byHostname`. */
  clusters: WatchCache<HostedCluster>;
  /** With the index `byPublishedHostname`. */
  services: Pick<WatchCache<Service>, "byIndex">;
}

/** A link with what it belongs to, as far as that exists. */
export interface Belonging {
  link: AzurePrivateLinkService;
  /** The owner that the link names, whether it still exists or not. */
  owner: { name: string; uid: string } | undefined;
  controlPlane: HostedControlPlane | undefined;
  cluster: HostedCluster | undefined;
  clusterKey: string | undefined;
  /** The annotation that should name the cluster does not have the form of a key. */
  misnamed: boolean;
  /** Why the control plane is not obeyed. */
  unverified: string | undefined;
  deletion: Deletion | undefined;
}

/**
 * What a link belongs to. A control plane of the same name that was created later is another one. Without owner references what
 * was created in Azure would be orphaned: a link with our finalizer then belongs to the only control plane of the namespace.
 */
export function belongingOf(link: AzurePrivateLinkService, sources: Sources): Belonging {
  const reference = controllerOf(link);
  const owner = reference
    ? { name: reference.name, uid: reference.uid }
    : ownerBeside(link, sources.controlPlanes);
  const found =
    owner && sources.controlPlanes.get(keyOf({ metadata: { ...link.metadata, name: owner.name } }));
  const controlPlane = found?.metadata.uid === owner?.uid ? found : undefined;
  const annotation =
    link.metadata.annotations?.[clusterAnnotation] ??
    controlPlane?.metadata.annotations?.[clusterAnnotation];
  const key = parseClusterKey(annotation);
  const clusterKey = key && `${key.namespace}/${key.name}`;
  const home = key !== undefined && isHomeOf(link.metadata.namespace, key);
  const cluster = home && clusterKey !== undefined ? sources.clusters.get(clusterKey) : undefined;
  const differs = controlPlane !== undefined && namesOtherCluster(link, controlPlane);
  const unverified =
    controlPlane &&
    (unverifiedMessage(controlPlane, sources.registered) ??
      (differs
        ? `AzurePrivateLinkService ${keyOf(link)} is ignored · it names another HostedCluster than its control plane · correct its annotation ${clusterAnnotation}`
        : undefined));
  const deletion = deletionOf(link, owner, controlPlane);
  const misnamed = annotation !== undefined && key === undefined;
  return { link, owner, controlPlane, cluster, clusterKey, misnamed, unverified, deletion };
}

function ownerBeside(
  { metadata }: AzurePrivateLinkService,
  controlPlanes: Sources["controlPlanes"],
): Belonging["owner"] {
  if (!metadata.finalizers?.includes(endpointFinalizer)) return undefined;
  const [only, ...others] = controlPlanes.byIndex("namespace", metadata.namespace ?? "");
  if (only === undefined || others.length > 0) return undefined;
  if (namesOtherCluster({ metadata }, only)) return undefined;
  return { name: only.metadata.name, uid: only.metadata.uid ?? "" };
}

/** Whether a link and its control plane are annotated with different clusters. */
function namesOtherCluster(link: KubeObject, controlPlane: HostedControlPlane): boolean {
  const [ofLink, ofPlane] = [link, controlPlane].map(
    ({ metadata }) => metadata.annotations?.[clusterAnnotation],
  );
  return ofLink !== undefined && ofPlane !== undefined && ofLink !== ofPlane;
}

function deletionOf(
  link: AzurePrivateLinkService,
  owner: Belonging["owner"],
  controlPlane: HostedControlPlane | undefined,
): Deletion | undefined {
  if (link.metadata.deletionTimestamp !== undefined) return "object";
  if (owner !== undefined && controlPlane === undefined) return "orphan";
  return controlPlane?.metadata.deletionTimestamp === undefined ? undefined : "control plane";
}

/** What is known of the cluster, whose base domain has this zone; undefined where the link names no control plane. */
export function clusterFacts(
  belonging: Belonging,
  sources: Sources,
  policy: TenantPolicy | undefined,
  zone?: ResourceId,
): ClusterFacts | undefined {
  const { owner, controlPlane, cluster, clusterKey, misnamed, unverified } = belonging;
  if (owner === undefined) return undefined;
  const spec = controlPlane?.spec ?? cluster?.spec;
  const hostnames: ClusterFacts["hostnames"] = {};
  for (const { service, servicePublishingStrategy: by } of spec?.services ?? []) {
    const hostname = by.type === "Route" ? by.route?.hostname : undefined;
    if (hostname && (service === "APIServer" || service === "OAuthServer"))
      hostnames[service] = hostname;
  }
  return {
    name: owner.name,
    hostedCluster: clusterKey?.slice(clusterKey.indexOf("/") + 1) || owner.name,
    hostedClusterKey: clusterKey,
    misnamed,
    unverified,
    notAllowed: whyForbidden(belonging, zone, policy),
    hasFinalizer: controlPlane?.metadata.finalizers?.includes(controlPlaneFinalizer) ?? false,
    public: isPublic(spec?.platform.azure),
    domain: spec?.dns?.baseDomain || undefined,
    hostnames,
    apiServerProblem: spec && apiServerProblem(spec),
    withheld: findWithheld(belonging, Object.values(hostnames), sources, policy),
  };
}

/** Why the private link does not reach the API server. A spec that contradicts itself is reported elsewhere. */
function apiServerProblem({
  platform,
  services,
}: HostedControlPlane["spec"]): ClusterFacts["apiServerProblem"] {
  if (platform.azure === undefined) return undefined;
  try {
    const access = privateAccess(platform.azure);
    return unreachable(access, publishingOf(services, access));
  } catch (error) {
    if (!isExplained(error)) throw error;
    return undefined;
  }
}

/**
 * Which hostnames are not made known to external-dns, and why. What is published already is not removed: it was published by
 * HyperShift, or while the policy allowed it.
 */
function findWithheld(
  { link, clusterKey }: Belonging,
  hostnames: readonly string[],
  sources: Sources,
  policy: TenantPolicy | undefined,
): Record<string, string> {
  const [namespace = ""] = (clusterKey ?? "").split("/");
  const { clusters, services } = sources;
  const withheld: Record<string, string> = {};
  for (const hostname of hostnames) {
    const holder = hostnameOwner(hostname, { clusters, published: [services] }, policy);
    const isPublished = services
      .byIndex(byPublishedHostname, plainName(hostname))
      .some(({ metadata }) => metadata.namespace === link.metadata.namespace);
    const denied = isPublished
      ? undefined
      : whyNotAllowed((policy ?? defaultPolicy).rulesOf(namespace), namespace, {
          hostnames: [hostname],
        });
    if (denied !== undefined) withheld[hostname] = denied;
    else if (holder !== undefined && keyOf(holder) !== clusterKey)
      withheld[hostname] =
        `hostname ${hostname} is not published · another HostedCluster has it · create the cluster with another hostname`;
  }
  return withheld;
}

/**
 * Known of verified clusters only: nothing is done for others. Hostnames are not among it: in the hosted cluster's own
 * network the tenant's own credential writes them.
 */
function whyForbidden(
  belonging: Belonging,
  zone: ResourceId | undefined,
  policy: TenantPolicy = defaultPolicy,
): string | undefined {
  const { link, controlPlane, clusterKey = "", unverified } = belonging;
  const azure = controlPlane?.spec.platform.azure;
  if (azure === undefined || unverified !== undefined) return undefined;
  const [namespace = ""] = clusterKey.split("/");
  const { subscriptionID, resourceGroup, azureAuthenticationConfig: config } = azure;
  const clientID = config?.workloadIdentities?.controlPlaneOperator?.clientID;
  return whyNotAllowed(policy.rulesOf(namespace), namespace, {
    subscriptions: [subscriptionID, link.spec.subscriptionID],
    resourceGroups: [
      `/subscriptions/${subscriptionID}/resourceGroups/${resourceGroup}`,
      clusterGroup(link.spec),
    ],
    identities: clientID ? [clientID] : [],
    resources: referencedResources(belonging, zone),
  });
}

/** The ids of what is written or joined beside what is created in the group of the hosted cluster. */
function referencedResources(belonging: Belonging, zone: ResourceId | undefined): string[] {
  const { spec, status } = belonging.link;
  const { internalZone, baseZone, networks } = choicesOf(belonging);
  const ids = [
    ...[spec.guestVNetID, spec.guestSubnetID, internalZone, baseZone, ...networks, zone],
    ...[status?.privateDNSZoneID, status?.baseDomainDNSZoneID],
  ];
  return ids.filter((each) => each !== undefined);
}

function isPublic(azure: HostedControlPlane["spec"]["platform"]["azure"]): boolean {
  // Without the block nobody knows, and a public cluster loses its Services for external-dns.
  if (azure === undefined) return false;
  try {
    return privateAccess(azure).reachablePublicly;
  } catch (error) {
    // Fields that contradict each other are reported by `topology`; until then nothing is deleted or created.
    if (isExplained(error)) return false;
    throw error;
  }
}

/** What the annotations of the HostedCluster say, or their copies on the control plane. */
export function choicesOf({ cluster, controlPlane }: Belonging): Choices {
  const given = { ...controlPlane?.metadata.annotations, ...cluster?.metadata.annotations };
  const problems: string[] = [];
  const mode = given[annotations.zones] ?? "managed";
  const known = mode === "managed" || mode === "existing" || mode === "none";
  if (!known)
    problems.push(
      `the annotation ${annotations.zones} is ${JSON.stringify(mode.slice(0, 60))} · it must be managed, existing or none · correct it`,
    );
  const idIn = (key: string, text: string, type: "privateDnsZones" | "virtualNetworks") => {
    try {
      return parseResourceId(text.trim(), `Microsoft.Network/${type}`);
    } catch (error) {
      if (!isExplained(error)) throw error;
      problems.push(`the annotation ${key} cannot be read · ${error.message} · correct it`);
      return undefined;
    }
  };
  const zone = (key: string) => {
    const text = mode === "existing" ? given[key] : undefined;
    return text === undefined ? undefined : idIn(key, text, "privateDnsZones");
  };
  const listed = new Map(
    (given[annotations.networks] ?? "")
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== "")
      .map((each) => [idKey(each), each]),
  );
  if (listed.size > mostNetworks)
    problems.push(
      `the annotation ${annotations.networks} is not used · it has more than ${mostNetworks} networks · remove some`,
    );
  const networks = [...(listed.size > mostNetworks ? [] : listed.values())]
    .map((each) => idIn(annotations.networks, each, "virtualNetworks"))
    .filter((each) => each !== undefined);
  const own = given[annotations.ownNetwork] ?? "linked";
  if (own !== "linked" && own !== "unlinked")
    problems.push(
      `the annotation ${annotations.ownNetwork} is ${JSON.stringify(own.slice(0, 60))} · it must be linked or unlinked · correct it`,
    );
  if (own === "unlinked" && mode !== "none" && networks.length === 0)
    problems.push(
      `DNS names would not resolve anywhere · ${annotations.ownNetwork} is unlinked and ${annotations.networks} lists no network · list the networks that resolve them, or remove the first annotation`,
    );
  const asked = parseUserTags(given[annotations.tags] ?? "");
  return {
    ...("tags" in asked
      ? { tags: asked.tags }
      : {
          wrongTags: `the annotation ${annotations.tags} is not used: ${asked.wrong} · correct it`,
        }),
    ...(own === "unlinked" && { skipsOwnNetwork: true }),
    zones: known ? mode : "managed",
    internalZone: zone(annotations.internalZone),
    baseZone: zone(annotations.baseZone),
    networks,
    wrong: problems[0],
  };
}

/** Whether an annotation says to abandon what is in Azure. */
export function isAbandoned(link: AzurePrivateLinkService, belonging: Belonging): boolean {
  return [link, belonging.controlPlane, belonging.cluster].some(
    (each) => each?.metadata.annotations?.[annotations.abandon] === "true",
  );
}

/** The other links of the same control plane. */
export function siblingsOf(link: AzurePrivateLinkService, sources: Sources): Sibling[] {
  const { owner } = belongingOf(link, sources);
  return sources.links
    .byIndex("namespace", link.metadata.namespace ?? "")
    .filter(({ metadata }) => metadata.uid !== link.metadata.uid)
    .map((other) => ({ other, ...belongingOf(other, sources) }))
    .filter((each) => each.owner !== undefined && each.owner.uid === owner?.uid)
    .map(({ other, deletion }) => {
      const { conditions: reported, privateEndpointIP } = other.status ?? {};
      const lives = deletion === undefined;
      return {
        name: other.metadata.name,
        uid: other.metadata.uid ?? "",
        lives,
        uses: lives && (other.metadata.finalizers?.includes(endpointFinalizer) ?? false),
        baseDomain: other.spec.baseDomain,
        baseZone: other.status?.baseDomainDNSZoneID,
        ready: privateEndpointIP !== undefined && isTrue(reported, conditions.endpoint),
      };
    });
}

/**
 * Who is behind a verified link: the namespace of its HostedCluster, and the identity that it acts by. Anybody can write down
 * another's client id, so the identity counts only within one namespace.
 */
function tenantOf({ controlPlane, cluster, unverified }: Belonging): string | undefined {
  if (controlPlane === undefined || cluster === undefined || unverified !== undefined)
    return undefined;
  const { tenantID, azureAuthenticationConfig: config } = controlPlane.spec.platform.azure ?? {};
  const clientID = config?.workloadIdentities?.controlPlaneOperator?.clientID;
  return `${cluster.metadata.namespace} ${tenantID}/${clientID}`.toLowerCase();
}

/** A link as a peer of others. What costs something is computed when it is read. */
export function peerOf(link: AzurePrivateLinkService, sources: Sources): Peer {
  const { metadata, spec, status } = link;
  let known: Belonging | undefined;
  const belonging = () => {
    known ??= belongingOf(link, sources);
    return known;
  };
  return {
    uid: metadata.uid ?? "",
    createdAt: metadata.creationTimestamp ?? "",
    network: spec.guestVNetID,
    baseDomain: spec.baseDomain,
    baseZone: status?.baseDomainDNSZoneID as ResourceId | undefined,
    endpoint: status?.privateEndpointID,
    get group() {
      return clusterGroup(spec);
    },
    get controlPlaneUid() {
      return belonging().owner?.uid;
    },
    get tenant() {
      return tenantOf(belonging());
    },
    get lives() {
      return belonging().deletion === undefined;
    },
    get placesZones() {
      return this.lives && choicesOf(belonging()).zones === "managed";
    },
  };
}
