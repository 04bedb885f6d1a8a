import { goOnUnheard } from "@postern/core/process/run-main.ts";
import { Command } from "commander";
import { type Format, isText, print, show, table, withConnection, withOutput } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

type AdoptOptions = ConnectOptions & { output: Format; yes?: boolean };

/** `postern adopt`: hand over what others made under the names of a cluster. */
export function command(): Command {
  return withOutput(withConnection(new Command("adopt")))
    .description(
      "hand over to a hosted cluster what others made under its names: link service, endpoint and zone",
    )
    .argument("<name>", "a cluster, as NAME or NAMESPACE/NAME")
    .option("--yes", "do it; without this it only says what it would do")
    .addHelpText(
      "after",
      `
What HyperShift made for the cluster is taken over by the operator without this. Here it is for what carries no tag, or the tag of
an object that is gone. What belongs to an object that exists is never handed over.
Exit code 0: there is nothing to hand over, or it is done. 3: there is something.

Examples:
  $ postern adopt clusters/one
  $ postern adopt clusters/one --yes`,
    )
    .action(async (name: string, options: AdoptOptions) => {
      const [{ withSession }, { candidates, handOver }] = await Promise.all([
        import("./session.ts"),
        import("./run-adopt.ts"),
      ]);
      await withSession(options, async (session) => {
        if (options.yes) goOnUnheard();
        const found = await candidates(session, name);
        if (options.yes)
          for (const each of found) {
            if (isText(options.output)) print(`handing over ${each.what} ${each.id}`);
            await handOver(session, each);
          }
        const shown = found.map(({ what, id, was, tag, value }) => ({ what, id, was, tag, value }));
        show(options.output, { [options.yes ? "handedOver" : "wouldHandOver"]: shown }, () => {
          if (shown.length === 0) return "everything under the names of this cluster is its own";
          if (options.yes) return `${shown.length} handed over`;
          const rows = shown.map((each) => [each.what, each.was, each.id]);
          return `${table(["WHAT", "NOW OF", "ID"], rows)}\n\nhand them over: postern adopt ${name} --yes`;
        });
        if (shown.length > 0 && !options.yes) process.exitCode = 3;
      });
    });
}
