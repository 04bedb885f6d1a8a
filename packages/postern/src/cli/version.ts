import { packageVersion } from "@postern/core/process/package-version.ts";
import { Command } from "commander";

/** `postern version` */
export function command(): Command {
  return new Command()
    .description("Print the version of Postern.")
    .addHelpText("after", "\nExample:\n  $ postern version")
    .action(() => console.log(packageVersion()));
}
