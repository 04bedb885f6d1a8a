import { claimsIn } from "@postern/core/claims.ts";
import { ownerIn } from "@postern/core/ownership.ts";
import { describe, expect, test } from "vitest";
import {
  otherNetwork,
  PaperDns,
  workloadNetwork,
  zoneIds,
} from "../../../../../../test/cluster-api/paper-dns.ts";
import {
  end,
  type PaperCluster,
  paperCluster,
  passTogether,
  settleAll,
} from "../../../../../../test/cluster-api/paper-dns-clusters.ts";
import { fc } from "../../../../../../test/setup/random.ts";
import { plan } from "../plan.ts";
import { reasons } from "../reasons.ts";

const { base, toManagement } = zoneIds;
const network = fc.constantFrom(workloadNetwork, otherNetwork);

/** Clusters of one group whose names begin alike, one of them twice; in one network or in two. */
const clusters = fc
  .tuple(network, network, network, network)
  .map(([a, b, c, d]) => [
    paperCluster("wc1", 1, a),
    paperCluster("wc10", 10, b),
    paperCluster("wc", 100, c),
    paperCluster("wc1", 2, d, "org-other"),
  ]);
/** Who passes at the same time as whom, and how often. */
const rounds = fc.array(fc.subarray([0, 1, 2, 3], { minLength: 1 }), { maxLength: 12 });

function run(azure: PaperDns, all: readonly PaperCluster[], order: readonly number[][]): void {
  for (const some of order)
    passTogether(
      azure,
      all.filter((_, n) => some.includes(n)),
    );
}

const reported = ({ world }: PaperCluster) => world.infrastructure?.condition;

/** Everything that carries the mark or the claim of a cluster. */
function of(azure: PaperDns, { world }: PaperCluster): string[] {
  const isOfOther = (id: string | undefined) => id === world.us.clusterID;
  return [...azure.things.values()].flatMap((each) => {
    const tags = azure.tags(each.id);
    const metadata = each.is === "record" ? each.record.metadata : undefined;
    const owners = [ownerIn(tags)?.clusterID, ownerIn(metadata)?.clusterID];
    const claims = claimsIn(tags).map(({ clusterID }) => clusterID);
    return [...owners, ...claims].some(isOfOther) ? [each.id] : [];
  });
}

/** Law 5: who says True is found by its names, and finds the management cluster in its own network. */
function expectTruth(azure: PaperDns, all: readonly PaperCluster[]): void {
  for (const each of all) {
    if (reported(each)?.status !== "True") continue;
    const { cluster, us, api, toWorkload, networks } = each.world;
    const inZone = (role: string, name: string) =>
      azure.values(each.zoneList.find((place) => place.role === role)?.id ?? "", "A", name);
    const delegation = azure.things.get(`${base}/NS/${cluster.name}`.toLowerCase());
    expect(delegation?.is === "record" && ownerIn(delegation.record.metadata)).toEqual(us);
    expect(inZone("public", "api")).toEqual(api.state === "known" && api.values);
    expect(inZone("toWorkload", "apiserver")).toEqual(
      toWorkload.state === "known" && toWorkload.values,
    );
    const links = azure.below(toManagement).filter((link) => link.is === "link");
    expect(JSON.stringify(links)).toContain(`"${networks.toManagement}"`);
    const near = all.filter(({ world }) => world.networks.toManagement === networks.toManagement);
    const [ingress] = inZone("toManagement", "ingress") ?? [];
    expect(near.map(({ gateway }) => gateway)).toContain(ingress);
  }
}

describe("clusters that share a resource group", () => {
  test("come to rest, whoever comes first, and one of each name is told the truth (laws 1 and 5)", () => {
    fc.assert(
      fc.property(clusters, rounds, (all, order) => {
        const azure = new PaperDns();
        run(azure, all, order);
        settleAll(azure, all);
        for (const each of all)
          expect(plan(azure.observed(each.world, each.zoneList)).steps).toEqual([]);
        expectTruth(azure, all);
        const refusals: readonly unknown[] = [reasons.ownedByAnother, reasons.nameTaken];
        const refused = all.filter((each) => refusals.includes(reported(each)?.reason));
        expect(refused.map(({ world }) => world.cluster.name)).toEqual(["wc1"]);
        for (const each of all)
          expect([undefined, reasons.created, ...refusals, reasons.zoneOfAnotherNetwork]).toContain(
            reported(each)?.reason,
          );
      }),
      { numRuns: 200 },
    );
  });

  test("leave nothing of their own and everything of the others', who are found as before (laws 2 and 3)", () => {
    fc.assert(
      fc.property(
        clusters,
        rounds,
        fc.subarray([0, 1, 2, 3], { minLength: 1 }),
        fc.boolean(),
        (all, order, deleting, cached) => {
          const azure = new PaperDns();
          run(azure, all, order);
          settleAll(azure, all);
          const leaving = all.filter((_, n) => deleting.includes(n));
          const staying = all.filter((each) => !leaving.includes(each));
          leaving.forEach(end);
          run(azure, all, order);
          settleAll(azure, all);
          for (const each of leaving) {
            expect(of(azure, each)).toEqual([]);
            expect(each.world.infrastructure?.hasFinalizer).toBe(false);
          }
          expectTruth(azure, staying);
          const isAlone = new Set(staying.map(({ world }) => world.networks.toManagement)).size < 2;
          const names = staying.map(({ world }) => world.cluster.name);
          if (isAlone && new Set(names).size === names.length)
            for (const each of staying) expect(reported(each)?.status).toBe("True");
          staying.forEach(end);
          settleAll(azure, staying, cached);
          expect([...azure.things.keys()]).toEqual([base.toLowerCase()]);
        },
      ),
      { numRuns: 200 },
    );
  });
});
