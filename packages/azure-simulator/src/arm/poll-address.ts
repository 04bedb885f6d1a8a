import { hash } from "node:crypto";
import { Refusal } from "./refusal.ts";

/** The parts of a poll address that make it one that was given out: when the operation began, and a signature. */
export function signPoll(secret: string, path: string, startedAt: number): string {
  const mark = markOf(secret, path, String(startedAt));
  return `&t=${startedAt}&c=simulator&s=${mark.slice(0, 24)}&h=${mark.slice(24)}`;
}

/**
 * Refuse a poll address that somebody changed. One without a signature is let through: the refusal of a write that
 * came too early names its operation without one.
 */
export function checkPoll(secret: string, path: string, query: URLSearchParams): void {
  const [t, c, s, h] = ["t", "c", "s", "h"].map((name) => query.get(name));
  if (t === null && c === null && s === null && h === null) return;
  const mark = markOf(secret, path, t ?? "");
  if (c === "simulator" && s === mark.slice(0, 24) && h === mark.slice(24)) return;
  throw new Refusal(
    400,
    "InvalidOperationUri",
    "The URI of the operation is not one that was given out: its signature does not match.",
    { by: "gateway" },
  );
}

function markOf(secret: string, path: string, startedAt: string): string {
  return hash("sha256", `${secret}\n${path.toLowerCase()}\n${startedAt}`, "base64url");
}
