// Writes docs/reference/licences.md from package-lock.json, and refuses licences that are not allowed and packages that npm cannot
// verify; with --check it compares the page.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Licences that a product under Apache-2.0 can be shipped with. */
const allowed = [
  ...["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0"],
  ...["ISC", "MIT", "Python-2.0", "Unlicense"],
];

interface LockedPackage {
  version?: string;
  license?: string;
  integrity?: string;
  resolved?: string;
  dev?: boolean;
  optional?: boolean;
  link?: boolean;
}

/** What a lockfile says. */
export interface Lockfile {
  packages: Record<string, LockedPackage>;
}

/** A package that is shipped. */
export interface Shipped {
  name: string;
  version: string;
  licence: string;
}

/** The packages of others that are shipped, by name. */
export function shippedPackages({ packages }: Lockfile): Shipped[] {
  return others(packages)
    .filter(([, { dev }]) => !dev)
    .map(([path, { version = "", license = "" }]) => ({
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version,
      licence: license,
    }))
    .sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/** What is wrong with a lockfile. */
export function lockfileViolations(lock: Lockfile): string[] {
  // npm leaves out the hash of tools for platforms on which nobody has installed them, where its registry does not have them.
  const unverified = others(lock.packages)
    .filter(([, { dev, optional, integrity }]) => integrity !== undefined || !(dev && optional))
    .filter(([, { integrity = "" }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))
    .map(([path]) => `${path} has no SHA-512 in package-lock.json: npm cannot verify it`);
  // A registry of somebody's own would be asked by everybody.
  const pinned = others(lock.packages)
    .filter(([, { resolved }]) => resolved !== undefined)
    .map(([path]) => `${path} names a registry in package-lock.json: remove "resolved"`);
  const refused = shippedPackages(lock)
    .filter(({ licence }) => !isAllowed(licence))
    .map(
      ({ name, version, licence }) =>
        `${name} ${version} has the licence ${licence || "(none)"}, which is not allowed: replace it, or add the licence to scripts/check-licences.ts`,
    );
  return [...unverified, ...pinned, ...refused];
}

/** Of alternatives one is enough. */
function isAllowed(licence: string): boolean {
  return licence
    .replace(/^\(|\)$/g, "")
    .split(" OR ")
    .some((each) => each.split(" AND ").every((one) => allowed.includes(one)));
}

/** All but workspaces and links to them. */
function others(packages: Lockfile["packages"]): [string, LockedPackage][] {
  return Object.entries(packages).filter(
    ([path, { link }]) => path.includes("node_modules/") && !link,
  );
}

function page(shipped: readonly Shipped[]): string {
  const counts = Map.groupBy(shipped, ({ licence }) => licence);
  const totals = [...counts].map(([licence, list]) => `${list.length} ${licence}`).sort();
  return `# Licences

Made by \`npm run generate\` from package-lock.json. Postern is under Apache-2.0. Its packages are shipped with these packages of others
(${totals.join(", ")}); the image has Node and Debian's libraries beside them, with their licences.

| package | version | licence |
| --- | --- | --- |
${shipped.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`).join("\n")}
`;
}

if (import.meta.main) {
  const root = join(import.meta.dirname, "..");
  const file = join(root, "docs/reference/licences.md");
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lockfile;
  const text = page(shippedPackages(lock));
  const violations = lockfileViolations(lock);
  if (!process.argv.includes("--check")) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, "utf8") !== text)
    violations.push("docs/reference/licences.md is out of step: run npm run generate");
  for (const each of violations) console.error(each);
  if (violations.length > 0) process.exitCode = 1;
}
