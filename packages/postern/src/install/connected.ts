import { realClock } from "@postern/core/clock.ts";
import { type Format, isText, print, show } from "@postern/core/process/output.ts";
import { packageVersion } from "@postern/core/process/package-version.ts";
import { goOnUnheard } from "@postern/core/process/run-main.ts";
import { type ConnectOptions, type Session, withSession } from "../cli/session.ts";
import { checkBeforeInstall } from "./before-install.ts";
import type { RunFlags } from "./options.ts";
import { type Installation, install, type Surroundings } from "./run-install.ts";

/** Do something to the cluster that the options name. How far it is, is for people only. */
export async function withCluster(
  options: ConnectOptions & { output: Format },
  work: (surroundings: Surroundings, session: Session) => Promise<void>,
): Promise<void> {
  const progress = isText(options.output) ? print : () => undefined;
  await withSession(options, (session) => {
    const { kube, signal } = session;
    return work({ kube, clock: realClock, signal, print: progress }, session);
  });
}

/** Check the cluster, install or upgrade, and show what was changed. */
export async function installOn(
  session: Session,
  surroundings: Surroundings,
  installation: Installation,
  options: RunFlags & { namespace: string; output: Format },
): Promise<void> {
  const warnings = await checkBeforeInstall(session, installation.settings);
  for (const warning of warnings) surroundings.print(`! ${warning}`);
  if (!options.dryRun) goOnUnheard();
  const installed = await install(
    installation,
    { ...options, version: packageVersion(), timeoutMs: options.timeout },
    surroundings,
  );
  // People have read it line by line.
  show(options.output, { ...installed, warnings }, () => "");
}
