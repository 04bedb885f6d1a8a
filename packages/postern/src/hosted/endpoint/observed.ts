import type { Failure } from "@postern/core/failure.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { Pause } from "@postern/core/pause.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Look } from "../../azure/gateway.ts";
import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import type { ObservedZone } from "../../private-dns/zone/observed.ts";

/** The status fields that are this feature's. */
export const statusFields = [
  "privateEndpointID",
  "privateEndpointIP",
  "privateDNSZoneID",
  "dnsZoneName",
  "baseDomainDNSZoneID",
] as const;

/** What this feature has published so far. */
export type OwnStatus = Partial<Record<(typeof statusFields)[number], string>>;

/** Why the guest side is to be undone: the object goes, or its control plane does, or has gone already. */
export type Going = "object" | "control plane" | "orphan";

/** Who we are, in the tags and metadata of what is ours. */
export interface Us {
  /** The AzurePrivateLinkService: it owns endpoints and records. */
  uid: string;
  /** Absent where neither the control plane nor its HostedCluster tells it (any more). */
  clusterID: string | undefined;
  /** The HostedControlPlane: its cluster uses zones and links. */
  controlPlaneUid: string | undefined;
}

/** What is known of the cluster, from the HostedControlPlane, the HostedCluster or both. */
export interface ClusterFacts {
  /** The name of the HostedControlPlane. */
  name: string;
  /** The name of the HostedCluster, for tags. */
  hostedCluster: string;
  /** Where the HostedCluster is, for messages. */
  hostedClusterKey: string | undefined;
  /** The annotation that should name the HostedCluster does not have the form of a key. */
  misnamed?: boolean;
  /** Why the control plane is not obeyed. */
  unverified?: string | undefined;
  /** Why the cluster may not have what it asks for. */
  notAllowed?: string | undefined;
  /** Whether the control plane carries the finalizer that keeps its credential alive. */
  held: boolean;
  /** Whether the API server is reached publicly too. */
  public: boolean;
  /** `spec.dns`: the domain of the cluster, and whether it has a private zone of its own. */
  domain: string | undefined;
  hasPrivateZone: boolean;
  /** How its API server and its OAuth server are published, if by a Route with a name. */
  hostnames: Partial<Record<"APIServer" | "OAuthServer", string>>;
  /** Those of them that are not made known to external-dns, with the reason. */
  withheld?: Readonly<Record<string, string>>;
}

/** Another link of the same control plane. */
export interface Sibling {
  name: string;
  uid: string;
  /** It is not being undone, and may have things in the guest. */
  uses: boolean;
  /** It is not being undone. */
  lives: boolean;
  baseDomain: string | undefined;
  /** The zone of its base domain, as it has published it. */
  baseZone: string | undefined;
  /** Its endpoint is approved and has an address. */
  ready: boolean;
}

/** What a person has asked for by annotation. */
export interface Choices {
  zones: "managed" | "existing" | "none";
  internalZone: ResourceId | undefined;
  baseZone: ResourceId | undefined;
  /** Beside the guest's own network. */
  networks: readonly ResourceId[];
  /** An annotation that cannot be read: what is wrong with it. */
  wrong: string | undefined;
}

/** An endpoint that may be ours, by name. */
export interface ObservedEndpoint {
  id: ResourceId;
  look: Look<PrivateEndpoint>;
  /** It is that of an object of this cluster which does not exist any more. */
  left?: boolean;
}

/** A zone that is wanted, or that was and may hold something of ours. */
export interface ZoneInRole extends ObservedZone {
  role: "internal" | "base";
  /** Made and deleted by us; else it is somebody's, and only names and links in it are ours. */
  managed: boolean;
  wanted: boolean;
}

/** What was seen, once, before deciding. Plain data: no client, no clock. */
export interface Observed {
  object: {
    name: string;
    namespace: string;
    /** Whether our finalizer is on it. */
    held: boolean;
    spec: AzurePrivateLinkService["spec"];
  };
  us: Us;
  /** Absent where the object names no control plane. */
  cluster: ClusterFacts | undefined;
  going: Going | undefined;
  /** Somebody has said that what is in the guest is to be left behind. */
  abandoned: boolean;
  pause: Pause;
  choices: Choices;
  siblings: readonly Sibling[];
  /** The link side: its alias, and what it says of itself for this generation. */
  link: {
    alias: string | undefined;
    id: string | undefined;
    condition: Pick<Condition, "status" | "reason" | "message"> | undefined;
    /** Whether the condition was decided for the object as it is now. */
    current: boolean;
  };
  /** The conditions of ours as they are, and what we have published. */
  conditions: readonly Condition[];
  status: OwnStatus;
  /** How long the endpoint's condition has been what it is. */
  endpointSinceMs: number;
  /** Azure could not be asked at all, for want of a credential. */
  noCredential: Failure | undefined;
  /** The shipped name first. Empty where Azure was not looked at. */
  endpoints: readonly ObservedEndpoint[];
  /** The endpoints could not be read. */
  endpointsFailed: Failure | undefined;
  /** An older object of another cluster has a right to the shipped name of the endpoint. */
  nameReserved: boolean;
  zones: readonly ZoneInRole[];
  /** Names of zones in the guest's group, in lower case. */
  zoneNames: readonly string[];
  /** The group's zones could not be listed. */
  zonesFailed: Failure | undefined;
  /** The Services for external-dns that exist, ours or not. */
  services: readonly Service[];
}
