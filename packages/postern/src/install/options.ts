import { parseGoDuration } from "@postern/core/go-duration.ts";
import { type Command, InvalidArgumentError, Option } from "commander";

/** How a command that changes a cluster goes about it. */
export interface RunFlags {
  waitUntilAvailable: boolean;
  waitUntilCrdsEstablished: boolean;
  timeout: number;
  forceConflicts?: boolean;
  dryRun?: boolean;
}

/** The options for these flags. */
export function withRunOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--wait-until-available", "wait until the pods are available").default(true),
    )
    .option("--no-wait-until-available", "do not wait for the pods")
    .addOption(
      new Option(
        "--wait-until-crds-established",
        "wait until the API server serves the kinds before applying anything else",
      ).default(true),
    )
    .option("--no-wait-until-crds-established", "do not wait for the kinds")
    .addOption(
      new Option("--timeout <duration>", "how long to wait")
        .argParser(duration)
        .default(300_000, "5m"),
    )
    .option("--force-conflicts", "take over fields that another program manages, such as Helm")
    .option("--dry-run", "show the changes without applying them");
}

function duration(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError("use a duration greater than zero, such as 5m or 30s");
  return ms;
}
