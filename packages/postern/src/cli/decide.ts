import { type Format, show, withOutput } from "@postern/core/process/output.ts";
import type { Command } from "commander";
import { notRead, table, withConnection } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

type DecideOptions = ConnectOptions & { output: Format; message?: string };

/** What `approve` and `reject` have in common: without a name they list the pending connections. */
export function decide(
  command: Command,
  status: "Approved" | "Rejected",
  examples: readonly string[],
): Command {
  return withOutput(withConnection(command))
    .argument(
      "[endpoint]",
      "cluster of the endpoint, as NAME or NAMESPACE/NAME; or name or id of the endpoint or its connection (default: list pending connections)",
    )
    .option("--message <text>", "message for the owner of the endpoint")
    .addHelpText(
      "after",
      `
Exit code 0: the connection was updated, or all pending connections are listed. 3: some connections could not be read.

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
                ? `No pending connections${unread.length > 0 ? " in what could be read" : ""}.`
                : table(
                    ["ENDPOINT", "CLUSTER", "LINK SERVICE", "MESSAGE"],
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
            `Connection of ${decided.endpoint} to ${decided.service}: ${status}.`,
            ...(status === "Rejected"
              ? [
                  "It cannot be approved any more: the owner of the endpoint has to delete and recreate it.",
                ]
              : []),
          ].join("\n"),
        );
      });
    });
}
