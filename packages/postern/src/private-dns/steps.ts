import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { Precondition } from "../azure/gateway.ts";
import type { VirtualNetworkLink } from "../azure/gateways/private-dns.ts";
import type { Step } from "../kube/feature.ts";
import type { RecordSet } from "./records/observed.ts";

type Put<On extends string, Verb extends string, Do extends string, Body> = Step &
  Precondition &
  Body & { on: On; verb: Verb; do: Do; id: ResourceId };

type Delete<On extends string, Do extends string> = Step &
  Pick<Precondition, "ifMatch"> & { on: On; verb: "delete"; do: Do; id: ResourceId };

/** `unclaim` removes a user's claim and leaves the resource to its other users. */
type Shared = "create" | "claim" | "repair" | "unclaim";

/** What is done to a zone. Nothing but its tags is ours to choose. */
export type ZoneStep =
  | Put<
      "zone",
      Shared,
      "create DNS zone" | "claim DNS zone" | "update DNS zone" | "release DNS zone",
      { tags: Tags }
    >
  | Delete<"zone", "delete DNS zone">;

/** What is done to a link of a private zone. */
export type LinkStep =
  | Put<
      "link",
      Shared,
      "link network" | "claim network link" | "update network link" | "release network link",
      { body: VirtualNetworkLink }
    >
  | Delete<"link", "unlink network">;

/** What is done to a record set. */
export type RecordStep =
  | Put<"record", "write", "create record" | "update record", { records: RecordSet }>
  | Delete<"record", "delete record">;

/** Everything that is done to zones and to what is in them. `on` and `verb` are for the code, `do` is for people. */
export type PrivateDnsStep = ZoneStep | LinkStep | RecordStep;
