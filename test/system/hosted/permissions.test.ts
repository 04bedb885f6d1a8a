import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ArmClients } from "postern/hosted/arm-clients.ts";
import { endpointFeature } from "postern/hosted/endpoint/feature.ts";
import { linkFeature } from "postern/hosted/link/feature.ts";
import { servicesFeature } from "postern/hosted/services/feature.ts";
import { expect, test } from "vitest";
import { managementSubscription } from "./azure.ts";
import { describeHosted, type HostedWorld } from "./world.ts";

const roleOf = (side: string): string[] =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, `../../../manifests/roles/${side}.json`), "utf8"),
  ).Actions;

const features = (armClients: ArmClients) => [
  servicesFeature(),
  linkFeature({ armClients, natSubnets: "shared", natPrefixLength: 24, installation: "0f0f0f0f" }),
  endpointFeature({ armClients }),
];

/** Every action that the simulator held against the rights of an identity, by subscription. */
function watchActions({ azure }: HostedWorld): { operator: Set<string>; guest: Set<string> } {
  const { roles } = azure.simulator;
  const asked = { operator: new Set<string>(), guest: new Set<string>() };
  const allow = roles.allow.bind(roles);
  roles.allow = (asker, action, scope) => {
    const side = scope.includes(managementSubscription) ? "operator" : "guest";
    asked[side].add(action.toLowerCase());
    return allow(asker, action, scope);
  };
  return asked;
}

const sorted = (actions: Iterable<string>) =>
  [...new Set([...actions].map((one) => one.toLowerCase()))].sort();

/** What this cluster does not need: two who make one subnet at once, and an endpoint with an IPv6 address. */
const elsewhere = {
  operator: ["Microsoft.Network/virtualNetworks/subnets/read"],
  guest: ["write", "delete"].map((verb) => `Microsoft.Network/privateDnsZones/AAAA/${verb}`),
};

describeHosted("the least roles", (start) => {
  test("are enough for a cluster from its birth to its end, and hold nothing that it does not need", async () => {
    const rights = { operator: roleOf("management"), guest: roleOf("guest") };
    const world = await start({ features, rights, simulator: { operationMs: { "*": 30_000 } } });
    const asked = watchActions(world);
    const shared = { baseDomain: "shared.example.com" };
    const { controlPlane, namespace } = await world.hostedCluster("one", shared);
    const second = await world.hostedCluster("two", shared);
    const link = (of = namespace) => world.get("AzurePrivateLinkService", of, "private-router");
    const available = async (of: string) =>
      world.condition(await link(of), "AzurePrivateLinkServiceAvailable") === "True AzureSuccess";
    await world.until("one is not available", () => available(namespace));
    await world.until("two is not available", () => available(second.namespace));
    // Somebody else's endpoint, which a deletion has to disconnect.
    const found = await link();
    world.azure.simulator.change(
      `${String(found?.status?.privateEndpointID).replace(/[^/]+$/, "foreign")}`,
      {
        location: "westeurope",
        properties: {
          subnet: { id: String(found?.spec.guestSubnetID) },
          manualPrivateLinkServiceConnections: [
            {
              name: "foreign",
              properties: { privateLinkServiceId: String(found?.status?.privateLinkServiceAlias) },
            },
          ],
        },
      },
    );
    // One that starts again reads what it made before.
    await world.stop();
    await world.start();
    await world.advance(12 * 60_000);
    for (const plane of [controlPlane, second.controlPlane]) {
      const { namespace: of, name } = plane.metadata;
      await world.remove(plane);
      const gone = async () => (await world.get("HostedControlPlane", of, name)) === undefined;
      await world.until(`the guest side of ${name} is not gone`, gone);
      const left = await link(of);
      if (left) await world.remove(left);
      await world.until(`${name} is not gone`, async () => (await link(of)) === undefined);
    }
    expect(world.azure.ids("privatelinkservices")).toEqual([]);
    expect({
      operator: sorted([...asked.operator, ...elsewhere.operator]),
      guest: sorted([...asked.guest, ...elsewhere.guest]),
    }).toEqual({ operator: sorted(rights.operator), guest: sorted(rights.guest) });
  }, 90_000);
});
