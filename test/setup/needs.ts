import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";

/**
 * A suite that needs something of the machine. Where `missing` says what is not there, it is skipped,
 * and the end of the run names it with that reason; with `CI=true` the run then fails.
 */
export function describeWhere(missing: string | undefined, name: string, suite: () => void): void {
  if (missing === undefined) describe(name, suite);
  else describe.skip(name, { meta: { whySkipped: missing } }, suite);
}

/** A suite that reads recordings or schemas of Azure, which are too large for this repository. */
export function describeWithData(
  folder: string,
  name: string,
  suite: (path: string) => void,
): void {
  const root = process.env.POSTERN_DATA ?? join(import.meta.dirname, "../../../shared/data");
  const path = join(root, folder);
  const missing = existsSync(path)
    ? undefined
    : `there is no ${folder} beside the repository; set POSTERN_DATA to the folder that holds it`;
  describeWhere(missing, name, () => suite(path));
}
