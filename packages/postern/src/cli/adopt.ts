import { counted } from "@postern/core/counted.ts";
import { type Format, isText, print, show, withOutput } from "@postern/core/process/output.ts";
import { goOnUnheard } from "@postern/core/process/run-main.ts";
import { Command } from "commander";
import { table, withConnection } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

type AdoptOptions = ConnectOptions & { output: Format; yes?: boolean };

/** `postern adopt`: make a cluster the owner of resources that exist under its names. */
export function command(): Command {
  return withOutput(withConnection(new Command("adopt")))
    .description(
      "Make a hosted cluster the owner of Azure resources that exist under its names: link service, private endpoint and DNS zone",
    )
    .argument("<name>", "cluster, as NAME or NAMESPACE/NAME")
    .option("--yes", "adopt the resources; without this flag the command only lists them")
    .addHelpText(
      "after",
      `
The operator adopts what HyperShift created for the cluster by itself. This command is for resources without an owner tag, or with
the tag of an object that no longer exists. Resources of an object that exists are never adopted.
Exit code 0: there is nothing to adopt, or everything was adopted. 3: there are resources to adopt.

Examples:
  $ postern adopt clusters/one
  $ postern adopt clusters/one --yes`,
    )
    .action(async (name: string, options: AdoptOptions) => {
      const [{ withSession }, { candidates, adopt }] = await Promise.all([
        import("./session.ts"),
        import("./run-adopt.ts"),
      ]);
      await withSession(options, async (session) => {
        if (options.yes) goOnUnheard();
        const found = await candidates(session, name);
        if (options.yes)
          for (const each of found) {
            if (isText(options.output)) print(`Adopting ${each.what} ${each.id}`);
            await adopt(session, each);
          }
        const shown = found.map(({ what, id, was, tag, value }) => ({ what, id, was, tag, value }));
        show(options.output, { [options.yes ? "adopted" : "candidates"]: shown }, () => {
          if (shown.length === 0) return "Nothing to adopt.";
          if (options.yes) return `${counted(shown.length, "resource")} adopted.`;
          const rows = shown.map((each) => [each.what, each.was, each.id]);
          return `${table(["WHAT", "CURRENT OWNER", "ID"], rows)}\n\nTo adopt them: postern adopt ${name} --yes`;
        });
        if (shown.length > 0 && !options.yes) process.exitCode = 3;
      });
    });
}
