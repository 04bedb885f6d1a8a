import { parseGoDuration } from "@postern/core/go-duration.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import {
  defaultElectionTimes,
  type ElectionTimes,
  leaseNames,
  retryJitter,
} from "../kube/lease.ts";

/** The flags of leader election, under client-go's names. */
export interface ElectionFlags {
  leaderElect: boolean;
  leaderElectLeaseDuration: number;
  leaderElectRenewDeadline: number;
  leaderElectRetryPeriod: number;
  leaderElectResourceName?: string;
  leaderElectResourceNamespace?: string;
}

type Role = keyof typeof leaseNames;

/** The options for these flags. */
export function withElectionOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--leader-elect",
        "write only while leading by a Lease, so that several replicas can run",
      ).default(true),
    )
    .option("--no-leader-elect", "run without a Lease; only where this is the only replica")
    .addOption(
      timeOption(
        "--leader-elect-lease-duration <duration>",
        "how long other replicas wait, after the last renewal that they observed, before they take over",
        "15s",
        defaultElectionTimes.leaseDurationMs,
      ),
    )
    .addOption(
      timeOption(
        "--leader-elect-renew-deadline <duration>",
        "how long the leader tries to renew before it stops leading; less than the lease duration",
        "10s",
        defaultElectionTimes.renewDeadlineMs,
      ),
    )
    .addOption(
      timeOption(
        "--leader-elect-retry-period <duration>",
        "time between two tries to acquire or renew",
        "2s",
        defaultElectionTimes.retryPeriodMs,
      ),
    )
    .option(
      "--leader-elect-resource-namespace <name>",
      "namespace of the Lease (default: the connection's)",
    )
    .option(
      "--leader-elect-resource-name <name>",
      "name of the Lease (default: postern-operator; postern-control-plane or postern-cluster-api in those roles)",
    );
}

/** Which Lease to lead by. A process for one control plane keeps to that namespace, and shares its Lease with no other role. */
export function leaseOf(
  settings: ElectionFlags & { role: Role; namespace?: string },
): ({ namespace?: string; name: string } & ElectionTimes) | undefined {
  const { role, leaderElect, leaderElectResourceName, leaderElectResourceNamespace } = settings;
  const alone = role === "control-plane";
  if (alone && settings.namespace === undefined)
    throw new UsageError(
      "--role control-plane serves one control plane: give its namespace with --namespace (see postern operator --help)",
    );
  if (!leaderElect) return undefined;
  const namespace = leaderElectResourceNamespace ?? (alone ? settings.namespace : undefined);
  const name = leaderElectResourceName ?? leaseNames[role];
  return { name, ...(namespace !== undefined && { namespace }), ...timesOf(settings) };
}

/** The times, in an order in which a leader can always renew before others take over: client-go's rules. */
function timesOf(flags: ElectionFlags): ElectionTimes {
  const {
    leaderElectLeaseDuration: leaseDurationMs,
    leaderElectRenewDeadline: renewDeadlineMs,
    leaderElectRetryPeriod: retryPeriodMs,
  } = flags;
  if (leaseDurationMs <= renewDeadlineMs)
    throw new UsageError(
      "--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline",
    );
  if (renewDeadlineMs <= retryJitter * retryPeriodMs)
    throw new UsageError(
      `--leader-elect-renew-deadline must be greater than ${retryJitter} times --leader-elect-retry-period`,
    );
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

function timeOption(flags: string, does: string, usual: string, usualMs: number): Option {
  return new Option(flags, does).argParser(duration).default(usualMs, usual);
}

function duration(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError("use a duration greater than zero, such as 15s, 1m30s or 500ms");
  return ms;
}
