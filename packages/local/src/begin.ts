import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { realClock } from "@postern/core/clock.ts";
import type { Kind } from "@postern/core/kind.ts";
import type { KubeClient } from "postern/kube/client.ts";
import type { Begun, DataFolder } from "./data-folder.ts";
import { installKinds } from "./install.ts";
import { moreClusters } from "./more-clusters.ts";
import { makeObjects } from "./objects.ts";
import type { Scenario } from "./scenario.ts";

/** What a scenario is applied to. Its part of Azure is there already, by the simulator's seed. */
export interface Ground {
  folder: DataFolder;
  client: KubeClient;
  simulator: Simulator | undefined;
  /** Whether the cluster is somebody's. */
  real: boolean;
  /** Who signs the tokens of service accounts. */
  issuer: string;
}

/**
 * Apply a scenario, once for each folder: what a person has changed since stays, and what was begun with another scenario
 * goes on with that one. Further hosted clusters are made at any time. Gives what counts here, and the kinds that the
 * cluster serves in other versions only.
 */
export async function applyScenario(
  scenario: Scenario,
  clusters: number,
  { folder, client, simulator, issuer, real }: Ground,
  signal: AbortSignal,
): Promise<Begun & { older: readonly Kind[] }> {
  const older = await installKinds(client, real, realClock, signal);
  const { begun } = folder;
  if (begun !== undefined && begun.digest !== scenario.digest) return { ...begun, older };
  const before = begun?.clusters ?? 0;
  const more = moreClusters(scenario, before + 1, clusters);
  if (simulator) more.prepare(simulator, issuer);
  if (begun === undefined) await makeObjects(client, scenario.objects, signal);
  await makeObjects(client, more.objects, signal);
  const { digest, operator, appliances } = scenario;
  const now = { digest, operator, appliances, clusters: Math.max(clusters, before) };
  folder.begin(now);
  return { ...now, older };
}
