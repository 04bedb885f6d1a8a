import { packageVersion } from "@postern/core/process/package-version.ts";
import { goOnUnheard } from "@postern/core/process/run-main.ts";
import { Command } from "commander";
import { withConnection } from "../cli/output.ts";
import type { ConnectOptions } from "../cli/session.ts";
import { type InstallFlags, withInstallOptions } from "./flags.ts";
import { type RunFlags, withRunOptions } from "./options.ts";

/** `postern upgrade`: an installation, to the version of this program. */
export function command(): Command {
  return withRunOptions(withInstallOptions(withConnection(new Command("upgrade"))))
    .description("Upgrade an installation to this version, or change its settings")
    .addHelpText(
      "after",
      `
Settings that are not given stay as they were, except an image with a tag or digest: another version needs --image. To roll back, run the upgrade of the older version: kinds stay as they are.

Examples:
  $ postern upgrade --image registry.example.com/postern:v0.2.0
  $ postern upgrade --dry-run`,
    )
    .action(async (options: ConnectOptions & InstallFlags & RunFlags) => {
      const [{ installationOf, install, settingsBefore }, { withCluster }, { checkBeforeInstall }] =
        await Promise.all([
          import("./run-install.ts"),
          import("./connected.ts"),
          import("./before-install.ts"),
        ]);
      await withCluster(options, async (surroundings, session) => {
        const { kube, signal } = surroundings;
        const before = await settingsBefore(kube, options.namespace, signal);
        const version = packageVersion();
        const installation = await installationOf(options, version, before);
        await checkBeforeInstall(session, installation.settings, surroundings.print);
        if (!options.dryRun) goOnUnheard();
        await install(
          installation,
          { ...options, version, timeoutMs: options.timeout },
          surroundings,
        );
      });
    });
}
