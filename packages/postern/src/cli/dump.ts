import { Command } from "commander";
import { type Format, show, withConnection, withOutput } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

/** `postern dump`: one archive for a bug report. */
export function command(): Command {
  return withOutput(withConnection(new Command("dump")))
    .description(
      "gather objects, Azure's resources, plans and findings into one archive; no secret is read",
    )
    .option(
      "--redact",
      "put other words in place of names, ids and addresses, the same word for the same thing",
    )
    .option(
      "--file <file>",
      "where it is written; - is standard output (default: postern-dump-TIME.tar.gz)",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ postern dump --redact --file report.tar.gz
  $ postern dump --redact --file - | tar -tz`,
    )
    .action(
      async (options: ConnectOptions & { output: Format; redact?: boolean; file?: string }) => {
        const [{ withSession }, { gatherDump, isMissing, writeDump }] = await Promise.all([
          import("./session.ts"),
          import("./run-dump.ts"),
        ]);
        await withSession(options, async (session) => {
          const time = new Date().toISOString().replace(/[:.]/g, "-").slice(0, 19);
          const file = options.file ?? `postern-dump-${time}.tar.gz`;
          const parts = await gatherDump(session);
          await writeDump(file, parts, options.redact === true);
          const missing = parts.flatMap(({ name, data }) =>
            isMissing(data) ? [{ name, why: data.missing }] : [],
          );
          const summary = { file, parts: parts.map(({ name }) => name), missing };
          const text = () =>
            [
              `${file}: ${summary.parts.join(", ")}`,
              ...missing.map(({ name, why }) => `not in it: ${name}: ${why}`),
              ...(options.redact
                ? []
                : [
                    "names, ids and addresses are in it; leave them out with --redact before you give it away",
                  ]),
            ].join("\n");
          // Standard output has the archive: the summary would be part of it.
          if (file === "-") process.stderr.write(`${text()}\n`);
          else show(options.output, summary, text);
        });
      },
    );
}
