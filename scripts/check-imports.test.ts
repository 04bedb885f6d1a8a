import { expect, test } from "vitest";
import { unusedDependencies, wrongImports } from "./check-imports.ts";

const importing = (specifier: string) => `import { a } from "${specifier}";`;
const postern = (file: string) => `packages/postern/src/${file}`;

test.each([
  ["a foundation imports core", postern("azure/client.ts"), "@postern/core/tags.ts"],
  ["a feature imports a foundation", postern("hosted/link/see.ts"), "../../azure/gateway.ts"],
  ["a feature imports itself", postern("hosted/link/see.ts"), "../topology/plan.ts"],
  ["a program imports a feature", postern("operator/main.ts"), "../hosted/link/controller.ts"],
  [
    "local mode imports the simulator",
    "packages/local/src/main.ts",
    "@postern/azure-simulator/server.ts",
  ],
  ["local mode imports the product", "packages/local/src/main.ts", "postern/kube/client.ts"],
  [
    "a test imports what tests share",
    postern("kube/cache.test.ts"),
    "../../../../test/setup/needs.ts",
  ],
  ["a test imports what tests are made with", "packages/core/src/tags.test.ts", "vitest"],
  ["a package imports what it declares", "packages/core/src/tags.ts", "typebox"],
  ["anything imports a module of Node", "packages/core/src/tags.ts", "node:fs"],
])("%s", (_name, file, specifier) => {
  expect(wrongImports(file, importing(specifier))).toEqual([]);
});

test.each([
  ["core imports no other package", "packages/core/src/tags.ts", "postern/azure/client.ts"],
  ["foundations do not import each other", postern("kube/cache.ts"), "../azure/client.ts"],
  ["foundations import no feature", postern("azure/client.ts"), "../cluster-api/dns/plan.ts"],
  [
    "features do not import each other",
    postern("hosted/link/plan.ts"),
    "../../cluster-api/dns/plan.ts",
  ],
  ["features import no program", postern("appliance/register.ts"), "../cli/output.ts"],
  ["the agent imports no command", postern("agent/run.ts"), "../cli/output.ts"],
  ["the operator imports no command", postern("operator/command.ts"), "../cli/output.ts"],
  [
    "the product imports no simulator",
    postern("operator/azure.ts"),
    "@postern/azure-simulator/server.ts",
  ],
  [
    "the product imports no embedded API",
    postern("kube/client.ts"),
    "@postern/kubernetes-embedded",
  ],
  ["the product imports no local mode", postern("programs.ts"), "@postern/local/command.ts"],
  [
    "the simulator imports core only",
    "packages/azure-simulator/src/server.ts",
    "postern/azure/client.ts",
  ],
  [
    "the embedded API imports core only",
    "packages/kubernetes-embedded/src/server.ts",
    "@postern/azure-simulator",
  ],
  ["the dashboard imports no server", "packages/dashboard/src/app.tsx", "postern/server/source.ts"],
  ["nobody imports the entry", postern("cli/version.ts"), "../main.ts"],
  ["the product imports no test", postern("kube/cache.ts"), "../../../../test/setup/needs.ts"],
  [
    "a test beside the code imports no benchmark",
    postern("kube/a.test.ts"),
    "../../../../bench/run.ts",
  ],
  [
    "a relative import stays in its package",
    postern("kube/cache.ts"),
    "../../../core/src/clock.ts",
  ],
  ["a dependency is declared", "packages/core/src/tags.ts", "undici"],
  ["a tool of tests is no dependency", "packages/core/src/tags.ts", "fast-check"],
])("%s", (_name, file, specifier) => {
  expect(wrongImports(file, importing(specifier))).toHaveLength(1);
});

test.each([
  ['import type { A } from "../azure/a.ts";'],
  ['export { a } from "../azure/a.ts";'],
  ['import "../azure/a.ts";'],
  ['const a = await import("../azure/a.ts");'],
  ["import {\n  a,\n} from '../azure/a.ts';"],
])("sees every form of import: %s", (source) => {
  expect(wrongImports(postern("kube/a.ts"), source)).toEqual([
    "packages/postern/src/kube/a.ts imports ../azure/a.ts: kube may import no other folder",
  ]);
});

test("the list of programs loads local mode where it is installed, and nobody else does", () => {
  const source = 'const a = await import("@postern/local/command.ts");';
  expect(wrongImports(postern("programs.ts"), source)).toEqual([]);
  expect(wrongImports(postern("cli/tree.ts"), source)).toEqual([
    "packages/postern/src/cli/tree.ts imports @postern/local/command.ts: postern may import only core, dashboard",
  ]);
});

test("a dependency that nothing imports is named", () => {
  const sources = [importing("@postern/core/tags.ts"), importing("yaml"), importing("commander")];
  expect(unusedDependencies("azure-simulator", sources)).toEqual([]);
  expect(unusedDependencies("azure-simulator", sources.slice(0, 2))).toEqual([
    "packages/azure-simulator/package.json declares commander, and nothing imports it",
  ]);
});

test("a new package or folder is put in the table first", () => {
  expect(wrongImports("packages/shared/src/a.ts", "")).toEqual([
    "packages/shared/src/a.ts: packages/shared is not in the table of scripts/check-imports.ts",
  ]);
  expect(wrongImports(postern("shared/a.ts"), "")).toEqual([
    "packages/postern/src/shared/a.ts: the folder shared is not in the table of scripts/check-imports.ts",
  ]);
});
