import { type Clock, wait } from "@postern/core/clock.ts";
import { isExplained } from "@postern/core/failure.ts";
import { namespace } from "@postern/core/kinds/core.ts";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import type { Check } from "../kube/health.ts";
import type { Log } from "../kube/log.ts";

const requeueMs = 10_000;

/**
 * What tells this management cluster from all others: the beginning of the uid of kube-system, which lives as long as the
 * cluster. An API server that cannot be asked does not end the process: the health page says why, and it is asked again.
 */
export function installationOf(
  client: KubeClient,
  { log, clock }: { log: Log; clock: Clock },
): { check: Check; read(signal: AbortSignal): Promise<string | undefined> } {
  let note = "not asked yet";
  let ok = false;
  const once = async (signal: AbortSignal) => {
    const found = await client.get({ kind: namespace, name: "kube-system" }, signal);
    if (found?.metadata.uid) return found.metadata.uid.slice(0, 8);
    throw new KubeError("NotFound", "there is no namespace kube-system");
  };
  return {
    check: { name: "cluster", check: () => ({ ok, note }) },
    /** Undefined where the signal came first. */
    async read(signal) {
      while (!signal.aborted) {
        try {
          const installation = await once(signal);
          [ok, note] = [true, installation];
          return installation;
        } catch (error) {
          if (signal.aborted) break;
          if (!isExplained(error)) throw error;
          note = error.explain().message;
          log.warn({ err: error }, "cluster not reached");
          await wait(clock, requeueMs, signal).catch(() => undefined);
        }
      }
      return undefined;
    },
  };
}
