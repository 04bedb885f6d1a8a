import { claimsIn } from "@postern/core/claims.ts";
import { idKey } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import { AzureModel, nowAfter, observed, spec } from "../../../../../../test/hosted/azure-model.ts";
import { planTwice } from "../../../../../../test/setup/plan-twice.ts";
import { fc } from "../../../../../../test/setup/random.ts";
import type { Observation } from "../../../azure/gateway.ts";
import type { VirtualNetworkLink } from "../../../azure/gateways/private-dns.ts";
import type { RecordSet } from "../../../private-dns/records/observed.ts";
import { conditions } from "../../names.ts";
import type { Observed } from "../observed.ts";
import { plan } from "../plan.ts";
import type { EndpointStep } from "../steps.ts";

/** One cluster of several in one group, with the same base domain and the same network. */
function cluster(n: number): Observed {
  const like = observed();
  const name = `c${n}`;
  const facts = { ...like.cluster, name, hostedCluster: name } as NonNullable<Observed["cluster"]>;
  return {
    ...like,
    object: { ...like.object, spec: spec({ baseDomain: "shared.test" }) },
    self: { uid: `link-${n}`, clusterID: `id-${n}`, controlPlaneUid: `plane-${n}` },
    cluster: facts,
  };
}

/** What an observation of one cluster is made from: the zones as they are, what is in them perhaps from a list of before. */
function withOldLists(now: Observed, before: Observed | undefined): Observed {
  const isOwn = (marks: Record<string, string> | undefined) =>
    JSON.stringify(marks ?? {}).includes(`${now.self.clusterID}`);
  const merged = <
    T extends { id: string; observation: Observation<VirtualNetworkLink | RecordSet> },
  >(
    fresh: readonly T[],
    old: readonly T[],
  ): T[] => {
    // The cluster's own writes are known at once.
    const own = ({ observation }: T) =>
      observation.state === "exists" &&
      isOwn(
        "metadata" in observation.resource
          ? observation.resource.metadata
          : observation.resource.tags,
      );
    return [...fresh.filter(own), ...old.filter((each) => !own(each))];
  };
  const zones = now.zones.map((zone) => {
    const old = before?.zones.find(({ id }) => id === zone.id);
    if (
      old === undefined ||
      zone.observation.state !== "exists" ||
      old.observation.state !== "exists"
    )
      return zone;
    const links = merged(zone.links, old.links);
    return { ...zone, links, records: merged(zone.records, old.records) };
  });
  return { ...now, zones };
}

/** Whether a zone is about to be deleted or left to nobody by a list that is not right any more. */
function isOutdated(azure: AzureModel, observation: Observed, step: EndpointStep): boolean {
  if (step.on !== "zone") return false;
  const isLast =
    step.verb === "delete" || (step.verb === "unclaim" && claimsIn(step.tags).length === 0);
  if (!isLast) return false;
  const zone = observation.zones.find(({ id }) => id === step.id);
  const observedInside = [...(zone?.links ?? []), ...(zone?.records ?? [])].flatMap((each) =>
    each.observation.state === "exists"
      ? [`${idKey(each.id)} ${each.observation.resource.etag}`]
      : [],
  );
  const inside = azure.below(step.id).map((id) => `${idKey(id)} ${azure.at(id)?.etag}`);
  return JSON.stringify(inside.sort()) !== JSON.stringify(observedInside.sort());
}

/** Do what a plan says; what another has changed in between is refused, as Azure does, and tried again later. */
function act(azure: AzureModel, world: Observed, observation: Observed) {
  const planned = planTwice(plan, observation);
  let refused = false;
  let outdated = false;
  for (const step of planned.steps)
    try {
      if (isOutdated(azure, observation, step)) outdated = true;
      else azure.apply(step);
    } catch (error) {
      if (!/^(404|409|412)/.test((error as Error).message)) throw error;
      refused = true;
    }
  const over = planned.finalizer === "remove" && planned.steps.length === 0;
  const rests = planned.steps.length === 0;
  return { now: refused ? world : nowAfter(world, planned), over, outdated, rests };
}

const moves = fc.array(
  fc.record({
    who: fc.nat(2),
    /** Look now and act at the next turn, as one does who reads what is old. */
    deletionNow: fc.boolean(),
    /** What is in the zones is known from an earlier list, as it is to one who acts by an identity of its own. */
    cached: fc.boolean(),
    leave: fc.integer({ min: 0, max: 9 }),
  }),
  { maxLength: 40 },
);

/** Several clusters and their subscription, one reconcile after another. */
class Clusters {
  readonly azure = new AzureModel();
  readonly worlds = [0, 1, 2].map(cluster);
  readonly #observations: (Observed | undefined)[] = [];
  readonly #listed: (Observed | undefined)[] = [];
  readonly #deleted = new Set<number>();

  /** Whether there was nothing to do. */
  turn(who: number, { deletionNow = false, cached = false } = {}): boolean {
    const world = this.worlds[who];
    if (world === undefined || this.#deleted.has(who)) return true;
    const observation = this.#observations[who] ?? this.#observe(who, world, cached);
    this.#observations[who] = deletionNow ? observation : undefined;
    if (deletionNow) return false;
    const done = act(this.azure, world, { ...observation, deletion: world.deletion });
    if (done.outdated) this.#listed[who] = undefined;
    this.worlds[who] = done.now;
    if (done.over && plan(this.azure.observed(world)).steps.length === 0) this.#deleted.add(who);
    return done.rests;
  }

  #observe(who: number, world: Observed, cached: boolean): Observed {
    const now = this.azure.observed(world);
    if (cached) return withOldLists(now, this.#listed[who]);
    this.#listed[who] = now;
    return now;
  }

  leave(who: number): void {
    const world = this.worlds[who];
    if (world) this.worlds[who] = { ...world, deletion: "object" };
  }

  /** Take turns until nobody has anything to do. */
  settle(cached: boolean): void {
    for (let round = 0; round < 40; round++) {
      const rests = [0, 1, 2].map((who) => this.turn(who, { cached }));
      if (rests.every((each) => each)) return;
    }
    throw new Error("they do not come to rest");
  }
}

describe("clusters that share a zone", () => {
  test("never delete each other's records, links or zone, and the last one leaves nothing", () => {
    fc.assert(
      fc.property(moves, fc.boolean(), (all, cached) => {
        const clusters = new Clusters();
        for (const { who, leave, ...how } of all) {
          if (leave === 0) clusters.leave(who);
          clusters.turn(who, how);
        }
        clusters.settle(false);
        for (const { conditions: reported, deletion } of clusters.worlds)
          if (deletion === undefined)
            expect(reported.find(({ type }) => type === conditions.available)?.status).toBe("True");
        for (const who of [0, 1, 2]) clusters.leave(who);
        clusters.settle(cached);
        expect([...clusters.azure.resources.keys()]).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
