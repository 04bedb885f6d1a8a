import { Command, Option } from "commander";
import { print } from "./output.ts";

/** `postern permissions`: the least role of each identity. */
export function command(): Command {
  return new Command("permissions")
    .description(
      "print the least role of each identity: all actions that the code asks Azure for, and no other",
    )
    .argument("[identity]", "such as management, guest, cluster-api or agent (default: all)")
    .addOption(
      new Option("--format <format>", "for whom it is written")
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
        options: { format: "json" | "az" | "bicep" | "terraform"; scope?: string },
      ) => {
        const { rolesFor, formatRoles } = await import("./roles.ts");
        print(formatRoles(rolesFor(identity, options.scope), options.format));
      },
    );
}
