import { type JsonWebKey, X509Certificate } from "node:crypto";
import type { Arm } from "../arm/arm.ts";
import { writeAtOnce } from "../arm/at-once.ts";
import { Refusal } from "../arm/refusal.ts";
import type { World } from "../arm/resource-type.ts";
import type { Application } from "../entra/application.ts";
import { isGuid } from "./guid.ts";
import { type Entry, type Seed, seedError } from "./seed-entry.ts";
import type { JsonObject } from "./store.ts";

/**
 * Make a world from a seed. Resources are written as requests would be, so nothing gets in that Azure refuses, and
 * each is done before the next begins.
 */
export function applySeed(seed: Seed, { arm, world }: { arm: Arm; world: World }): void {
  const { directory } = world;
  for (const entry of seed.tenants) directory.addTenant(guid(entry, "id"), text(entry, "name"));
  for (const entry of seed.subscriptions) {
    const tenant = guid(entry, "tenant");
    if (!directory.hasTenant(tenant))
      throw seedError(
        entry.at("tenant"),
        `${entry.name} is in tenant ${tenant}, which is not listed`,
      );
    directory.addSubscription(guid(entry, "id"), tenant, text(entry, "name"));
  }
  for (const entry of seed.issuers) trust(entry, world);
  const applications = new Map(
    seed.applications.map((entry) => [String(entry.value.name), add(entry, world)]),
  );
  for (const entry of seed.resources) {
    const { id, name: _name, type: _type, etag: _etag, ...body } = entry.value;
    put(String(id), body, entry, "id", { arm, world });
  }
  for (const entry of seed.roleAssignments) assign(entry, applications, { arm, world });
}

function trust(entry: Entry, { directory }: World): void {
  const { issuer, keys } = entry.value;
  try {
    directory.trustIssuer({ issuer: String(issuer), keys: keys as unknown as JsonWebKey[] });
  } catch {
    throw seedError(
      entry.at("keys"),
      `the keys of ${entry.name} must be a list of public keys as JSON Web Keys`,
    );
  }
}

function certificates(entry: Entry): string[] {
  const pem = text(entry, "certificate");
  if (pem === undefined) return [];
  try {
    new X509Certificate(pem);
  } catch {
    throw seedError(entry.at("certificate"), `the certificate of ${entry.name} must be in PEM`);
  }
  return [pem];
}

function add(entry: Entry, { directory, guid: make }: World): Application {
  const tenant = guid(entry, "tenant");
  if (!directory.hasTenant(tenant))
    throw seedError(
      entry.at("tenant"),
      `${entry.name} is in tenant ${tenant}, which is not listed`,
    );
  const { clientId, objectId, federatedCredentials = [] } = entry.value;
  if (!Array.isArray(federatedCredentials))
    throw seedError(entry.at("federatedCredentials"), "federatedCredentials must be a list");
  return directory.addApplication({
    tenant,
    displayName: String(entry.value.name),
    ...(clientId !== undefined && { appId: guid(entry, "clientId") }),
    ...(objectId !== undefined && { objectId: guid(entry, "objectId") }),
    // One that nobody could guess, where none is given; the ready file tells it.
    secrets: [{ value: text(entry, "secret") ?? `${make()}${make()}` }],
    certificates: certificates(entry),
    federated: federatedCredentials.map((each, i) => {
      const { name, issuer, subject, audiences } = (each ?? {}) as JsonObject;
      if (typeof issuer !== "string" || typeof subject !== "string")
        throw seedError(
          entry.at("federatedCredentials"),
          `federatedCredentials[${i}] of ${entry.name} must have an issuer and a subject`,
        );
      return {
        name: typeof name === "string" ? name : `federated-${i}`,
        issuer,
        subject,
        audiences: Array.isArray(audiences)
          ? audiences.map(String)
          : ["api://AzureADTokenExchange"],
      };
    }),
  });
}

function assign(
  entry: Entry,
  applications: ReadonlyMap<string, Application>,
  on: { arm: Arm; world: World },
): void {
  const { world } = on;
  const { principal, role, scope } = entry.value as Record<string, string>;
  const identity = world.store.get(principal ?? "");
  const principalId =
    applications.get(principal ?? "")?.objectId ??
    identity?.properties.principalId ??
    (isGuid(principal ?? "") ? principal : undefined);
  if (principalId === undefined)
    throw seedError(
      entry.at("principal"),
      `${entry.name} is for '${principal}', which is neither the name of an application, the id of an identity, nor an object id`,
    );
  const found = [...world.roles.definitions()].find(
    ({ name, roleName }) =>
      name === role?.toLowerCase() || roleName.toLowerCase() === role?.toLowerCase(),
  );
  if (!found) throw seedError(entry.at("role"), `there is no role '${role}'`);
  const id = `${scope}/providers/Microsoft.Authorization/roleAssignments/${world.guid()}`;
  const roleDefinitionId = `/providers/Microsoft.Authorization/roleDefinitions/${found.name}`;
  put(id, { properties: { roleDefinitionId, principalId } }, entry, "scope", on);
}

function put(
  id: string,
  body: JsonObject,
  entry: Entry,
  field: string,
  on: { arm: Arm; world: World },
): void {
  try {
    const failed = writeAtOnce(id, body, on);
    if (failed)
      throw seedError(
        entry.at(field),
        `${entry.name} failed with ${failed.code}: ${failed.message}`,
      );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const lines = [error, ...(error.details ?? [])];
    const words = lines.map(({ code, message }) => `${code}: ${message}`).join("; ");
    throw seedError(entry.at(field), `${entry.name} was refused with ${error.status} ${words}`);
  }
}

function guid(entry: Entry, field: string): string {
  const value = entry.value[field];
  if (typeof value === "string" && isGuid(value)) return value.toLowerCase();
  throw seedError(
    entry.at(field),
    `'${field}' of ${entry.name} must be a guid, such as 6f9619ff-8b86-4011-b42d-00cf4fc964ff`,
  );
}

function text(entry: Entry, field: string): string | undefined {
  const value = entry.value[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw seedError(entry.at(field), `'${field}' of ${entry.name} must be a text`);
}
