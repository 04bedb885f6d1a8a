import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { type Clock, realClock } from "@postern/core/clock.ts";
import {
  lastSegment,
  parseResourceId,
  type ResourceId,
  sameId,
} from "@postern/core/resource-id.ts";
import type { Arm, ArmClient } from "postern/azure/arm.ts";
import { decision, endpointConnections } from "postern/azure/gateways/endpoint-connections.ts";
import { connectionsOf, privateEndpoints } from "postern/azure/gateways/private-endpoints.ts";
import { privateLinkServices } from "postern/azure/gateways/private-link-services.ts";
import type { Action } from "postern/server/dashboard.ts";
import { LocalError } from "./local-error.ts";
import type { Assignment, OwedRoles } from "./owed-roles.ts";

const throttleMs = 20_000;
const withoutRoleMs = 20_000;
const retryMs = 5_000;
const query = { "api-version": "2022-04-01" };

/** What the buttons need: an Azure, the ARM client of the user, and the operator. */
export interface Breakable {
  simulator: Simulator;
  userArm: Arm;
  /** The object id by which the operator acts, and the group that it acts in. */
  operatorId: string;
  managementGroup: string;
  owed: OwedRoles;
  /** Ends the operator as a kill would, and starts another when its time comes. */
  killLeader(): Promise<void>;
  clock?: Clock;
}

/** The buttons of the dashboard that break something. The operator repairs it, but for what a person has decided. */
export function breakages(given: Breakable): Action[] {
  const { simulator, userArm, killLeader, managementGroup, clock = realClock } = given;
  const arm = () =>
    userArm.for({
      priority: "change",
      signal: AbortSignal.timeout(30_000),
      mayWrite: () => true,
      id: "dashboard",
    });
  return [
    {
      name: "delete-endpoint",
      label: "Delete it in Azure",
      about: "Deletes the endpoint behind the operator's back. It is found missing and made anew.",
      on: "endpoint",
      do: async (id) => {
        await privateEndpoints(arm()).remove(endpointIn(id));
        return `${lastSegment(id)} is being deleted in Azure`;
      },
    },
    {
      name: "reject",
      label: "Reject its connection",
      about:
        "The owner of the link service turns the endpoint away. That is final: delete the endpoint, and see it made anew.",
      on: "endpoint",
      do: (id) => decideOn(arm(), endpointIn(id), "Rejected", managementGroup),
    },
    {
      name: "approve",
      label: "Approve its connection",
      about: "The owner of the link service lets the endpoint in.",
      on: "endpoint",
      do: (id) => decideOn(arm(), endpointIn(id), "Approved", managementGroup),
    },
    {
      name: "throttle",
      label: "Throttle Azure",
      about:
        "Azure answers 429 to every write for twenty seconds. Nothing is lost, and everything waits.",
      on: "nothing",
      do: async () => {
        for (const method of ["PUT", "DELETE", "PATCH"])
          simulator.addFault({
            match: { method },
            effect: { kind: "throttled", retryAfterSeconds: 5 },
            forMs: throttleMs,
          });
        return "Azure refuses writes as too many for twenty seconds";
      },
    },
    {
      name: "revoke-role",
      label: "Take the operator's role away",
      about:
        "The operator may do nothing in the management group for twenty seconds. Its conditions say which action is missing.",
      on: "nothing",
      do: () => revoke(arm, given, clock),
    },
    {
      name: "kill-leader",
      label: "Kill the operator",
      about: "Ends the operator in the middle of its work. Another one begins where it was.",
      on: "nothing",
      do: async () => {
        await killLeader();
        return "the operator was ended, and another one has begun";
      },
    },
  ];
}

/** The id that a page has sent, if it is one of an endpoint: nothing else is deleted from there. */
function endpointIn(text: string): ResourceId {
  return parseResourceId(text, "Microsoft.Network/privateEndpoints");
}

/** Decide on the connection of an endpoint, as the owner of the link service. */
async function decideOn(
  arm: ArmClient,
  endpoint: string,
  status: "Approved" | "Rejected",
  managementGroup: string,
): Promise<string> {
  const found = await privateEndpoints(arm).get(endpoint);
  const [connection] = found ? connectionsOf(found) : [];
  const target = connection?.properties.privateLinkServiceId ?? "";
  // One that is named by its alias, as those of hosted clusters are, does not say where its service is.
  const places = [target, endpoint, managementGroup];
  const subscriptions = new Set(places.map((id) => id.split("/")[2]?.toLowerCase()));
  for (const subscription of subscriptions) {
    if (!subscription) continue;
    const services = await privateLinkServices(arm).list(`/subscriptions/${subscription}`);
    for (const { id = "", properties } of services)
      for (const each of properties.privateEndpointConnections ?? []) {
        if (!sameId(each.properties.privateEndpoint?.id ?? "", endpoint)) continue;
        const body = decision(each.name ?? "", status, `${status} from the dashboard`);
        const place = each.id ?? `${id}/privateEndpointConnections/${each.name}`;
        await endpointConnections(arm).put(place, body);
        const then = status === "Rejected" ? " · it stays so until the endpoint is deleted" : "";
        return `the connection of ${lastSegment(endpoint)} is ${status}${then}`;
      }
  }
  throw new LocalError(
    "NotThere",
    `no link service has a connection of ${lastSegment(endpoint)} · it may be gone already · look at the picture again`,
  );
}

/** Take the operator's roles in the management group away, and give them back after a while. */
async function revoke(
  arm: () => ArmClient,
  { operatorId, managementGroup, owed }: Breakable,
  clock: Clock,
): Promise<string> {
  const path = `${managementGroup}/providers/Microsoft.Authorization/roleAssignments`;
  const { body } = await arm().request("GET", path, { query });
  const held = ((body as { value?: Assignment[] }).value ?? []).filter(
    ({ id, properties }) =>
      properties.principalId === operatorId &&
      id.toLowerCase().startsWith(managementGroup.toLowerCase()),
  );
  for (const each of held) {
    owed.add(each);
    await arm().request("DELETE", each.id, { query });
    giveBackAfter(withoutRoleMs, arm, each, owed, clock);
  }
  return held.length === 0
    ? "the operator has no role there now"
    : "the operator's role is taken away for twenty seconds";
}

/** Azure may refuse it, because somebody throttles it too: it is asked until it is done. */
function giveBackAfter(
  ms: number,
  arm: () => ArmClient,
  held: Assignment,
  owed: OwedRoles,
  clock: Clock,
): void {
  const { roleDefinitionId, principalId } = held.properties;
  const body = { properties: { roleDefinitionId, principalId } };
  const giveBack = async () => {
    await arm().request("PUT", held.id, { query, body });
    owed.givenBack(held);
  };
  clock.after(ms, () => {
    giveBack().catch(() => giveBackAfter(retryMs, arm, held, owed, clock));
  });
}
