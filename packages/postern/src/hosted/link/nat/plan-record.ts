import { lastSegment, sameId } from "@postern/core/resource-id.ts";
import type { Reservation } from "../../../private-link/nat-subnets/reservations.ts";
import type { Down, Up } from "../observed.ts";
import type { LinkStep } from "../steps.ts";

/** The subnet must be found again after a restart, or after its link service is deleted. */
const whys = {
  up: "the link uses it",
  down: "the link uses it, and its link service is about to be deleted",
};

/** Record the subnet that a link uses, unless it is recorded already. */
export function planRecordSubnet(
  { stage, subject }: Up | Down,
  subnet: string | undefined,
  reserves?: Reservation,
): LinkStep[] {
  if (subnet === undefined || sameId(subject.recordedSubnet ?? "", subnet)) return [];
  const { namespace, name, uid } = subject;
  return [
    {
      on: "annotation",
      do: "record NAT subnet",
      name: lastSegment(subnet),
      link: { namespace, name, uid },
      subnet,
      why: whys[stage],
      ...(reserves && { reserves }),
    },
  ];
}
