import { type Format, show, withOutput } from "@postern/core/process/output.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import { Command } from "commander";
import { withConnection } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

/** `postern dump`: one archive for a bug report. */
export function command(): Command {
  return withOutput(withConnection(new Command("dump")))
    .description(
      "Collect objects, Azure resources, plans and findings in one archive; Secrets are not read",
    )
    .option(
      "--redact",
      "replace names, ids and addresses with pseudonyms, the same one for the same value",
    )
    .option(
      "--file <file>",
      "output file; - for standard output (default: postern-dump-TIME.tar.gz)",
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
              ...missing.map(({ name, why }) => `Missing: ${name}: ${messageInSentences(why)}`),
              ...(options.redact
                ? []
                : [
                    "The archive contains names, ids and addresses. To replace them before you share it, use --redact.",
                  ]),
            ].join("\n");
          // The archive goes to standard output: the summary would become part of it.
          if (file === "-") process.stderr.write(`${text()}\n`);
          else show(options.output, summary, text);
        });
      },
    );
}
