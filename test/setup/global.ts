import type { TestProject } from "vitest/node";
import { findOrBuild } from "./binaries.ts";
import type { GivenCluster } from "./cluster.ts";
import { startControlPlane } from "./control-plane.ts";

/** Starts one control plane for all suites of the run. Vitest calls this only if one of them is to run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let stop = () => Promise.resolve();
  let given: GivenCluster;
  try {
    const found = await findOrBuild((line) => process.stderr.write(`${line}\n`));
    if ("missing" in found) given = found;
    else {
      const plane = await startControlPlane(found.binaries);
      stop = plane.stop;
      given = { address: plane.address };
    }
  } catch (error) {
    // The suites that need it fail and say this; all others still run.
    given = { broken: error instanceof Error ? error.message : String(error) };
  }
  project.provide("cluster", given);
  return stop;
}
