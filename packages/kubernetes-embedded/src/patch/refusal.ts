import type { Cause, Stored } from "../resource.ts";

/** Why a patch cannot be carried out, in the words of the API. An empty reason is one that the API server leaves out. */
export interface Refusal {
  code: number;
  reason: string;
  message: string;
  causes?: Cause[];
}

/** What came of a patch: the object as it is after it, or why it was refused. */
export type Patched = { object: Stored } | { refused: Refusal };

/** The patch itself cannot be read. */
export function unreadable(message: string): { refused: Refusal } {
  return { refused: { code: 400, reason: "BadRequest", message } };
}

/** The patch can be read but not carried out on this object. The API server does not say why, so neither do we. */
export function unprocessable(): { refused: Refusal } {
  const message = "the server rejected our request due to an error in our request";
  return { refused: { code: 422, reason: "Invalid", message } };
}

/** Whether a value is a JSON object. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An error that the API server did not foresee: it tells it as it is, without a reason. */
export function unexplained(message: string): Refusal {
  return { code: 500, reason: "", message };
}

/** Carries a refusal out of the depth of a patch. It does not leave this folder. */
export class Unpatchable extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}
