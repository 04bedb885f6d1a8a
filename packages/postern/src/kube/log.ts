import { redactData } from "@postern/core/redact.ts";
import { type Logger, pino, stdTimeFunctions } from "pino";

/** A logger: constant message, variable fields. */
export type Log = Pick<Logger, "debug" | "info" | "warn" | "error"> & {
  child(fields: Record<string, unknown>): Log;
};

export type LogFormat = "json" | "text";
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** Fields hold text of tenants: one of them must not fill the disk, or hide what else happened. */
const longestText = 4096;
const longestLine = 65_536;

/** Make the log of a process: JSON lines for machines, plain lines for people; secrets taken out of both. */
export function makeLog(
  options: { format?: LogFormat; level?: LogLevel; write?: (line: string) => void } = {},
): Log {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const asLine = options.format === "text" ? asText : asJson;
  return pino(
    {
      level: options.level ?? "info",
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    {
      write(line: string) {
        const fields = redactData(JSON.parse(line), longestText) as Fields;
        const text = asLine(fields);
        write(text.length <= longestLine ? text : asLine(shortOf(fields)));
      },
    },
  );
}

type Fields = Record<string, unknown>;

/** What is left of a line that is too long: what identifies it. */
function shortOf({ time, level, msg, controller, key, reconcileID, reason }: Fields): Fields {
  return { level, time, controller, key, reconcileID, reason, shortened: true, msg };
}

/** A log that says nothing, for tests. */
export const silentLog: Log = pino({ level: "silent" });

function asJson(fields: Fields): string {
  return `${JSON.stringify(fields)}\n`;
}

function asText({ time, level, msg, err, ...fields }: Fields): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== undefined);
  const parts = shown.map(([name, value]) =>
    typeof value === "string" ? `${name}=${value}` : `${name}=${JSON.stringify(value)}`,
  );
  const problem = err as { message?: string; stack?: string } | undefined;
  if (problem) parts.push(`error=${JSON.stringify(problem.message)}`);
  return `${time} ${String(level).toUpperCase().padEnd(5)} ${msg}${parts.length ? `  ${parts.join(" ")}` : ""}\n`;
}
