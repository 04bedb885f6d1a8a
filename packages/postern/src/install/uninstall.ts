import { type Format, show, withOutput } from "@postern/core/process/output.ts";
import { goOnUnheard } from "@postern/core/process/run-main.ts";
import { Command } from "commander";
import { withConnection } from "../cli/output.ts";
import type { ConnectOptions } from "../cli/session.ts";

type UninstallOptions = ConnectOptions & { output: Format; namespace: string; force?: boolean };

/** `postern uninstall`: an installation, removed. */
export function command(): Command {
  return withOutput(withConnection(new Command("uninstall")))
    .description("Remove an installation, after its clusters are deleted")
    .option("-n, --namespace <name>", "namespace of the installation", "postern")
    .option("--force", "remove it even if clusters exist; their Azure resources remain")
    .addHelpText(
      "after",
      `
The Namespace and the kinds are kept, because deleting them would delete everything in them.

Example:
  $ postern uninstall`,
    )
    .action(async (options: UninstallOptions) => {
      const [{ uninstall }, { withCluster }] = await Promise.all([
        import("./run-uninstall.ts"),
        import("./connected.ts"),
      ]);
      await withCluster(options, async (surroundings) => {
        goOnUnheard();
        const flags = { ...options, force: options.force === true };
        // People have read it line by line.
        show(options.output, await uninstall(flags, surroundings), () => "");
      });
    });
}
