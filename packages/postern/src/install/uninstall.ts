import { goOnUnheard } from "@postern/core/process/run-main.ts";
import { Command } from "commander";
import { withConnection } from "../cli/output.ts";
import type { ConnectOptions } from "../cli/session.ts";

/** `postern uninstall`: an installation, removed. */
export function command(): Command {
  return withConnection(new Command("uninstall"))
    .description("remove an installation, after its clusters")
    .option("-n, --namespace <name>", "namespace of the installation", "postern")
    .option("--force", "remove it also while clusters exist; what they have in Azure stays")
    .addHelpText(
      "after",
      `
The Namespace and the kinds stay: with them everything in them would be deleted.

Example:
  $ postern uninstall`,
    )
    .action(async (options: ConnectOptions & { namespace: string; force?: boolean }) => {
      const [{ uninstall }, { withCluster }] = await Promise.all([
        import("./run-uninstall.ts"),
        import("./connected.ts"),
      ]);
      await withCluster(options, async (surroundings) => {
        goOnUnheard();
        await uninstall({ ...options, force: options.force === true }, surroundings);
      });
    });
}
