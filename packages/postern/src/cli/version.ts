import { type Format, show, withOutput } from "@postern/core/process/output.ts";
import { packageVersion } from "@postern/core/process/package-version.ts";
import { Command } from "commander";

/** `postern version` */
export function command(): Command {
  return withOutput(new Command())
    .description("Print the version")
    .addHelpText("after", "\nExample:\n  $ postern version")
    .action(({ output }: { output: Format }) => {
      const version = packageVersion();
      show(output, { version, node: process.versions.node }, () => version);
    });
}
