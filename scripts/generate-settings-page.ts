// Writes docs/reference/settings.md from the options of the programs that go on running; with --check it only compares.
import { readFileSync, writeFileSync } from "node:fs";
import { command as local } from "@postern/local/command.ts";
import type { Option } from "commander";
import { options as agentOptions, formatOption } from "postern/agent/options.ts";
import { command as operator } from "postern/operator/command.ts";
import { variables } from "./environment-variables.ts";

const page = new URL("../docs/reference/settings.md", import.meta.url);

type Row = readonly [name: string, usual: string, does: string];

/** The page as it should be. */
export function settingsPage(): string {
  const environment = Object.entries(variables).map(
    ([about, all]) =>
      `### ${about}\n\n${table(
        ["variable", "what it does"],
        all.map(({ name, does }) => [code(name), does]),
      )}`,
  );
  return `# Settings

Generated from the code by \`npm run generate\`. Postern is configured by flags, environment variables, and annotations on objects, which the
guides list. The only configuration file is that of \`--tenant-policy\` ([its form](../security.md#recipe-a-management-cluster-for-several-teams)). The flags of every other command are in [commands](commands.md).

## Flags of \`postern operator\`

${flags(operator().options.map(rowOf))}

## Flags of \`postern local\`

${flags(local().options.map(rowOf))}

## Flags of \`postern agent\`

Flags marked "run" belong to \`postern agent run\` only, those marked "run, register" to these two, and all others to every subcommand.

${flags(Object.entries(agentOptions).map(rowOfAgent))}

## Variables of the environment

The operator and all commands that read Azure use the same variables. In local mode, the kubeconfig contains everything about Azure and Kubernetes,
and \`KUBECONFIG\` is enough; with \`--azure real\` the variables below apply. \`HTTPS_PROXY\`, \`HTTP_PROXY\` and \`NO_PROXY\` apply
to Azure, and \`NODE_EXTRA_CA_CERTS\` to all connections, as usual in Node.

${environment.join("\n\n")}
`;
}

function rowOf(option: Option): Row {
  const { flags, description, defaultValue, defaultValueDescription, argChoices } = option;
  // Where the program decides by itself, the description says how.
  const [, does = description, said = ""] = /^(.*) \(default: (.*)\)$/.exec(description) ?? [];
  const known =
    defaultValueDescription ?? (typeof defaultValue === "boolean" ? undefined : defaultValue);
  return [flags, known === undefined ? said : code(String(known)), withChoices(does, argChoices)];
}

function rowOfAgent(option: [string, (typeof agentOptions)[string]]): Row {
  const { help, usual, shown, choices, of, needed } = option[1];
  const value = usual === undefined ? (shown ?? (needed ? "needed" : "")) : code(usual);
  const does = withChoices(help, choices);
  return [formatOption(option), value, of === undefined ? does : `${does} (${of.join(", ")})`];
}

function withChoices(does: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? does : `${does}; one of ${choices.map(code).join(", ")}`;
}

function flags(rows: readonly Row[]): string {
  return table(
    ["flag", "default", "what it does"],
    rows.map(([name, ...rest]) => [code(name), ...rest]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) {
  const wanted = settingsPage();
  if (!process.argv.includes("--check")) writeFileSync(page, wanted);
  else if (readFileSync(page, "utf8") !== wanted) {
    console.error("docs/reference/settings.md is behind: run npm run generate");
    process.exitCode = 1;
  }
}
