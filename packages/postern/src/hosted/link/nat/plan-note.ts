import { sameId } from "@postern/core/resource-id.ts";
import type { Reservation } from "../../../private-link/nat-subnets/reservations.ts";
import type { Down, Up } from "../observed.ts";
import type { LinkStep } from "../steps.ts";

const whys = {
  up: "so that it is known after a restart",
  down: "the link service that shows it is about to be deleted",
};

/** Note the subnet that a link uses, unless it is noted already. */
export function planNote(
  { stage, subject }: Up | Down,
  subnet: string | undefined,
  reserves?: Reservation,
): LinkStep[] {
  if (subnet === undefined || sameId(subject.notedSubnet ?? "", subnet)) return [];
  const { namespace, name, uid } = subject;
  return [
    {
      on: "note",
      do: "note the NAT subnet",
      namespace,
      name,
      uid,
      subnet,
      why: whys[stage],
      ...(reserves && { reserves }),
    },
  ];
}
