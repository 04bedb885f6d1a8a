import { counted } from "@postern/core/counted.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import { Command } from "commander";
import type { Finding } from "../view/checks/check.ts";
import { checkedAt } from "../view/health/times.ts";
import { type Format, paint, show, withConnection, withOutput } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

interface DoctorOptions extends ConnectOptions {
  output: Format;
  beforeInstall?: boolean;
  as?: string;
  allowUnread?: boolean;
}

/** `postern doctor`: checks for common misconfigurations. */
export function command(): Command {
  return withOutput(withConnection(new Command("doctor")))
    .description("Check for common misconfigurations, and show how to fix what is found")
    .option("--before-install", "run only the checks that must pass before Postern is installed")
    .option(
      "--as <identity>",
      "check the Azure permissions of operator, or of a client id or object id, by its role assignments (default: those of this credential)",
    )
    .option("--allow-unread", "exit with 0 even if something could not be read")
    .addHelpText(
      "after",
      `
The permissions checked are those of the credential that runs this command. With --as operator they are those that the operator's
role assignments give; to read them takes the permission Microsoft.Authorization/roleAssignments/read.
Exit code 0: no problems, or only warnings. 3: there are problems, or something could not be checked.

Examples:
  $ postern doctor --before-install
  $ postern doctor --as operator
  $ postern doctor -o wide`,
    )
    .action(async (options: DoctorOptions) => {
      const [{ withSession }, { diagnose }] = await Promise.all([
        import("./session.ts"),
        import("./run-doctor.ts"),
      ]);
      await withSession(options, async (session) => {
        const observedAt = new Date().toISOString();
        const found = await diagnose(session, options);
        show(options.output, { observedAt, findings: found }, (wide) =>
          [render(found, wide), paint("grey", checkedAt(observedAt))].join("\n"),
        );
        const failing = options.allowUnread ? ["wrong"] : ["wrong", "not looked at"];
        if (found.some(({ verdict }) => failing.includes(verdict))) process.exitCode = 3;
      });
    });
}

const symbols: Record<Finding["verdict"], () => string> = {
  ok: () => paint("green", "✓"),
  warning: () => paint("yellow", "!"),
  wrong: () => paint("red", "✗"),
  "not looked at": () => paint("grey", "-"),
};

/** One line for each check that passes, and every finding of the others. */
function render(all: readonly Finding[], wide: boolean): string {
  const names = [...new Set(all.map(({ check }) => check))];
  const lines = names.flatMap((name) => {
    const own = all.filter(({ check }) => check === name);
    const bad = own.filter(({ verdict }) => verdict !== "ok");
    const listed = wide ? own : bad;
    const head =
      bad.length === 0
        ? [`${symbols.ok()} ${name}${own.length > 1 ? ` (${own.length})` : ""}`]
        : [];
    return [
      ...head,
      ...listed.flatMap(({ verdict, about, found, remedy }) => [
        `${symbols[verdict]()} ${name}: ${about}`,
        `    ${messageInSentences(found)}`,
        ...(remedy ? [`    Remedy: ${remedy}`] : []),
      ]),
    ];
  });
  const count = (verdict: Finding["verdict"]) =>
    all.filter((each) => each.verdict === verdict).length;
  const [wrong, warnings, hidden] = [count("wrong"), count("warning"), count("not looked at")];
  const end = [
    ...(wrong > 0 ? [counted(wrong, "problem")] : []),
    ...(warnings > 0 ? [counted(warnings, "warning")] : []),
    ...(hidden > 0 ? [`${hidden} could not be checked`] : []),
  ].join(", ");
  return [...lines, end ? `${end}.` : "No problems found."].join("\n");
}
