import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { purposes } from "./action-purposes.ts";
import { permissionsPage } from "./generate-permissions-page.ts";

const root = join(import.meta.dirname, "..");
const folder = join(root, "manifests/roles");

test("the page is in step with the roles", () => {
  expect(readFileSync(join(root, "docs/reference/permissions.md"), "utf8")).toBe(permissionsPage());
});

test("only actions that a role has are explained", () => {
  const held = readdirSync(folder).flatMap(
    (file) => JSON.parse(readFileSync(join(folder, file), "utf8")).Actions as string[],
  );
  expect(Object.keys(purposes).sort()).toEqual([...new Set(held)].sort());
});
