import type { Command } from "commander";
import { type Format, notRead, show, table, withConnection, withOutput } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

type DecideOptions = ConnectOptions & { output: Format; message?: string };

/** What `approve` and `reject` have in common: without a name they list what waits. */
export function decide(
  command: Command,
  status: "Approved" | "Rejected",
  examples: readonly string[],
): Command {
  return withOutput(withConnection(command))
    .argument(
      "[endpoint]",
      "the cluster of the endpoint, as NAME or NAMESPACE/NAME; or the name or id of the endpoint or its connection (default: list what waits)",
    )
    .option("--message <text>", "what its owner is told")
    .addHelpText(
      "after",
      `
Exit code 0: it is decided, or all that waits is listed. 3: some of what waits could not be read.

Examples:
${examples.map((each) => `  $ ${each}`).join("\n")}`,
    )
    .action(async (name: string | undefined, options: DecideOptions) => {
      const [{ withSession }, { connectionsHere, waiting, write }] = await Promise.all([
        import("./session.ts"),
        import("./run-decide.ts"),
      ]);
      await withSession(options, async (session) => {
        const here = await connectionsHere(session);
        if (name === undefined) {
          const { unread } = here;
          const pending = waiting(here.connections);
          show(options.output, { waiting: pending, unread }, () =>
            [
              pending.length === 0
                ? `no connection ${unread.length > 0 ? "that can be seen " : ""}waits for a decision`
                : table(
                    ["ENDPOINT", "CLUSTER", "LINK SERVICE", "ASKS"],
                    pending.map((each) => [
                      each.endpoint,
                      each.cluster ?? "-",
                      each.service,
                      each.message,
                    ]),
                  ),
              ...notRead(unread),
            ].join("\n"),
          );
          if (unread.length > 0) process.exitCode = 3;
          return;
        }
        const decided = await write(session, here, name, status, options.message);
        show(options.output, decided, () =>
          [
            `${decided.endpoint} is ${status} by ${decided.service}`,
            ...(status === "Rejected"
              ? ["its owner must delete and recreate it before it can be let in"]
              : []),
          ].join("\n"),
        );
      });
    });
}
