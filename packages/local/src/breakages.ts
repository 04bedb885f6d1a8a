import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { type Clock, realClock } from "@postern/core/clock.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import {
  lastSegment,
  parseResourceId,
  type ResourceId,
  sameId,
} from "@postern/core/resource-id.ts";
import type { Arm, ArmClient } from "postern/azure/arm.ts";
import { apiVersions } from "postern/azure/gateways/api-versions.ts";
import { decision, endpointConnections } from "postern/azure/gateways/endpoint-connections.ts";
import { connectionsOf, privateEndpoints } from "postern/azure/gateways/private-endpoints.ts";
import { privateLinkServices } from "postern/azure/gateways/private-link-services.ts";
import type { Action } from "postern/server/dashboard.ts";
import type { Assignment, OwedRoles } from "./owed-roles.ts";

const throttleMs = 20_000;
const withoutRoleMs = 20_000;
const retryMs = 5_000;
const query = { "api-version": "2022-04-01" };
const networkQuery = { "api-version": apiVersions.network };

/** What the faults need: an Azure, the ARM client of the user, and the operator. */
export interface Breakable {
  simulator: Simulator;
  userArm: Arm;
  /** The object id by which the operator acts, and the group that it acts in. */
  operatorId: string;
  managementGroup: string;
  owed: OwedRoles;
  /** Ends the operator as a kill would, and starts another after a while. */
  killLeader(): Promise<void>;
  /** Have the operator reconcile every cluster now. */
  reconcileAll(): void;
  clock?: Clock;
}

/**
 * The faults that a person can inject from the dashboard. Each is injected at one private endpoint. Those that would show only at
 * the next change come with one: the endpoint is deleted as well, or every cluster is reconciled.
 */
export function breakages(given: Breakable): Action[] {
  const {
    simulator,
    userArm,
    killLeader,
    reconcileAll,
    managementGroup,
    clock = realClock,
  } = given;
  const arm = () =>
    userArm.for({
      priority: "change",
      signal: AbortSignal.timeout(30_000),
      mayWrite: () => true,
      id: "dashboard",
    });
  const deleteEndpoint = async (id: string): Promise<string> => {
    // There may be none yet: then only the rest of the fault is injected.
    if (id === "") return "There is no private endpoint to delete";
    const endpoint = endpointIn(id);
    // Not by the gateway: within seconds it takes a second deletion for the first one, although the operator has recreated the endpoint.
    await arm().request("DELETE", endpoint, { query: networkQuery });
    return `Private endpoint ${lastSegment(endpoint)} is being deleted in Azure`;
  };
  return [
    {
      name: "delete-endpoint",
      label: "Delete the private endpoint",
      about:
        "Deletes it in Azure, without the operator. The cluster becomes Unavailable; Postern detects it and creates the endpoint again.",
      isDestructive: true,
      do: async (id) => `${await deleteEndpoint(endpointIn(id))}.`,
    },
    {
      name: "reject",
      label: "Reject its connection",
      about:
        "Rejects it as the owner of the link service. This is final in Azure: the cluster stays Unavailable until you delete the endpoint.",
      isDestructive: true,
      do: (id) => decideOn(arm(), endpointIn(id), "Rejected", managementGroup),
    },
    {
      name: "approve",
      label: "Approve its connection",
      about: "Approves a pending connection, as the owner of the link service.",
      isDestructive: false,
      do: (id) => decideOn(arm(), endpointIn(id), "Approved", managementGroup),
    },
    {
      name: "throttle",
      label: "Throttle Azure for 20 s",
      about:
        "Azure answers every write with 429 for 20 seconds, and the endpoint is deleted so that there is something to write. Postern waits as long as Azure asks, and then creates it.",
      isDestructive: true,
      do: async (id) => {
        const deleted = await deleteEndpoint(id);
        for (const method of ["PUT", "DELETE", "PATCH"])
          simulator.addFault({
            match: { method },
            effect: { kind: "throttled", retryAfterSeconds: 5 },
            forMs: throttleMs,
          });
        return `${deleted}, and Azure answers every write with 429 for 20 seconds.`;
      },
    },
    {
      name: "revoke-role",
      label: "Remove the operator's role for 20 s",
      about:
        "The operator has no access to the management resource group for 20 seconds, and every cluster is reconciled. Clusters become Degraded, and name the missing action.",
      isDestructive: false,
      do: async () => {
        const removed = await revoke(arm, given, clock);
        reconcileAll();
        return removed;
      },
    },
    {
      name: "kill-leader",
      label: "Kill the operator",
      about:
        "Stops the operator and deletes the endpoint. The page turns grey, because the conditions are not updated. Another operator starts 5 seconds later and creates the endpoint.",
      isDestructive: true,
      do: async (id) => {
        const deleted = id === "" ? "" : `${await deleteEndpoint(id)}. `;
        await killLeader();
        return `${deleted}The operator was stopped. Another one starts in 5 seconds.`;
      },
    },
  ];
}

/** The id that a page has sent, if it is one of an endpoint: nothing else is deleted from there. */
function endpointIn(text: string): ResourceId {
  try {
    return parseResourceId(text, "Microsoft.Network/privateEndpoints");
  } catch (error) {
    throw new UsageError(`target: ${(error as Error).message}`, { cause: error });
  }
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
        const then =
          status === "Rejected" ? " This is final until the private endpoint is deleted." : "";
        return `The connection of ${lastSegment(endpoint)} is ${status}.${then}`;
      }
  }
  throw new UsageError(
    `no link service has a connection of ${lastSegment(endpoint)} · it may be deleted · reload the page`,
  );
}

/** Remove the operator's roles in the management group, and assign them again after a while. */
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
    ? "The operator has no role there now."
    : "The operator's role was removed for 20 seconds.";
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
