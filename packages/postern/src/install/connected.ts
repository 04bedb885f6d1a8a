import { realClock } from "@postern/core/clock.ts";
import { print } from "../cli/output.ts";
import { type ConnectOptions, type Session, withSession } from "../cli/session.ts";
import type { Surroundings } from "./run-install.ts";

/** Do something to the cluster that the options name. */
export async function withCluster(
  options: ConnectOptions,
  work: (surroundings: Surroundings, session: Session) => Promise<void>,
): Promise<void> {
  await withSession(options, (session) =>
    work({ kube: session.kube, clock: realClock, signal: session.signal, print }, session),
  );
}
