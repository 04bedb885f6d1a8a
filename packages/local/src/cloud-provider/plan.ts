import { lastSegment, sameId } from "@postern/core/resource-id.ts";
import type { Observation } from "postern/azure/gateway.ts";
import type { LoadBalancer } from "postern/azure/gateways/load-balancers.ts";
import type { NetworkInterface } from "postern/azure/gateways/network-interfaces.ts";
import type { Plan, Step } from "postern/kube/feature.ts";
import {
  arrange,
  type Claim,
  frontendId,
  frontendsOn,
  type Ground,
  type Shelf,
  servesPorts,
} from "./arrange.ts";
import { joining } from "./machines.ts";
import type { PublicAddress } from "./public-addresses.ts";

/*
 * For one Service, with all others in view, because they share the load balancers:
 *
 *   it wants          its frontend                        its public address   plan
 *   a load balancer   -                                   absent (if public)   make the address
 *   a load balancer   absent, or without its rules        there, or internal   write the load balancers, for all Services
 *   a load balancer   there                               there, or internal   tell the address, put machines into the pool
 *   a load balancer   on one of the other kind too        -                    write the load balancers, for all Services
 *   none              there, used by a link service       -                    wait for the link service to go
 *   none              there                               -                    write the load balancers, for all Services
 *   none              absent                              there                delete the address
 *   none              absent                              absent               tell no address, then let go
 *
 * A Service is held first and served two seconds later, and one that is deleted waits as long. While one of the load
 * balancers is being changed it is not known what is on it, and everything waits, save to hold the Service. So all that
 * come and go in the meantime are in one write.
 */

/** A load balancer as it was looked at. */
export interface SeenBalancer {
  id: string;
  kind: "internal" | "public";
  observation: Observation<LoadBalancer>;
}

/** All that a reconcile over a Service sees. */
export interface Observed {
  /** Undefined for a Service that neither asks for a load balancer nor ever had one. */
  claim: Claim | undefined;
  /** Whether it carries our finalizer. */
  held: boolean;
  /** How long ago it was deleted, by a clock that may not be ours. */
  deletedMsAgo: number | undefined;
  /** The claims of all Services that are held, this one's among them. */
  claims: readonly Claim[];
  balancers: readonly SeenBalancer[];
  /** The interfaces of the machines that are to be behind every load balancer. */
  machines: readonly NetworkInterface[];
  publicAddress: { id: string; observation: Observation<PublicAddress> };
  /** The frontends that link services use. */
  usedFrontends: readonly string[];
  /** `status.loadBalancer` as it is. */
  told: { ingress?: readonly { ip?: string }[] } | undefined;
  ground: Ground;
}

/** One write. */
export type CloudStep =
  | (Step & {
      do: "create load balancer" | "update load balancer";
      id: string;
      body: LoadBalancer;
      etag: string | undefined;
    })
  | (Step & { do: "delete load balancer"; id: string; etag: string | undefined })
  | (Step & {
      do: "update network interface";
      id: string;
      body: NetworkInterface;
      etag: string | undefined;
    })
  | (Step & { do: "create public address"; id: string; location: string })
  | (Step & { do: "delete public address"; id: string });

/** How long a Service waits for others that come or go with it. */
const togetherMs = 2_000;
/** How long a Service waits for a link service that uses its frontend. */
const inUseMs = 15_000;
/** How long to leave alone what Azure has just failed to do. */
const failedMs = 30_000;

/** What to do for one Service. */
export function plan(seen: Observed): Plan<CloudStep> {
  const { claim } = seen;
  if (claim === undefined) return { ...rest(seen), requeue: "never" };
  return claim.wants === undefined ? planToGo(seen, claim) : planToServe(seen, claim);
}

function planToServe(seen: Observed, claim: Claim): Plan<CloudStep> {
  const { publicAddress, ground } = seen;
  const held = { ...rest(seen), finalizer: "add" } as const;
  if (!seen.held) return { ...held, requeue: { afterMs: togetherMs } };
  const unknown = waitMs(seen);
  if (unknown !== undefined) return { ...held, requeue: { afterMs: unknown } };
  const { observation, id } = publicAddress;
  if (claim.wants === "public" && observation.state === "absent") {
    const why = "the Service is to be reached from outside";
    const { location } = ground;
    return {
      ...held,
      steps: [{ do: "create public address", name: lastSegment(id), why, id, location }],
    };
  }
  const shelves = shelvesOf(seen);
  const mine = shelves.filter((shelf) => frontendsOn(shelf).includes(claim.frontend));
  const right = mine.find((shelf) => shelf.kind === claim.wants);
  const whole =
    right !== undefined &&
    mine.length === 1 &&
    servesPorts(right.balancer, claim.frontend, claim.ports);
  if (!whole) return { ...held, steps: writes(seen, shelves) };
  const left = [...addressLeft(seen, claim), ...joins(seen, shelves)];
  const address = addressOf(right, claim, observation);
  if (address === undefined) return { ...held, steps: left, requeue: "soon" };
  const status = { loadBalancer: { ingress: [{ ip: address, ipMode: "VIP" }] } };
  return { ...held, steps: left, status, requeue: "drift" };
}

function planToGo(seen: Observed, claim: Claim): Plan<CloudStep> {
  const early = togetherMs - (seen.deletedMsAgo ?? togetherMs);
  if (early > 0 && early <= togetherMs) return { ...rest(seen), requeue: { afterMs: early } };
  const unknown = waitMs(seen);
  if (unknown !== undefined) return { ...rest(seen), requeue: { afterMs: unknown } };
  const shelves = shelvesOf(seen);
  const mine = shelves.filter((shelf) => frontendsOn(shelf).includes(claim.frontend));
  const used = mine.some(({ id }) => isUsed(seen, frontendId(id, claim.frontend)));
  if (used) return { ...rest(seen), requeue: { afterMs: inUseMs } };
  if (mine.length > 0) return { ...rest(seen), steps: writes(seen, shelves) };
  const left = addressLeft(seen, claim);
  if (left.length > 0) return { ...rest(seen), steps: left };
  if (seen.told?.ingress?.length)
    return { ...rest(seen), status: { loadBalancer: {} }, requeue: { afterMs: 0 } };
  return { ...rest(seen), finalizer: "remove", requeue: "never" };
}

function rest({ told }: Observed): Plan<CloudStep> {
  return {
    steps: [],
    conditions: [],
    status: told === undefined ? {} : { loadBalancer: told },
    requeue: "soon",
  };
}

/** How long until what is being changed is known; undefined where everything is. */
function waitMs({ balancers, publicAddress }: Observed): number | undefined {
  const waits = [...balancers, publicAddress].flatMap(({ observation }) =>
    observation.state === "changing"
      ? observation.retryAfterMs
      : observation.state === "failed"
        ? failedMs
        : [],
  );
  return waits.length === 0 ? undefined : Math.min(...waits);
}

function shelvesOf({ balancers }: Observed): Shelf[] {
  return balancers.map(({ id, kind, observation }) => ({
    id,
    kind,
    balancer: observation.state === "exists" ? observation.resource : undefined,
  }));
}

function writes(seen: Observed, shelves: readonly Shelf[]): CloudStep[] {
  const inUse = (id: string) => isUsed(seen, id);
  return arrange(shelves, seen.claims, inUse, seen.ground).map(({ id, body, etag }) =>
    body === undefined
      ? {
          do: "delete load balancer",
          name: lastSegment(id),
          why: "no Service has a frontend on it any more",
          event: true,
          id,
          etag,
        }
      : {
          do: etag === undefined ? "create load balancer" : "update load balancer",
          name: lastSegment(id),
          why: "the Services ask for other frontends or ports than it has",
          event: true,
          id,
          body,
          etag,
        },
  );
}

/** The machines that no pool of the load balancers may lack. */
function joins({ machines }: Observed, shelves: readonly Shelf[]): CloudStep[] {
  const balancers = shelves.map(({ balancer }) => balancer);
  return joining(machines, balancers).map((each) => ({
    do: "update network interface",
    name: lastSegment(each.id),
    why: "it is missing from a backend pool of the cluster",
    ...each,
  }));
}

/** The public address of a Service that has no use for it. */
function addressLeft({ publicAddress: { id, observation } }: Observed, claim: Claim): CloudStep[] {
  if (claim.wants === "public" || observation.state !== "exists") return [];
  return [
    {
      do: "delete public address",
      name: lastSegment(id),
      why: "the Service has no use for it any more",
      id,
    },
  ];
}

function addressOf(
  shelf: Shelf,
  claim: Claim,
  observation: Observation<PublicAddress>,
): string | undefined {
  if (claim.wants === "public")
    return observation.state === "exists" ? observation.resource.properties.ipAddress : undefined;
  return shelf.balancer?.properties.frontendIPConfigurations?.find(
    ({ name }) => name === claim.frontend,
  )?.properties.privateIPAddress;
}

function isUsed({ usedFrontends }: Observed, id: string): boolean {
  return usedFrontends.some((each) => sameId(each, id));
}
