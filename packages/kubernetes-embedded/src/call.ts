import type { Clock } from "@postern/core/clock.ts";
import type { Status } from "./answers.ts";
import type { VersionedObject } from "./conversion.ts";
import type { Asker } from "./kinds/reviews.ts";
import type { Registry } from "./registry.ts";
import type { Resource } from "./resource.ts";
import type { Store } from "./store.ts";
import type { Tokens } from "./tokens.ts";

/** What the verbs work on. */
export interface World {
  store: Store;
  registry: Registry;
  clock: Clock;
  tokens: Tokens;
}

/** A request for a resource, as plain data. */
export interface Call {
  resource: Resource;
  namespace?: string;
  name?: string;
  subresource?: string;
  query: URLSearchParams;
  contentType: string;
  userAgent: string;
  asker: Asker;
  /** The body as it was sent, and as it was read. */
  text: string;
  body: unknown;
}

/** What is answered. How it is written (as JSON, as a table) is for the server to say. */
export type Answer = { code: number; warnings?: readonly string[] } & (
  | { object: VersionedObject; resource: Resource }
  | { list: List; resource: Resource }
  | { status: Status }
  | { document: object }
);

/** A list of objects, or a page of one. */
export interface List {
  items: readonly VersionedObject[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}
