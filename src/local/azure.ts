import { randomUUID } from "node:crypto";
import { Arm } from "../azure/arm.ts";
import { customCloud } from "../azure/clouds.ts";
import { cachedTokens } from "../azure/tokens.ts";
import { writeWhole } from "../cli/whole-file.ts";
import type { Clock } from "../model/clock.ts";
import { lastSegment, parseResourceId } from "../model/resource-id.ts";
import type { Application, TrustedIssuer } from "../simulator/application.ts";
import type { Entry, Seed } from "../simulator/seed-entry.ts";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import type { JsonObject } from "../simulator/store.ts";
import { limitsAt, operationMs } from "./azure-pace.ts";
import type { DataFolder } from "./data-folder.ts";
import { inOurWords, LocalError } from "./local-error.ts";
import type { Scenario } from "./scenario.ts";

/** What the simulated Azure of local mode is started with. */
export interface AzureOptions {
  scenario: Scenario;
  folder: DataFolder;
  speed: number;
  reset: boolean;
  ports: { http: number; https: number };
  /** Who signs the tokens of service accounts, and by which keys. */
  issuer: TrustedIssuer;
  failed: (error: unknown) => void;
  bug: (error: unknown) => void;
}

/** Start the Azure of a scenario; one that was begun before goes on. */
export async function startAzure(options: AzureOptions): Promise<Simulator> {
  const { scenario, folder, speed, reset, ports, issuer, failed, bug } = options;
  const file = folder.file("azure.db");
  try {
    const simulator = await startSimulator({
      port: ports.http,
      https: { port: ports.https },
      ...(folder.kept && { state: { file, reset } }),
      ...(scenario.azure && { world: withIssuer(scenario.azure, issuer.issuer) }),
      operationMs,
      speed,
      limits: limitsAt(speed),
      failed,
      bug,
    });
    if (issuer.keys.length > 0) simulator.directory.trustIssuer(issuer);
    simulator.keep();
    writeWhole(folder.file("azure-ca.pem"), simulator.ca ?? "");
    return simulator;
  } catch (error) {
    throw inOurWords(error, "Azure", file);
  }
}

/** Where a federated credential names `kubernetes`, the API server of this local mode is meant. */
function withIssuer(seed: Seed, issuer: string): Seed {
  const applications = seed.applications.map((entry): Entry => {
    const { federatedCredentials: held } = entry.value;
    if (!Array.isArray(held)) return entry;
    const federatedCredentials = held.map((each) => {
      const credential = each as JsonObject | null;
      return credential?.issuer === "kubernetes" ? { ...credential, issuer } : each;
    });
    return { ...entry, value: { ...entry.value, federatedCredentials } };
  });
  return { ...seed, applications };
}

/** An application by its name; the scenario was checked to have it, but a folder may hold an older one. */
export function applicationNamed({ directory }: Simulator, name: string): Application {
  const found = directory.save().applications.find((each) => each.displayName === name);
  if (found) return found;
  throw new LocalError(
    "DataUnreadable",
    `there is no application '${name}' in the Azure of this folder · it was begun with another scenario · start with --reset to begin anew, or give another folder to --data`,
  );
}

/** The environment in which a program acts in this Azure as an application. */
export function environmentOf(
  simulator: Simulator,
  folder: DataFolder,
  application: Application,
  managementGroup: string,
): Record<string, string> {
  return {
    AZURE_RESOURCE_MANAGER_ENDPOINT: simulator.url,
    AZURE_AUTHORITY_HOST: simulator.httpsUrl ?? "",
    AZURE_CA_FILE: folder.file("azure-ca.pem"),
    AZURE_TENANT_ID: application.tenant,
    AZURE_CLIENT_ID: application.appId,
    AZURE_CLIENT_SECRET: application.secrets[0]?.value ?? "",
    AZURE_SUBSCRIPTION_ID: managementGroup.split("/")[2] ?? "",
    AZURE_RESOURCE_GROUP: lastSegment(parseResourceId(managementGroup)),
  };
}

/** The road of somebody for whom nobody checks a secret, because he is a part of this machine. */
export function roadOf(simulator: Simulator, application: Application, clock: Clock): Arm {
  const lifetimeMs = 3_600_000;
  const token = async () => ({
    token: simulator.directory.tokenFor(application, { forMs: lifetimeMs }),
    expiresAtMs: clock.now() + lifetimeMs,
  });
  const credential = cachedTokens(application.objectId, token, clock);
  const cloud = customCloud({ resourceManager: simulator.url });
  return new Arm({ cloud, credential, clock, userAgent: `postern-local-${randomUUID()}` });
}

/** Every subscription of the simulator; with a real Azure that of the management cluster. */
export function subscriptionsOf(
  simulator: Simulator | undefined,
  managementGroup: string,
): string[] {
  const own = managementGroup.split("/")[2] ?? "";
  const all = simulator?.directory.save().subscriptions.map(([id]) => id) ?? [];
  return [...new Set([own, ...all])].filter(Boolean);
}
