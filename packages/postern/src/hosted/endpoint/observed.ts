import type { Failure } from "@postern/core/failure.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { Pause } from "@postern/core/pause.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { Observation } from "../../azure/gateway.ts";
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

/** Why everything is deleted: the object or its control plane is being deleted, or the control plane does not exist any more. */
export type Deletion = "object" | "control plane" | "orphan";

/** This object and its cluster, as tags and metadata of owned resources name them. */
export interface Self {
  /** The AzurePrivateLinkService: it owns endpoints and records. */
  uid: string;
  /** Absent where neither the control plane nor its HostedCluster has it (any more). */
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
  hasFinalizer: boolean;
  /** Whether the API server is reached publicly too. */
  public: boolean;
  /** `spec.dns`: the domain of the cluster. */
  domain: string | undefined;
  /** How its API server and its OAuth server are published, if by a Route with a name. */
  hostnames: Partial<Record<"APIServer" | "OAuthServer", string>>;
  /** Why the private link does not reach the API server. */
  apiServerProblem?: { reason: string; message: string } | undefined;
  /** Those of them that are not made known to external-dns, with the reason. */
  withheld?: Readonly<Record<string, string>>;
}

/** Another link of the same control plane. */
export interface Sibling {
  name: string;
  uid: string;
  /** It is not being deleted, and may have created something. */
  uses: boolean;
  /** It is not being deleted. */
  lives: boolean;
  baseDomain: string | undefined;
  /** The zone of its base domain, as it has published it. */
  baseZone: string | undefined;
  /** Its endpoint is approved and has an address. */
  ready: boolean;
}

/** What is configured by annotation. */
export interface Choices {
  zones: "managed" | "existing" | "none";
  internalZone: ResourceId | undefined;
  baseZone: ResourceId | undefined;
  /** Beside the hosted cluster's own network. */
  networks: readonly ResourceId[];
  /** The zones are linked to these networks only, and not to the hosted cluster's own. */
  skipsOwnNetwork?: boolean;
  /** Tags of what is created for the cluster, beside Postern's own; undefined where the annotation is wrong. */
  tags?: Tags | undefined;
  /** Why those of the annotation are not written. */
  wrongTags?: string | undefined;
  /** An annotation that cannot be read: what is wrong with it. */
  wrong: string | undefined;
}

/** An endpoint that may be owned, by name. */
export interface ObservedEndpoint {
  id: ResourceId;
  observation: Observation<PrivateEndpoint>;
  /** It is that of an object of this cluster which does not exist any more. */
  left?: boolean;
}

/** A zone that is desired, or that was and may contain something that we own. */
export interface ZoneInRole extends ObservedZone {
  /** `host`: the zone of a single hostname in the base domain. */
  role: "internal" | "base" | "host";
  /** Created and deleted by us; else it is another's, and only records and links in it are owned. */
  managed: boolean;
  desired: boolean;
}

/** What was observed, once, before planning. Plain data: no client, no clock. */
export interface Observed {
  object: {
    name: string;
    namespace: string;
    /** Whether our finalizer is on it. */
    hasFinalizer: boolean;
    spec: AzurePrivateLinkService["spec"];
  };
  self: Self;
  /** Absent where the object names no control plane. */
  cluster: ClusterFacts | undefined;
  deletion: Deletion | undefined;
  /** How long it has been deleted; 0 where it is not. */
  deletingMs: number;
  /** An annotation says to abandon what is in Azure. */
  abandoned: boolean;
  /** Whether the HostedCluster lists what is abandoned, or had the time to; undefined where it cannot be read. */
  isOnCluster?: boolean | undefined;
  pause: Pause;
  choices: Choices;
  siblings: readonly Sibling[];
  /** The link service: its alias, and its condition for this generation. */
  link: {
    alias: string | undefined;
    id: string | undefined;
    condition: Pick<Condition, "status" | "reason" | "message"> | undefined;
    /** Whether the condition was decided for the object as it is now. */
    current: boolean;
  };
  /** The conditions and status fields of this feature, as they are. */
  conditions: readonly Condition[];
  status: OwnStatus;
  /** How long the endpoint's condition has been what it is. */
  endpointSinceMs: number;
  /** Azure could not be asked at all, for want of a credential. */
  noCredential: Failure | undefined;
  /** The shipped name first. Empty where Azure was not read. */
  endpoints: readonly ObservedEndpoint[];
  /** The endpoints could not be read. */
  endpointsFailed: Failure | undefined;
  /** An older object of another cluster has a right to the shipped name of the endpoint. */
  nameReserved: boolean;
  zones: readonly ZoneInRole[];
  /** Names of zones in the group of the hosted cluster, in lower case. */
  zoneNames: readonly string[];
  /** The group's zones could not be listed. */
  zonesFailed: Failure | undefined;
  /** The Services for external-dns that exist, owned or not. */
  services: readonly Service[];
}
