import { randomInt } from "node:crypto";
import fc from "fast-check";

/**
 * What every random test begins with. In CI it is always the same, so that a change is judged by what it changes and
 * not by luck; elsewhere it is new each time, and who wants to see the same again gives it.
 */
export const seed = Number(
  process.env.POSTERN_SEED ?? (process.env.CI === "true" ? 1 : randomInt(2 ** 31)),
);
/** How a test names it, for whoever has to run it again. */
export const seeded = `POSTERN_SEED=${seed}`;

fc.configureGlobal({ seed });

export { fc };
