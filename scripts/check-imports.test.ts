import { expect, test } from "vitest";
import { wrongImports } from "./check-imports.ts";

const importing = (specifier: string) => `import { a } from "${specifier}";`;

test.each([
  ["a foundation imports the model", "src/azure/client.ts", "../model/tags.ts"],
  ["a feature imports a foundation", "src/hosted/link/see.ts", "../../azure/gateway.ts"],
  ["a feature imports itself", "src/hosted/link/see.ts", "../topology/plan.ts"],
  ["a program imports a feature", "src/operator/main.ts", "../hosted/link/controller.ts"],
  ["local mode imports the simulator", "src/local/main.ts", "../simulator/server.ts"],
  ["a test imports what tests share", "src/kube/cache.test.ts", "../../test/setup/needs.ts"],
  ["anything imports a package", "src/model/tags.ts", "typebox"],
])("%s", (_name, file, specifier) => {
  expect(wrongImports(file, importing(specifier))).toEqual([]);
});

test.each([
  ["the model imports nothing", "src/model/tags.ts", "../azure/client.ts"],
  ["foundations do not import each other", "src/kube/cache.ts", "../azure/client.ts"],
  ["foundations import no feature", "src/azure/client.ts", "../capi/dns/plan.ts"],
  ["features do not import each other", "src/hosted/link/plan.ts", "../../capi/dns/plan.ts"],
  ["features import no program", "src/appliance/register.ts", "../cli/usage-error.ts"],
  ["the simulator imports the model only", "src/simulator/server.ts", "../azure/client.ts"],
  ["nobody imports the entry", "src/cli/version.ts", "../main.ts"],
  ["the product imports no test", "src/kube/cache.ts", "../../test/setup/needs.ts"],
  ["a test in src imports no benchmark", "src/kube/cache.test.ts", "../../bench/run.ts"],
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
  expect(wrongImports("src/model/a.ts", source)).toEqual([
    "src/model/a.ts imports src/azure/a.ts: model may import no other folder",
  ]);
});

test("a new folder is put in the table first", () => {
  expect(wrongImports("src/shared/a.ts", "")).toEqual([
    "src/shared/a.ts: src/shared is not in the table of scripts/check-imports.ts",
  ]);
});
