import type { TestProject } from "vitest/node";
import type { GivenCluster } from "./cluster.ts";
import { startEmbedded } from "./embedded.ts";

/** Starts one embedded API for all suites of the run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let stop = () => Promise.resolve();
  let given: GivenCluster;
  try {
    const plane = await startEmbedded();
    stop = plane.stop;
    given = { address: plane.address };
  } catch (error) {
    // The suites that need it fail and say this; all others still run.
    given = { broken: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  project.provide("cluster", given);
  return stop;
}
