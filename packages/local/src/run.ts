import { UsageError } from "@postern/core/process/usage-error.ts";
import type { LocalOptions } from "./command.ts";
import { greeting } from "./greeting.ts";
import { type Local, type LocalSettings, startLocal } from "./local.ts";
import { reportProgress } from "./progress.ts";
import { ReadyFile } from "./ready.ts";
import { readScenario } from "./scenario.ts";

/** Everything must be over by then, whatever hangs. */
const longestStopMs = 2_800;

/** Run local mode until Ctrl-C: everything is started in local.ts, and told of here. */
export async function runLocal(options: LocalOptions): Promise<void> {
  const settings = settingsOf(options);
  const readyFile = options.readyFile === undefined ? undefined : new ReadyFile(options.readyFile);
  const { signal, stopped } = untilSignal();
  const local = await startUnlessStopped(settings, signal);
  if (local === undefined) return;
  const remove = () => readyFile?.remove();
  process.once("exit", remove);
  try {
    readyFile?.write(local.ready);
    process.stdout.write(greeting(local, settings));
    const quiet = reportProgress(local, settings);
    await Promise.race([stopped, local.failed]).finally(quiet);
  } finally {
    process.off("exit", remove);
    try {
      remove();
    } finally {
      await local.stop();
    }
  }
}

async function startUnlessStopped(
  settings: LocalSettings,
  signal: AbortSignal,
): Promise<Local | undefined> {
  try {
    return await startLocal(settings, process.env, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

function settingsOf(options: LocalOptions): LocalSettings {
  const { azure, clusters, reset = false, data } = options;
  const real = azure === "real";
  if (reset && data === undefined) throw new UsageError("--reset requires --data");
  if (real && clusters > 0)
    throw new UsageError(
      "--clusters creates virtual networks, which requires the simulator: omit it with --azure real",
    );
  if (real && options.speed !== undefined)
    throw new UsageError("--speed requires the simulator: omit it with --azure real");
  const scenario = readScenario(options.scenario ?? (real ? "empty" : "demo"));
  // A clock that runs fast would let more requests through than Azure takes.
  return { ...options, scenario, reset, data, speed: real ? 1 : (options.speed ?? 2) };
}

/** The first signal asks everything to stop, the second ends the process at once. */
function untilSignal(): { signal: AbortSignal; stopped: Promise<void> } {
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    const stop = () => {
      if (stopping.signal.aborted) process.exit(130);
      stopping.abort(new Error("asked to stop"));
      setTimeout(() => process.exit(0), longestStopMs).unref();
      resolve();
    };
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
    // A terminal that is closed: keys and tokens lie in files that go with us.
    process.on("SIGHUP", () => stopping.signal.aborted || stop());
  });
  return { signal: stopping.signal, stopped };
}
