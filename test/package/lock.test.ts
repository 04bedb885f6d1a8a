import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run-bin.ts";

type Names = Record<string, string>;

interface Locked {
  resolved?: string;
  dependencies?: Names;
  devDependencies?: Names;
  optionalDependencies?: Names;
}

const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  packages: Record<string, Locked>;
};

// npm may leave out those of other platforms (https://github.com/npm/cli/issues/4828), and `npm ci` then
// refuses the lock wherever it cannot ask a registry about them.
test("the lock holds every package that a locked one needs, for every platform", () => {
  const absent = Object.entries(packages).flatMap(([place, entry]) =>
    Object.keys({
      ...entry.dependencies,
      ...entry.devDependencies,
      ...entry.optionalDependencies,
    }).filter((name) => !reachable(place, name)),
  );
  expect(absent).toEqual([]);
});

test("the lock names no registry", () => {
  expect(Object.keys(packages).filter((place) => packages[place]?.resolved)).toEqual([]);
});

/** Node looks for a package in its user's own folder, then in that of each folder above. */
function reachable(place: string, name: string): boolean {
  if (join(place, "node_modules", name) in packages) return true;
  return place !== "" && place !== "." && reachable(dirname(place), name);
}
