import { createHash } from "node:crypto";

/** A document that is the same for everybody until what is served changes: made once, sent often. */
export interface Shown {
  contentType: string;
  text: string;
  /** With the quotes that belong to it. */
  etag: string;
}

/** A document, ready to be sent. */
export function shown(document: unknown, contentType = "application/json"): Shown {
  const text = JSON.stringify(document);
  return { contentType, text, etag: `"${digest(text)}"` };
}

/** A short name for a text, as tags and openapi's hashes are. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32).toUpperCase();
}
