import type { Hop } from "@postern/core/dashboard/trace.ts";
import { expect, test } from "vitest";
import { render } from "./trace.ts";

const zone = (state: Hop["state"]): Hop => ({ what: "zone", name: "z", state, found: "so it is" });

test.each([
  ["a network", "guest", "broken", "From network guest: unreachable"],
  ["no network", undefined, "broken", "No network is linked to the zone: unreachable"],
  [
    "networks that cannot be read",
    undefined,
    "unknown",
    "From networks that cannot be read: unknown, because a hop cannot be read",
  ],
] as const)("a path from %s says so", (_, network, state, line) => {
  const trace = { ...(network && { network }), hops: [zone(state)], works: false, known: true };
  expect(render(trace).split("\n")[0]).toBe(line);
});
