import type { OperatorPresence } from "@postern/core/dashboard/picture.ts";
import { KubeError } from "../kube/errors.ts";
import { operatorLeases, presenceByLeases } from "../view/presence.ts";
import type { Session } from "./session.ts";

const localMs = 5_000;

/** Whether an operator runs, by its Lease or, in local mode, by its health page; `unknown` where neither can be read. */
export async function operatorPresence(
  session: Pick<Session, "kube" | "local" | "signal">,
): Promise<OperatorPresence> {
  const { kube, local, signal } = session;
  try {
    const presence = presenceByLeases(await operatorLeases(kube, signal), new Date());
    if (presence.state !== "unknown" || local === undefined) return presence;
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
    return { state: "unknown" };
  }
  return localPresence(local.urls?.operator, signal);
}

/** The operator of local mode leads without a Lease. */
async function localPresence(
  url: string | undefined,
  signal: AbortSignal,
): Promise<OperatorPresence> {
  if (url === undefined) return { state: "unknown" };
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(localMs)]);
    const answer = await fetch(`${url}/readyz?verbose`, { signal: limited });
    const leads = /^\[\+\]leader /m.test(await answer.text());
    return leads ? { state: "leads", holder: "local mode" } : { state: "lost" };
  } catch {
    signal.throwIfAborted();
    return { state: "lost" };
  }
}
