import { Command } from "commander";
import { packageVersion } from "./package-version.ts";

/** `postern version` */
export function command(): Command {
  return new Command()
    .description("Print the version of Postern.")
    .addHelpText("after", "\nExample:\n  $ postern version")
    .action(() => console.log(packageVersion()));
}
