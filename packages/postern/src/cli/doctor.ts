import { Command } from "commander";
import type { Finding } from "../view/checks/check.ts";
import { type Format, paint, show, withConnection, withOutput } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

interface DoctorOptions extends ConnectOptions {
  output: Format;
  beforeInstall?: boolean;
  allowUnread?: boolean;
}

/** `postern doctor`: every known trap, looked for. */
export function command(): Command {
  return withOutput(withConnection(new Command("doctor")))
    .description("look for every known trap, and say what to do about what is found")
    .option("--before-install", "only what must hold before anything is installed")
    .option("--allow-unread", "exit with 0 also where something could not be read")
    .addHelpText(
      "after",
      `
Rights are those of the credential that it runs by: run it by the operator's to learn what the operator lacks.
Exit code 0: nothing is wrong. 3: something is, or could not be looked at.

Examples:
  $ postern doctor --before-install
  $ postern doctor -o wide`,
    )
    .action(async (options: DoctorOptions) => {
      const [{ withSession }, { diagnose }] = await Promise.all([
        import("./session.ts"),
        import("./run-doctor.ts"),
      ]);
      await withSession(options, async (session) => {
        const found = await diagnose(session, options.beforeInstall === true);
        show(options.output, { findings: found }, (wide) => render(found, wide));
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

/** One line for each check that is well, and every finding of the others. */
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
        `    ${found}`,
        ...(remedy ? [`    do this: ${remedy}`] : []),
      ]),
    ];
  });
  const count = (verdict: Finding["verdict"]) =>
    all.filter((each) => each.verdict === verdict).length;
  const [wrong, warnings, hidden] = [count("wrong"), count("warning"), count("not looked at")];
  const end = [
    ...(wrong > 0 ? [`${wrong} wrong`] : []),
    ...(warnings > 0 ? [`${warnings} to look at`] : []),
    ...(hidden > 0 ? [`${hidden} not looked at: of those nothing is known`] : []),
  ].join(", ");
  return [...lines, end || "nothing is wrong"].join("\n");
}
