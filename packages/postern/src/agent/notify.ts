import type { ApplianceLog } from "../appliance/context.ts";

/** What tells systemd how the agent is. Without systemd it does nothing. */
export interface Notifier {
  ready(status: string): Promise<void>;
  stopping(): void;
  close(): void;
}

/**
 * Tell systemd by its own program `systemd-notify`: Node has no datagram sockets for local addresses. It is another process
 * than the agent, so that the unit needs `NotifyAccess=all`. The watchdog is fed from the agent's event loop, twice in the
 * time that systemd allows: an agent that hangs feeds it no more.
 */
export function notifier(
  log: ApplianceLog,
  environment: NodeJS.ProcessEnv = process.env,
): Notifier {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: limit, WATCHDOG_PID: pid } = environment;
  let warned = false;
  const failed = (error: Error) => {
    if (!warned) log.warn({ error: error.message }, "cannot notify systemd");
    warned = true;
  };
  const tell = (...words: string[]): Promise<void> =>
    new Promise((resolve) => {
      if (socket === undefined) return resolve();
      const { execFile } = process.getBuiltinModule("node:child_process");
      execFile("systemd-notify", words, { env: environment, timeout: 5_000 }, (error) => {
        if (error !== null) failed(error);
        resolve();
      });
    });
  const microseconds = pid === undefined || pid === String(process.pid) ? Number(limit) : 0;
  let feeding: NodeJS.Timeout | undefined;
  return {
    async ready(status) {
      await tell("--ready", `--status=${status}`);
      if (microseconds > 0)
        feeding = setInterval(() => {
          tell("WATCHDOG=1").catch(failed);
        }, microseconds / 2_000);
      feeding?.unref();
    },
    stopping: () => {
      tell("STOPPING=1", "--status=deregistering from the backend pool").catch(failed);
    },
    close: () => clearInterval(feeding),
  };
}
