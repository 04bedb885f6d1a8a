import type { Explained, Failure } from "./failure.ts";

/** A text that is not an IP address or an address range. */
export class CidrError extends Error implements Explained {
  override readonly name = "CidrError";
  readonly code = "InvalidCidr";
  readonly text: string;

  constructor(text: string, why: string, remedy: string) {
    const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
    super(`${shown} is ${why}: ${remedy}`);
    this.text = text;
  }

  explain(): Failure {
    return { reason: this.code, message: this.message, terminal: true };
  }
}
