import { expect, test } from "vitest";
import { type Lockfile, lockfileViolations, shippedPackages } from "./check-licences.ts";

const integrity = `sha512-${"A".repeat(86)}==`;
const lock = (packages: Lockfile["packages"]): Lockfile => ({ packages });

test("a licence that is not allowed is refused in what is shipped, and not in what only tests use", () => {
  const packages = {
    "node_modules/good": { version: "1.0.0", license: "(GPL-3.0 OR MIT)", integrity },
    "node_modules/bad": { version: "1.0.0", license: "GPL-3.0", integrity },
    "node_modules/both": { version: "1.0.0", license: "MIT AND SSPL-1.0", integrity },
    "node_modules/tool": { version: "1.0.0", license: "GPL-3.0", integrity, dev: true },
  };
  expect(lockfileViolations(lock(packages)).map((each) => each.split(" ")[0])).toEqual([
    "bad",
    "both",
  ]);
});

test("a package without a hash, with a weak one, or of a registry by name is refused", () => {
  const packages = {
    "packages/ours": { version: "1.0.0" },
    "node_modules/ours": { link: true, resolved: "packages/ours" },
    "node_modules/tool-for-elsewhere": { version: "1.0.0", dev: true, optional: true },
    "node_modules/none": { version: "1.0.0", license: "MIT" },
    "node_modules/weak": { version: "1.0.0", license: "MIT", integrity: "sha1-abc" },
    "node_modules/pinned": {
      version: "1.0.0",
      license: "MIT",
      integrity,
      resolved: "https://registry.example.com/pinned.tgz",
    },
  };
  expect(lockfileViolations(lock(packages)).map((each) => each.split(" ")[0])).toEqual([
    "node_modules/none",
    "node_modules/weak",
    "node_modules/pinned",
  ]);
});

test("nested packages are listed by their own names and versions", () => {
  const packages = {
    "node_modules/a": { version: "1.0.0", license: "MIT", integrity },
    "node_modules/b/node_modules/@c/a": { version: "2.0.0", license: "ISC", integrity },
  };
  expect(shippedPackages(lock(packages))).toEqual([
    { name: "@c/a", version: "2.0.0", licence: "ISC" },
    { name: "a", version: "1.0.0", licence: "MIT" },
  ]);
});
