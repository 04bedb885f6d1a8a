import { type Format, isText, print, show, withOutput } from "@postern/core/process/output.ts";
import { Command, Option } from "commander";

/** `postern permissions`: the least-privilege Azure role of each identity. */
export function command(): Command {
  return withOutput(new Command("permissions"))
    .description(
      "Print the least-privilege Azure role of each identity: the actions that Postern uses, and no others",
    )
    .argument(
      "[identity]",
      "identity, such as management, guest, cluster-api or agent (default: all)",
    )
    .addOption(
      new Option("--format <format>", "format of the role definition")
        .choices(["json", "az", "bicep", "terraform"])
        .default("json"),
    )
    .option("--scope <id>", "assignable scope: id of a subscription or resource group")
    .addHelpText(
      "after",
      `
Each role is for one identity at one scope. docs/reference/permissions.md lists what each action is for.

Examples:
  $ postern permissions management --format az --scope /subscriptions/SUBSCRIPTION/resourceGroups/mc
  $ postern permissions --format bicep > roles.bicep`,
    )
    .action(
      async (
        identity: string | undefined,
        options: {
          output: Format;
          format: "json" | "az" | "bicep" | "terraform";
          scope?: string;
        },
      ) => {
        const { rolesFor, formatRoles } = await import("./roles.ts");
        const roles = rolesFor(identity, options.scope);
        // The text is read by a tool, so it must not be folded.
        if (isText(options.output)) print(formatRoles(roles, options.format));
        else show(options.output, { roles }, () => "");
      },
    );
}
