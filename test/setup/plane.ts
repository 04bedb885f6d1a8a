import { inject } from "vitest";
import { findOrBuild } from "./binaries.ts";
import { type ControlPlaneAddress, startControlPlane } from "./control-plane.ts";
import { startEmbedded } from "./embedded.ts";

/** An API server of a suite's own. */
export interface Plane {
  address: ControlPlaneAddress;
  /** Ends it without a warning and starts it again, at the same address and with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one of the same sort as that of the run; what has no owner and what namespaces hold is deleted if asked. */
export async function startPlane(options: { collects?: boolean } = {}): Promise<Plane> {
  const given = inject("cluster");
  if ("address" in given && given.address.embedded) return startEmbedded();
  const found = await findOrBuild(() => undefined);
  if ("missing" in found) throw new Error(found.missing);
  const { address, restartApiserver, stop } = await startControlPlane(found.binaries, options);
  return { address, restart: () => restartApiserver("SIGKILL"), stop };
}
