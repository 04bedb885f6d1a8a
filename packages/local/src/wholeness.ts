import type { Row } from "./clusters.ts";

/** Says that everything is available while it is: what it took the first time, and later that it is so again. */
export function wholeness(costs: () => string): (rows: readonly Row[]) => string[] {
  let text: string | undefined;
  let wasBroken = false;
  return (rows) => {
    const isWhole = rows.length > 0 && rows.every(({ state }) => state === "Healthy");
    if (!isWhole) {
      wasBroken = text !== undefined;
      return [];
    }
    text ??= `Everything is available after ${costs()}.`;
    if (wasBroken) text = "Everything is available again.";
    return [text];
  };
}
