import { type Command, Option } from "commander";
import { stringify } from "yaml";
import { fold, terminalWidth } from "./fold.ts";
import { clearProgress } from "./progress.ts";

export type Format = "text" | "wide" | "json" | "yaml";

/** The option that every command which shows something has. */
export function withOutput(command: Command): Command {
  return command.addOption(
    new Option("-o, --output <format>", "output format")
      .choices(["text", "wide", "json", "yaml"])
      .default("text"),
  );
}

/** Print the result of a command, as data or as text. */
export function show(format: Format, data: unknown, text: (wide: boolean) => string): void {
  if (format === "json") print(JSON.stringify(data, undefined, 2));
  else if (format === "yaml") print(stringify(data).trimEnd());
  else print(fold(text(format === "wide"), terminalWidth()));
}

/** Whether the format is text, for people. */
export function isText(format: Format): boolean {
  return format === "text" || format === "wide";
}

/** Write a text and a line break. */
export function print(text: string): void {
  clearProgress();
  process.stdout.write(text === "" ? "" : `${text}\n`);
}
