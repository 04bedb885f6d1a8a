import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run-bin.ts";

type Names = Record<string, string>;

interface Locked {
  resolved?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  link?: boolean;
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
  const remote = Object.entries(packages).filter(([, { resolved, link }]) => resolved && !link);
  expect(remote).toEqual([]);
});

// An install script downloads what it likes, and no hash in the lock covers that.
test("no locked package runs code when it is installed", () => {
  const scripted = Object.keys(packages).filter((place) => packages[place]?.hasInstallScript);
  expect(scripted).toEqual([]);
  const { allowScripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(allowScripts).toBeUndefined();
});

// npm recorded no hash for formatter and bundler where neither CI nor the operator runs; `npm install` there adds it.
const withoutHash =
  /^node_modules\/@(biomejs\/cli|rolldown\/binding)-(android|darwin|freebsd|linux-(arm-|ppc64|s390x)|openharmony|wasm32|win32)/;

test("every package that is installed on Linux has a hash in the lock", () => {
  const unverified = Object.keys(packages).filter(
    (place) => place.includes("node_modules/") && !packages[place]?.link && !isHashed(place),
  );
  expect(unverified.filter((place) => !withoutHash.test(place))).toEqual([]);
});

test("the Node of a checkout is a locked package with a hash on every platform", () => {
  const { optionalDependencies = {} } = packages["tools/node"] ?? {};
  const names = Object.keys(optionalDependencies);
  expect(names.map((name) => name.replace(/^node-(bin-)?/, "")).sort()).toEqual([
    "darwin-arm64",
    "darwin-x64",
    "linux-arm64",
    "linux-x64",
    "win-x64",
  ]);
  expect(names.filter((name) => !isHashed(`node_modules/${name}`))).toEqual([]);
  expect(Object.values(optionalDependencies).filter((version) => !/^24\./.test(version))).toEqual(
    [],
  );
});

// What a package does not export may move with any release of it.
test("a package of which the sources import a private file is pinned to one version", () => {
  const sources = globSync(join(root, "packages/*/src/**/*.ts")).map((file) =>
    readFileSync(file, "utf8"),
  );
  const deep = /\b(?:from|import\() ?"((?:@[\w-]+\/)?[a-z][\w-]*)\/[^"]+"/g;
  const names = new Set(
    sources.flatMap((text) => Array.from(text.matchAll(deep), ([, name = ""]) => name)),
  );
  const { dependencies } = manifestOf(join(root, "packages/postern"));
  const internal = [...names].filter(
    (name) =>
      name in dependencies && manifestOf(join(root, "node_modules", name)).exports === undefined,
  );
  expect(internal).toEqual(["undici"]);
  for (const name of internal)
    expect(dependencies[name]).toBe(manifestOf(join(root, "node_modules", name)).version);
});

function manifestOf(folder: string): { version: string; exports?: unknown; dependencies: Names } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function isHashed(place: string): boolean {
  return /^sha512-[\w+/]{86}==$/.test(packages[place]?.integrity ?? "");
}

/** Node looks for a package in its user's own folder, then in that of each folder above. */
function reachable(place: string, name: string): boolean {
  if (join(place, "node_modules", name) in packages) return true;
  return place !== "" && place !== "." && reachable(dirname(place), name);
}
