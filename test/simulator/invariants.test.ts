import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noLimits } from "@postern/azure-simulator/arm/throttle.ts";
import { expect, onTestFinished, test } from "vitest";
import { fc, seed, seeded } from "../setup/random.ts";
import { whatIsWrong } from "./invariants.ts";
import { anyStep, firstSteps, type Step } from "./random-steps.ts";
import { type SmallWorld, smallWorld, subscription } from "./small-world.ts";
import { startChecked } from "./start.ts";

const runs = Number(process.env.INVARIANTS_RUNS ?? 4);
const limits = noLimits;
const counted = `/subscriptions/${subscription}/resourceGroups/counted`;

/** Each client takes the next step when its last is answered, and now and then counts one up. */
async function walk(world: SmallWorld, steps: readonly Step[], clients: number): Promise<number> {
  let next = 0;
  let counts = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let i = next++; i < steps.length; i = next++) {
        const step = steps[i] as Step;
        const { status, text } = await world.ask(step.method, step.path, step.body);
        if (status >= 500) throw new Error(`${step.method} ${step.path}: ${status} ${text}`);
        if (i % 3 === 0) await decide(world, i);
        if (i % 8 < 5 && (await countUp(world, i % 16 < 5))) counts++;
      }
    }),
  );
  return counts;
}

/** Decide on the first connection of a link service: approve it, reject it or take it away. */
async function decide({ ask }: SmallWorld, i: number): Promise<void> {
  const group = `/subscriptions/${subscription}/resourceGroups/g${i % 2}`;
  const service = `${group}/providers/Microsoft.Network/privateLinkServices/p${i % 3}`;
  const { body } = await ask("GET", `${service}/privateEndpointConnections`);
  const [first] = (body.value ?? []) as { id: string; name: string }[];
  if (!first) return;
  const status = (["Approved", "Rejected", undefined] as const)[i % 5 < 3 ? i % 5 : 0];
  const { status: code, text } =
    status === undefined
      ? await ask("DELETE", first.id)
      : await ask("PUT", first.id, {
          name: first.name,
          properties: { privateLinkServiceConnectionState: { status, description: "decided" } },
        });
  if (code >= 500) throw new Error(`deciding on ${first.id}: ${code} ${text}`);
}

/** Read, add one, write with If-Match; whether it was taken. */
async function countUp({ ask }: SmallWorld, zone: boolean): Promise<boolean> {
  const path = zone ? "privateDnsZones/counted.example" : "virtualNetworks/counted";
  const id = `${counted}/providers/Microsoft.Network/${path}`;
  const { body, headers } = await ask("GET", id);
  const tags = { n: String(Number((body.tags as { n: string }).n) + 1) };
  const sent = zone
    ? { location: "global", tags }
    : { location: "westeurope", tags, properties: body.properties };
  const written = await ask("PUT", id, sent, { "if-match": headers.get("etag") ?? "" });
  if (written.status !== 202) return written.status < 300;
  // A zone takes the write, and its operation says whether the etag matched.
  for (;;) {
    const { body: operation } = await ask("GET", written.headers.get("azure-asyncoperation") ?? "");
    // One whose place a later write took is canceled, and what it wrote was there.
    if (operation.status !== "InProgress") return operation.status !== "Failed";
  }
}

async function countedOf({ ask }: SmallWorld): Promise<number> {
  const ids = ["virtualNetworks/counted", "privateDnsZones/counted.example"];
  const bodies = await Promise.all(
    ids.map((path) => ask("GET", `${counted}/providers/Microsoft.Network/${path}`)),
  );
  return bodies.reduce((sum, { body }) => sum + Number((body.tags as { n: string }).n), 0);
}

test(`200 random steps of 4 clients keep every invariant (${seeded}, ${runs} runs)`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "st-invariants-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  let run = 0;
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 200, maxLength: 200 }), async (steps) => {
      const state = { file: join(folder, `state-${run++}`) };
      const world = await smallWorld({ limits, state, pageSize: 3, operationMs: { "*": 15 } });
      const { ask, simulator } = world;
      await ask("PUT", counted, { location: "westeurope" });
      const network = `${counted}/providers/Microsoft.Network`;
      await ask("PUT", `${network}/virtualNetworks/counted`, {
        location: "westeurope",
        tags: { n: "0" },
        properties: { addressSpace: { addressPrefixes: ["10.0.0.0/16"] } },
      });
      await ask("PUT", `${network}/privateDnsZones/counted.example`, {
        location: "global",
        tags: { n: "0" },
      });
      for (const step of firstSteps) await ask(step.method, step.path, step.body);
      const counts = await walk(world, steps, 4);
      while (simulator.operations.nextDue < Number.POSITIVE_INFINITY) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        simulator.operations.settle();
      }
      const wrong = await whatIsWrong(world);
      const total = await countedOf(world);
      if (total !== counts) wrong.push(`${counts} counts were taken and ${total} are there`);
      taken += simulator.store.size;
      const before = simulator.snapshot();
      await simulator.close();
      const requeue = await startChecked({ state });
      const after = requeue.snapshot();
      await requeue.close();
      expect(wrong).toEqual([]);
      expect(after.resources).toEqual(before.resources);
    }),
    { seed, numRuns: runs, endOnFailure: true },
  );
  // A walk that is refused everywhere would keep every invariant too.
  expect(taken / run).toBeGreaterThan(20);
});
