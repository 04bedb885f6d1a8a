import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inject, test } from "vitest";

const page = join(import.meta.dirname, "../../docs/reference/local-kubernetes.md");

/** What differs on purpose between the real kube-apiserver and the embedded API: a row of the page. */
export interface Difference {
  id: string;
  real: string;
  embedded: string;
}

/** The table of `docs/reference/local-kubernetes.md`. */
export function listedDifferences(): Difference[] {
  const rows = readFileSync(page, "utf8").matchAll(/^\| `([a-z0-9-]+)` \| (.+) \| (.+) \|$/gm);
  return [...rows].map(([, id = "", real = "", embedded = ""]) => ({ id, real, embedded }));
}

/**
 * A case of the conformance suite in which the two differ, as the page says under this id. It holds on the
 * real one. On the embedded API it must not: one that does is no difference any more.
 */
export function differs(id: string, name: string, run: () => Promise<void>): void {
  listed(id);
  if (isEmbedded()) test.fails(`${name} (differs: ${id})`, run);
  else test(name, run);
}

/** A test that needs what the embedded API has not, as the page says under this id. It does not run there. */
export function testOnReal(
  id: string,
  name: string,
  run: () => Promise<void>,
  timeout?: number,
): void {
  const { embedded } = listed(id);
  const options = timeout === undefined ? {} : { timeout };
  if (isEmbedded()) test.skip(name, { ...options, meta: { differs: embedded } }, run);
  else test(name, options, run);
}

/** Whether this run is about the embedded API. */
export function isEmbedded(): boolean {
  const given = inject("cluster");
  return "address" in given && given.address.embedded;
}

function listed(id: string): Difference {
  const found = listedDifferences().find((each) => each.id === id);
  if (found) return found;
  throw new Error(`docs/reference/local-kubernetes.md does not list the difference ${id}`);
}
