import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { expect, test } from "vitest";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { Journal } from "../kube/journal.ts";
import { fleetOf } from "./fleet.ts";

const bucket = { remaining: 1, waiting: {}, parkedForMs: 0 };
const client = "eeeeeeee-0000-4000-8000-000000000004";
const cluster = (name: string) =>
  ({
    metadata: { namespace: "clusters", name },
    spec: {
      platform: {
        azure: {
          azureAuthenticationConfig: { managedIdentities: { network: { clientId: client } } },
        },
      },
    },
  }) as unknown as HostedCluster;

function fleet(journal: Journal, clock: ManualClock, hostedClusters: HostedCluster[] = []) {
  return fleetOf({
    operator: { state: "leads" },
    runtime: undefined,
    journal,
    budgets: [
      {
        ...{ identity: `tenant/${client}`, subscription: "s" },
        ...{ reads: bucket, writes: bucket, deletes: bucket },
      },
    ] as unknown as Parameters<typeof fleetOf>[0]["budgets"],
    kube: { hostedClusters, controlPlanes: [], links: [], azureClusters: [] },
    clock,
  });
}

test("a reconcile that failed before it had a step is an error, for ten minutes", async () => {
  const clock = new ManualClock(Date.parse("2026-03-01T12:00:00Z"));
  const journal = new Journal(10, clock);
  journal.failed();
  expect(fleet(journal, clock).errors).toBe(1);
  await clock.move(10 * 60_000 + 1);
  expect(fleet(journal, clock).errors).toBe(0);
});

test("an identity that several clusters use has the names of all of them", () => {
  const clock = new ManualClock();
  const { budgets } = fleet(new Journal(10, clock), clock, [cluster("one"), cluster("two")]);
  expect(budgets.map(({ name }) => name)).toEqual(["clusters/one network, clusters/two network"]);
});

test("attack: of thousands of clusters with one identity, the overview has the names of ten", () => {
  const clock = new ManualClock();
  const many = Array.from({ length: 5_000 }, (_, n) => cluster(`c${n}`));
  const [{ name } = { name: "" }] = fleet(new Journal(10, clock), clock, many).budgets;
  expect(name).toMatch(/^clusters\/c0 network, .*, clusters\/c9 network and 4990 more$/);
});
