import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Step } from "../../kube/feature.ts";
import type { LinkServiceStep } from "../../private-link/link-service/steps.ts";
import type { Reservation } from "../../private-link/nat-subnets/reservations.ts";
import type { NewSubnet } from "./nat/observed.ts";

/** The link object, in whose namespace its NAT subnet is recorded. */
export interface LinkObject {
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
  | (Step &
      Reserving & { on: "annotation"; do: "record NAT subnet"; link: LinkObject; subnet: string })
  | (Step & {
      on: "annotation";
      do: "release NAT subnet";
      link: LinkObject;
      /** Others use the subnet: not released where this link is the last one by now. */
      sharedSubnet?: string;
    })
  | (Step & Reserving & NewSubnet & { on: "subnet"; do: "create NAT subnet"; isSpare?: true })
  | (Step & {
      on: "subnet";
      do: "delete NAT subnet";
      verb: "delete";
      id: ResourceId;
      uid: string;
    });
