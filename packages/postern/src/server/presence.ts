import type { OperatorPresence } from "@postern/core/dashboard/picture.ts";
import type { Runtime } from "../kube/runtime.ts";

/** Local mode leads without a lease. */
const thisProcess = "this process";

/** Whether an operator runs, as this process knows; it remembers who led last. */
export function watchPresence(
  runtime: () => Pick<Runtime, "leading" | "lease" | "ledAt"> | undefined,
): () => OperatorPresence {
  let holder: string | undefined;
  return () => {
    const running = runtime();
    const { lease, ledAt } = running ?? {};
    const leader = running?.leading ? (lease?.holder ?? thisProcess) : lease?.holder;
    // Who cannot reach the lease does not know who holds it.
    if (leader === undefined || lease?.failure !== undefined)
      return {
        state: "lost",
        ...(holder !== undefined && holder !== thisProcess && { holder }),
        ...(ledAt !== undefined && { since: ledAt }),
      };
    holder = leader;
    return { state: "leads", holder };
  };
}
