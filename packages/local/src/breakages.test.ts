import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { staticToken } from "postern/azure/tokens.ts";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../../../test/manual-clock.ts";
import { group, smallWorld, subscription, tenant } from "../../../test/simulator/small-world.ts";
import { breakages } from "./breakages.ts";
import { OwedRoles } from "./owed-roles.ts";

const reader = "acdd72a7-3385-48ef-bd42-f606fba81ae7";
const assignments = `${group}/providers/Microsoft.Authorization/roleAssignments`;
const assignment = `${assignments}/44444444-4444-4444-8444-444444444444`;
const version = "api-version=2022-04-01";

/** A group in which the operator has a role, and the buttons of a person who may do everything there. */
async function breakable() {
  const clock = new ManualClock();
  const world = await smallWorld({ clock });
  const { simulator, token, ask } = world;
  const { objectId: operatorId } = simulator.directory.addApplication({ tenant });
  const cloud = customCloud({ resourceManager: simulator.url });
  const userArm = new Arm({ cloud, credential: staticToken(token), clock });
  onTestFinished(() => userArm.close());
  await ask("PUT", `${group}?api-version=2021-04-01`, { location: "westeurope" });
  await ask("PUT", `${assignment}?${version}`, {
    properties: {
      roleDefinitionId: `/subscriptions/${subscription}/providers/Microsoft.Authorization/roleDefinitions/${reader}`,
      principalId: operatorId,
    },
  });
  const actions = breakages({
    simulator,
    userArm,
    operatorId,
    clock,
    managementGroup: group,
    owed: new OwedRoles({ file: () => "/nowhere/owed", write: () => undefined }),
    killLeader: () => Promise.resolve(),
    reconcileAll: () => undefined,
  });
  const press = (name: string, target = "") =>
    actions.find((each) => each.name === name)?.do(target);
  const roles = async () => {
    const { body } = await ask("GET", `${assignments}?${version}&$filter=atScope()`);
    const all = body.value as { id: string; properties: { principalId: string } }[];
    return all.filter(({ properties }) => properties.principalId === operatorId).length;
  };
  /** Time goes by until the operator has so many roles. */
  const until = (count: number) =>
    expect
      .poll(async () => {
        await simulator.advance(5_000);
        return roles();
      })
      .toBe(count);
  return { ...world, press, roles, until };
}

test("the operator has its role again after twenty seconds", async () => {
  const { press, roles, simulator, until } = await breakable();
  expect(await roles()).toBe(1);
  await press("revoke-role");
  await simulator.advance(19_000);
  expect(await roles()).toBe(0);
  await until(1);
});

test("the operator has its role again although Azure was throttled when it was due", async () => {
  const { press, simulator, until } = await breakable();
  await press("revoke-role");
  await simulator.advance(10_000);
  await press("throttle");
  // Due in the middle of it, and refused.
  await simulator.advance(11_000);
  const refused = () => simulator.log.entries({ status: 429 }).length > 0;
  await expect.poll(refused).toBe(true);
  await until(1);
});

test("nothing but an endpoint is deleted by the button for endpoints", async () => {
  const { press, ask } = await breakable();
  await expect(press("delete-endpoint", group)).rejects.toMatchObject({
    code: "Usage",
  });
  expect((await ask("GET", `${group}?api-version=2021-04-01`)).status).toBe(200);
});
