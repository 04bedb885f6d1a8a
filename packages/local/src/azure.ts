import type { TrustedIssuer } from "@postern/azure-simulator/entra/application.ts";
import { type Simulator, startSimulator } from "@postern/azure-simulator/simulator.ts";
import type { Entry, Seed } from "@postern/azure-simulator/state/seed-entry.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { limitsAt, operationMs } from "./azure-pace.ts";
import { type DataFolder, stateFiles } from "./data-folder.ts";
import { inOurWords } from "./local-error.ts";
import type { Scenario } from "./scenario.ts";

/** What the simulated Azure of local mode is started with. */
export interface AzureOptions {
  scenario: Scenario;
  folder: DataFolder;
  speed: number;
  ports: { http: number; https: number };
  /** Who signs the tokens of service accounts, and by which keys. */
  issuer: TrustedIssuer;
  /** Told of what it cannot go on with. */
  failed: (error: unknown) => void;
}

/** Start the Azure of a scenario; one that was begun before goes on. */
export async function startAzure(options: AzureOptions): Promise<Simulator> {
  const { scenario, folder, speed, ports, issuer, failed } = options;
  const file = folder.file(stateFiles.azure);
  const simulator = await startSimulator({
    port: ports.http,
    https: { port: ports.https },
    ...(folder.persistent && { state: { file } }),
    ...(scenario.azure && { world: withIssuer(scenario.azure, issuer.issuer) }),
    operationMs,
    speed,
    limits: limitsAt(speed),
    failed,
    bug: failed,
  }).catch((error: unknown) => {
    throw inOurWords(error, "Azure", file);
  });
  try {
    if (issuer.keys.length > 0) simulator.directory.trustIssuer(issuer);
    simulator.flush();
    folder.write("azure-ca.pem", simulator.ca ?? "", 0o644);
    return simulator;
  } catch (error) {
    await simulator.close();
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

/** Every subscription of the simulator; with a real Azure that of the management cluster. */
export function subscriptionsOf(
  simulator: Simulator | undefined,
  managementGroup: string,
): string[] {
  const own = managementGroup.split("/")[2] ?? "";
  const all = simulator?.directory.save().subscriptions.map(([id]) => id) ?? [];
  return [...new Set([own, ...all])].filter(Boolean);
}
