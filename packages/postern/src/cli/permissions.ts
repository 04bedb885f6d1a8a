import { Command, Option } from "commander";
import { type Format, isText, print, show, withOutput } from "./output.ts";

/** `postern permissions`: the least role of each identity. */
export function command(): Command {
  return withOutput(new Command("permissions"))
    .description(
      "print the least role of each identity: all actions that the code asks Azure for, and no other",
    )
    .argument("[identity]", "such as management, guest, cluster-api or agent (default: all)")
    .addOption(
      new Option("--format <format>", "what reads the text")
        .choices(["json", "az", "bicep", "terraform"])
        .default("json"),
    )
    .option("--scope <id>", "where it may be given: the id of a subscription or resource group")
    .addHelpText(
      "after",
      `
A role is an upper bound for one identity and one scope; docs/reference/permissions.md says what each action is for.

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
        // The text is for a tool: folding it would break it.
        if (isText(options.output)) print(formatRoles(roles, options.format));
        else show(options.output, { roles }, () => "");
      },
    );
}
