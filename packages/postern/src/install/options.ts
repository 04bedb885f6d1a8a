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
    .addOption(yesOrNo("--wait-until-available", "wait until the pods are available"))
    .option("--no-wait-until-available", "do not wait for the pods")
    .addOption(
      yesOrNo(
        "--wait-until-crds-established",
        "wait until the API server serves the kinds before applying anything else",
      ),
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

/** A flag that is on, and can be given a value as HyperShift's can: `=false`. */
function yesOrNo(name: string, description: string): Option {
  return new Option(`${name} [boolean]`, description)
    .default(true)

    .argParser((text) => {
      if (text === "true" || text === "false") return text === "true";
      throw new InvalidArgumentError("give true or false");
    });
}

function duration(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError("use a duration greater than zero, such as 5m or 30s");
  return ms;
}
