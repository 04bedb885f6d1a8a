import { isExplained } from "@postern/core/failure.ts";
import { whyUnfit } from "@postern/core/forms.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { idKey, lastSegment, type ResourceId, subscriptionId } from "@postern/core/resource-id.ts";
import { shellWord } from "@postern/core/shell.ts";
import type { ArmAnswer } from "../azure/answer.ts";
import { AzureError } from "../azure/errors.ts";
import { subscriptionsIn } from "../view/places.ts";
import type { KubeWorld } from "../view/world.ts";
import { operatorClientId } from "./operator-client-id.ts";
import type { Session } from "./session.ts";

/** What a role allows. */
export interface Permission {
  actions?: string[];
  notActions?: string[];
}

/** Who acts in Azure. */
export interface Principal {
  /** The words for people: `the operator`, or its id. */
  name: string;
  /** The object id, to which roles are assigned. */
  id: string;
}

/** What could not be found out, and what to do. */
interface Unknown {
  why: string;
  remedy?: string;
}

const roleVersion = { "api-version": "2022-04-01" };
const identityVersion = { "api-version": "2023-01-31" };

/** The principal that `--as` names: `operator`, or the client id or object id of an identity. */
export async function principalOf(
  session: Session,
  as: string,
  kube: KubeWorld,
): Promise<Principal | Unknown> {
  if (as !== "operator") {
    if (whyUnfit(as, "guid") !== undefined)
      throw new UsageError(`--as takes operator, a client id or an object id, and not '${as}'`);
    return { name: as, id: (await objectIdOf(session, as, kube)) ?? as };
  }
  const name = "the operator";
  const local = session.local?.operatorPrincipal;
  if (local !== undefined) return { name, id: local };
  const client = session.env.AZURE_PLS_CLIENT_ID ?? (await operatorClientId(session));
  if (client === undefined)
    return {
      why: "No ServiceAccount of an operator names its identity.",
      remedy: "Name it: postern doctor --as CLIENT_ID",
    };
  const id = await objectIdOf(session, client, kube);
  if (id !== undefined) return { name, id };
  return {
    why: `Client id ${client} is not that of a managed identity that this credential can read.`,
    remedy: `Give its object id: postern doctor --as "$(az ad sp show --id ${shellWord(client)} --query id --output tsv)"`,
  };
}

/** The object id of the managed identity with a client id or object id; undefined where none is found. */
async function objectIdOf(
  session: Session,
  id: string,
  kube: KubeWorld,
): Promise<string | undefined> {
  const { AZURE_SUBSCRIPTION_ID: own } = session.env;
  for (const subscription of subscriptionsIn(kube, own ? [own] : [])) {
    const path = `${subscriptionId(subscription)}/providers/Microsoft.ManagedIdentity/userAssignedIdentities`;
    const found = await listOf<{ properties?: { clientId?: string; principalId?: string } }>(
      session,
      path,
      identityVersion,
    );
    if ("why" in found) continue;
    const is = (each: string | undefined) => each?.toLowerCase() === id.toLowerCase();
    const identity = found.find(
      ({ properties }) => is(properties?.clientId) || is(properties?.principalId),
    );
    if (identity?.properties?.principalId) return identity.properties.principalId;
  }
  return undefined;
}

interface Assignment {
  properties?: { roleDefinitionId?: string; scope?: string };
}

/** What the roles of a principal allow at a scope: those that are assigned there and above, also by its groups. */
export async function permissionsOf(
  session: Session,
  scope: ResourceId,
  { id }: Principal,
): Promise<Permission[] | Unknown> {
  const assigned = await listOf<Assignment>(
    session,
    `${scope}/providers/Microsoft.Authorization/roleAssignments`,
    { ...roleVersion, $filter: `assignedTo('${id}')` },
  );
  if ("why" in assigned) return assigned;
  const isBelow = (place = "") => idKey(place).startsWith(`${idKey(scope)}/`);
  const roles = assigned.flatMap(({ properties }) =>
    isBelow(properties?.scope) ? [] : lastSegment(properties?.roleDefinitionId ?? ""),
  );
  const found = await Promise.all(
    [...new Set(roles)].map((role) =>
      unlessRefused(async () => {
        // Where it is assigned it can be read, by whoever may read there.
        const id = `${scope}/providers/Microsoft.Authorization/roleDefinitions/${role}`;
        const { body } = await session.reading.request("GET", id, { query: roleVersion });
        const { properties } = body as { properties?: { permissions?: Permission[] } };
        return properties?.permissions ?? [];
      }),
    ),
  );
  const refused = found.find((each) => "why" in each);
  if (refused) return refused;
  return found.flatMap((each) => ("why" in each ? [] : each));
}

/** All pages of a list, or why it was refused. */
async function listOf<T>(
  { reading: arm }: Session,
  path: string,
  query: Record<string, string>,
): Promise<T[] | Unknown> {
  return unlessRefused(async () => {
    const found: T[] = [];
    let answer: ArmAnswer | undefined = await arm.request("GET", path, { query });
    while (answer !== undefined) {
      const { value = [], nextLink } = answer.body as { value?: T[]; nextLink?: string };
      found.push(...value);
      answer = nextLink ? await arm.follow(nextLink, `list ${path}`) : undefined;
    }
    return found;
  });
}

async function unlessRefused<T>(read: () => Promise<T[]>): Promise<T[] | Unknown> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof AzureError) || !isExplained(error)) throw error;
    return { why: error.explain().message };
  }
}
