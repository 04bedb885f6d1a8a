import { redact } from "@postern/core/redact.ts";
import type { ApplianceLog } from "../appliance/context.ts";

/** What is logged. */
export type LogLevel = "debug" | "info" | "warn";

const order = ["debug", "info", "warn", "error"] as const;

/**
 * Lines for a boot log, on standard error: the journal has the time already. It is no package, because what the agent may
 * take to start is counted.
 */
export function bootLog(
  level: LogLevel,
  format: "text" | "json",
  write: (line: string) => void = (line) => process.stderr.write(line),
): ApplianceLog & { error(fields: object, message: string): void } {
  const at = (each: (typeof order)[number]) => (fields: object, message: string) => {
    if (order.indexOf(each) < order.indexOf(level)) return;
    const line =
      format === "json"
        ? JSON.stringify({ level: each, message, ...fields })
        : [`${each}: ${message}`, ...Object.entries(fields).map(pair)].join(" ");
    write(`${redact(line)}\n`);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function pair([name, value]: [string, unknown]): string {
  return `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
}
