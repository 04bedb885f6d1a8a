import type { Command } from "commander";
import { type Format, print, show, table, withConnection, withOutput } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

type DecideOptions = ConnectOptions & { output: Format; message?: string };

/** What `approve` and `reject` have in common: without a name they list what waits. */
export function decide(command: Command, status: "Approved" | "Rejected"): Command {
  return withOutput(withConnection(command))
    .argument(
      "[endpoint]",
      "the name or id of the endpoint, or the name of its connection (default: list what waits)",
    )
    .option("--message <text>", "what its owner is told")
    .action(async (name: string | undefined, options: DecideOptions) => {
      const [{ withSession }, { connectionsHere, waiting, write }] = await Promise.all([
        import("./session.ts"),
        import("./run-decide.ts"),
      ]);
      await withSession(options, async (session) => {
        const all = await connectionsHere(session);
        if (name === undefined) {
          const pending = waiting(all);
          show(options.output, { waiting: pending }, () =>
            pending.length === 0
              ? "no connection waits for a decision"
              : table(
                  ["ENDPOINT", "LINK SERVICE", "ASKS"],
                  pending.map(({ endpoint, service, message }) => [endpoint, service, message]),
                ),
          );
          return;
        }
        const decided = await write(session, all, name, status, options.message);
        show(
          options.output,
          decided,
          () => `${decided.endpoint} is ${status} by ${decided.service}`,
        );
        if (status === "Rejected" && options.output === "text")
          print("its owner must delete it and make it anew before it can be let in");
      });
    });
}
