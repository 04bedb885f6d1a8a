import { counted } from "@postern/core/counted.ts";
import { type Format, show, withOutput } from "@postern/core/process/output.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import { Command } from "commander";
import type { Finding } from "../view/checks/check.ts";
import { checkedAt } from "../view/health/times.ts";
import { paint, withConnection } from "./output.ts";
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
        const failing = options.allowUnread ? ["failed"] : ["failed", "not checked"];
        if (found.some(({ result }) => failing.includes(result))) process.exitCode = 3;
      });
    });
}

const symbols: Record<Finding["result"], () => string> = {
  ok: () => paint("green", "✓"),
  warning: () => paint("yellow", "!"),
  failed: () => paint("red", "✗"),
  "not checked": () => paint("grey", "-"),
};

/** One line for each check that passes, and every finding of the others. */
function render(all: readonly Finding[], wide: boolean): string {
  const names = [...new Set(all.map(({ check }) => check))];
  const lines = names.flatMap((name) => {
    const own = all.filter(({ check }) => check === name);
    const bad = own.filter(({ result }) => result !== "ok");
    const listed = wide ? own : bad;
    const head =
      bad.length === 0
        ? [`${symbols.ok()} ${name}${own.length > 1 ? ` (${own.length})` : ""}`]
        : [];
    return [
      ...head,
      ...listed.flatMap(({ result, about, found, remedy }) => [
        `${symbols[result]()} ${name}: ${about}`,
        `    ${messageInSentences(found)}`,
        ...(remedy ? [`    Remedy: ${remedy}`] : []),
      ]),
    ];
  });
  const count = (result: Finding["result"]) => all.filter((each) => each.result === result).length;
  const [failed, warnings, hidden] = [count("failed"), count("warning"), count("not checked")];
  const end = [
    ...(failed > 0 ? [counted(failed, "problem")] : []),
    ...(warnings > 0 ? [counted(warnings, "warning")] : []),
    ...(hidden > 0 ? [`${hidden} could not be checked`] : []),
  ].join(", ");
  return [...lines, end ? `${end}.` : "No problems found."].join("\n");
}
