import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Step } from "../../kube/feature.ts";
import type { LinkServiceStep } from "../../private-link/link-service/steps.ts";
import type { Reservation } from "../../private-link/nat-subnets/reservations.ts";
import type { NewSubnet } from "./nat/observed.ts";

/** The object whose note of a NAT subnet is written. */
interface Noting {
  namespace: string;
  name: string;
  uid: string;
}

/** Reserved just before the write; where another link was faster, nothing is written and the link is planned again. */
interface Reserving {
  reserves?: Reservation;
}

/** Everything that this feature does. */
export type LinkStep =
  | (LinkServiceStep & Reserving)
  | (Step & Noting & Reserving & { on: "note"; do: "note the NAT subnet"; subnet: string })
  | (Step &
      Noting & {
        on: "note";
        do: "forget the NAT subnet";
        /** Others use the subnet: not forgotten where this link is the last one by now. */
        sharedSubnet?: string;
      })
  | (Step &
      Reserving &
      NewSubnet & { on: "subnet"; do: "make the NAT subnet" | "make the next NAT subnet" })
  | (Step & {
      on: "subnet";
      do: "remove the NAT subnet";
      verb: "delete";
      id: ResourceId;
      uid: string;
    });
