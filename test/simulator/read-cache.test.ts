import { typeNamed } from "@postern/azure-simulator/arm/registry.ts";
import { ResourceStore } from "@postern/azure-simulator/arm/resource-store.ts";
import { noLimits } from "@postern/azure-simulator/arm/throttle.ts";
import { expect, test } from "vitest";
import { fc } from "../setup/random.ts";
import { anyStep, firstSteps } from "./random-steps.ts";
import { group, network, networkBody, owner, smallWorld } from "./small-world.ts";

const limits = noLimits;
const query = new URLSearchParams({ "api-version": "2024-05-01" });

test("a list that was read before shows what was written since", async () => {
  const { ask } = await smallWorld();
  const names = async () => {
    const { body } = await ask("GET", `${group}/providers/Microsoft.Network/virtualNetworks`);
    return (body.value as { name: string }[]).map(({ name }) => name);
  };
  await ask("PUT", group, { location: "westeurope" });
  expect([await names(), await names()]).toEqual([[], []]);
  await ask("PUT", network, networkBody());
  expect([await names(), await names()]).toEqual([["v"], ["v"]]);
  await ask("DELETE", network);
  expect([await names(), await names()]).toEqual([[], []]);
});

test("what one has read is not shown to another who may not", async () => {
  const { ask, simulator } = await smallWorld();
  await ask("PUT", group, { location: "westeurope" });
  await ask("PUT", network, networkBody());
  expect((await ask("GET", network)).status).toBe(200);
  const stranger = { ...owner, objectId: "stranger-object", appId: "stranger-app" };
  const authorization = `Bearer ${simulator.directory.tokenFor(stranger)}`;
  expect((await ask("GET", network, undefined, { authorization })).status).toBe(403);
});

test("between random writes every read shows what is kept then", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 25, maxLength: 25 }), async (steps) => {
      const { ask, simulator } = await smallWorld({ limits });
      const resources = new ResourceStore(simulator.world);
      for (const { method, path, body } of [...firstSteps, ...steps]) {
        await ask(method, path, body);
        for (const resource of [...simulator.store.all()]) {
          const type = typeNamed(resource.type);
          const { text } = await ask("GET", resource.id);
          const shown = type && JSON.stringify(resources.shown(resource, type, query));
          expect(text.replaceAll("\\/", "/")).toBe(shown);
        }
      }
    }),
    { numRuns: 2 },
  );
});
