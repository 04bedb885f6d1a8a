import { type Format, withOutput } from "@postern/core/process/output.ts";
import { packageVersion } from "@postern/core/process/package-version.ts";
import { Command } from "commander";
import { withConnection } from "../cli/output.ts";
import type { ConnectOptions } from "../cli/session.ts";
import { type InstallFlags, withInstallOptions } from "./flags.ts";
import { type RunFlags, withRunOptions } from "./options.ts";

/** `postern upgrade`: an installation, to the version of this program. */
export function command(): Command {
  return withRunOptions(withInstallOptions(withOutput(withConnection(new Command("upgrade")))))
    .description("Upgrade an installation to this version, or change its settings")
    .addHelpText(
      "after",
      `
Settings that are not given stay as they were, except an image with a tag or digest: another version needs --image. To roll back, run the upgrade of the older version: kinds stay as they are.

Examples:
  $ postern upgrade --image registry.example.com/postern:v0.2.0
  $ postern upgrade --dry-run`,
    )
    .action(async (options: ConnectOptions & InstallFlags & RunFlags & { output: Format }) => {
      const [{ installationOf, settingsBefore }, { installOn, withCluster }] = await Promise.all([
        import("./run-install.ts"),
        import("./connected.ts"),
      ]);
      await withCluster(options, async (surroundings, session) => {
        const { kube, signal } = surroundings;
        const before = await settingsBefore(kube, options.namespace, signal);
        const installation = await installationOf(options, packageVersion(), before);
        await installOn(session, surroundings, installation, options);
      });
    });
}
