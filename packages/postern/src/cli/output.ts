import type { State, Unread } from "@postern/core/dashboard/picture.ts";
import { terminalWidth, visible } from "@postern/core/process/fold.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import type { Command } from "commander";

/** The options by which a command finds a cluster. */
export function withConnection(command: Command): Command {
  return command
    .option(
      "--kubeconfig <file>",
      "kubeconfig to use (default: KUBECONFIG, the pod's service account, ~/.kube/config)",
    )
    .option("--context <name>", "context in that kubeconfig");
}

/** What could not be read, one line for each kind and each subscription: nothing may be concluded from its absence. */
export function notRead(unread: readonly Unread[]): string[] {
  const groups = Map.groupBy(unread, ({ what, scope }) =>
    scope === undefined ? what : subscriptionIn(scope),
  );
  return [...groups].flatMap(([subscription, all]) => {
    const [first] = all;
    if (first === undefined) return [];
    const scopes = new Set(all.map(({ scope }) => scope));
    const types = [...new Set(all.map(({ type }) => type))].join(", ");
    const where =
      scopes.size === 1 ? first.scope : `${scopes.size} places of subscription ${subscription}`;
    const what = all.length === 1 ? first.what : `${types} in ${where}`;
    const { why, remedy } = first;
    return paint(
      "yellow",
      `Not read: ${what}: ${messageInSentences(why)}${remedy ? ` ${remedy}` : ""}`,
    );
  });
}

/** The subscription of a place, which is one or is in one. */
function subscriptionIn(scope: string): string {
  return scope.toLowerCase().replace(/^\/subscriptions\/([^/]+).*/, "$1");
}

const colours = { green: 32, yellow: 33, red: 31, grey: 90, blue: 34, bold: 1 } as const;

/** A text in a colour, on a terminal that shows colours to someone who wants them. */
export function paint(colour: keyof typeof colours, text: string): string {
  return wantsColour() ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text;
}

function wantsColour(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
}

const symbols: Record<State, [keyof typeof colours, string]> = {
  ok: ["green", "✓"],
  working: ["blue", "…"],
  pending: ["yellow", "?"],
  degraded: ["yellow", "!"],
  broken: ["red", "✗"],
  absent: ["red", "✗"],
  unknown: ["grey", "–"],
};

/** A state as one character. */
export function mark(state: State): string {
  const [colour, character] = symbols[state];
  return paint(colour, character);
}

/** Columns side by side, as kubectl has them; where they do not fit, one below the other. The last one is not padded. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width = terminalWidth(),
): string {
  const widths = header.map((name, at) =>
    Math.max(name.length, ...rows.map((row) => visible(row[at] ?? ""))),
  );
  const padded = (text: string, to = 0) => text + " ".repeat(Math.max(0, to - visible(text)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : padded(cell, widths[at])))
      .join("   ")
      .trimEnd();
  const lines = [header, ...rows].map(line);
  if (width === undefined || lines.every((each) => visible(each) <= width)) return lines.join("\n");
  const names = Math.max(...header.map(visible));
  return rows
    .map((row) => header.map((name, at) => `${padded(name, names)} ${row[at] ?? ""}`).join("\n"))
    .join("\n\n");
}
