import { Command } from "commander";
import { print, withConnection } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

/** `postern dump`: one archive for a bug report. */
export function command(): Command {
  return withConnection(new Command("dump"))
    .description(
      "gather objects, Azure's resources, plans and findings into one archive; no secret is read",
    )
    .option(
      "--redact",
      "put other words in place of names, ids and addresses, the same word for the same thing",
    )
    .option("--file <file>", "where it is written (default: postern-dump-TIME.tar.gz)")
    .addHelpText(
      "after",
      `
Example:
  $ postern dump --redact --file report.tar.gz`,
    )
    .action(async (options: ConnectOptions & { redact?: boolean; file?: string }) => {
      const [{ withSession }, { gatherDump, isMissing, writeDump }] = await Promise.all([
        import("./session.ts"),
        import("./run-dump.ts"),
      ]);
      await withSession(options, async (session) => {
        const time = new Date().toISOString().replace(/[:.]/g, "-").slice(0, 19);
        const file = options.file ?? `postern-dump-${time}.tar.gz`;
        const parts = await gatherDump(session);
        await writeDump(file, parts, options.redact === true);
        print(`${file}: ${parts.map(({ name }) => name).join(", ")}`);
        for (const { name, data } of parts)
          if (isMissing(data)) print(`not in it: ${name}: ${data.missing}`);
        if (!options.redact)
          print(
            "names, ids and addresses are in it; leave them out with --redact before you give it away",
          );
      });
    });
}
