import { type Logger, pino, stdTimeFunctions } from "pino";
import { redact } from "../model/redact.ts";

/** A logger: constant message, variable fields. */
export type Log = Pick<Logger, "debug" | "info" | "warn" | "error"> & {
  child(fields: Record<string, unknown>): Log;
};

export type LogFormat = "json" | "text";
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

const secretKeys = [
  "token",
  "access_token",
  "clientSecret",
  "client_secret",
  "client_assertion",
  "password",
  "authorization",
  "Authorization",
  "certificate",
  "privateKey",
  "cert",
  "key",
];
/** Make the log of a process: JSON lines for machines, plain lines for people; secrets taken out of both. */
export function makeLog(
  options: { format?: LogFormat; level?: LogLevel; write?: (line: string) => void } = {},
): Log {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const format = options.format ?? "json";
  return pino(
    {
      level: options.level ?? "info",
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      redact: {
        paths: secretKeys.flatMap((key) => [key === "key" ? "*.key" : key, `*.${key}`]),
        censor: "[redacted]",
      },
    },
    { write: (line: string) => write(redact(format === "json" ? line : asText(line))) },
  );
}

/** A log that says nothing, for tests. */
export const silentLog: Log = pino({ level: "silent" });

function asText(line: string): string {
  const { time, level, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const parts = Object.entries(fields).map(([name, value]) =>
    typeof value === "string" ? `${name}=${value}` : `${name}=${JSON.stringify(value)}`,
  );
  const problem = err as { message?: string; stack?: string } | undefined;
  if (problem) parts.push(`error=${JSON.stringify(problem.message)}`);
  return `${time} ${String(level).toUpperCase().padEnd(5)} ${msg}${parts.length ? `  ${parts.join(" ")}` : ""}\n`;
}
