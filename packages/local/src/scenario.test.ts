import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readScenario, scenarioIn, shipped } from "./scenario.ts";

const group = "/subscriptions/aaaaaaaa-0000-4000-8000-000000000000/resourceGroups/m";
const operator = `operator: { identity: op, managementGroup: ${group} }`;
const azure = `azure:
  tenants: [{ id: cccccccc-0000-4000-8000-000000000000 }]
  applications: [{ name: op, tenant: cccccccc-0000-4000-8000-000000000000 }]
`;

test.each(shipped)("the scenario %s that comes along can be read", (name) => {
  expect(readScenario(name).operator.identity).toBe("operator");
});

test("a scenario says what is in Azure, what is in Kubernetes, and who works on it", () => {
  const scenario = scenarioIn(
    `${azure}
${operator}
kubernetes:
  - { apiVersion: v1, kind: Namespace, metadata: { name: clusters } }
appliances:
  - { machine: ${group}/providers/Microsoft.Compute/virtualMachines/fw, pool: inspect }
`,
    "my.yaml",
  );
  expect(scenario.azure?.applications.map(({ value }) => value.name)).toEqual(["op"]);
  expect(scenario.objects.map(({ object }) => object.metadata.name)).toEqual(["clusters"]);
  expect(scenario.operator).toMatchObject({ identity: "op", person: "op", managementGroup: group });
  expect(scenario.appliances).toMatchObject([{ pool: "inspect" }]);
});

test.each([
  ["a field that is not known", `${operator}\nkubernets: []`, "2:1", "did you mean 'kubernetes'?"],
  [
    "a word where a list should be",
    `${operator}\nkubernetes: 3`,
    "2:13",
    "kubernetes must be a list",
  ],
  ["what is no YAML", "operator: {", "1:12", ""],
  ["a key that comes twice", `${operator}\n${operator}`, "2:1", "unique"],
  [
    "an object without a name",
    `${operator}\nkubernetes:\n  - { apiVersion: v1, kind: Pod }`,
    "3:5",
    "metadata.name",
  ],
  [
    "an id that is none",
    "operator: { identity: op, managementGroup: here }",
    "1:44",
    "managementGroup must be an Azure resource id",
  ],
  ["a missing operator", "kubernetes: []", "1:1", "must have 'operator'"],
  [
    "an identity that is not in Azure",
    `${azure}operator: { identity: who, managementGroup: ${group} }`,
    "4:23",
    "no application with that name",
  ],
  [
    "an appliance without an Azure",
    `${operator}\nappliances:\n  - { machine: ${group}, pool: a }`,
    "3:5",
    "appliances require machines in 'azure'",
  ],
  [
    "a cluster without its namespace",
    `operator:\n  identity: op\n  managementGroup: ${group}\n  clusterApi: { managementCluster: mc }`,
    "4:36",
    "NAMESPACE/NAME",
  ],
  ["a mistake in Azure", "azure:\n  tenants: 3\noperator: {}", "2:12", "'tenants' must be a list"],
  ["nothing", "", "1:1", "examples/local/demo.yaml"],
])("%s is reported with its place", (_what, text, place, said) => {
  const read = () => scenarioIn(text, "my.yaml");
  expect(read).toThrow(`my.yaml:${place}: `);
  expect(read).toThrow(said);
});

test("a file that is not there is reported with what to give instead", () => {
  expect(() => readScenario("nowhere.yaml")).toThrow(
    "cannot read the scenario nowhere.yaml · ENOENT: no such file or directory · use demo, empty or a YAML file with --scenario",
  );
});

test("what is written once can be named again, anywhere", () => {
  const { objects, operator, azure } = scenarioIn(
    `azure:
  tenants: [{ id: &tenant cccccccc-0000-4000-8000-000000000000 }]
  applications: [{ name: &op op, tenant: *tenant }]
kubernetes:
  - { apiVersion: v1, kind: ConfigMap, metadata: &same { name: a, labels: &labels { of: *op } } }
  - { apiVersion: v1, kind: Secret, metadata: *same, stringData: *labels }
operator: { identity: *op, managementGroup: /subscriptions/s/resourceGroups/m }
`,
    "my.yaml",
  );
  expect(azure?.applications[0]?.value.tenant).toBe("cccccccc-0000-4000-8000-000000000000");
  expect(operator.identity).toBe("op");
  expect(objects[1]?.object).toEqual({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "a", labels: { of: "op" } },
    stringData: { of: "op" },
  });
});

test("what is a part of itself is refused with its place", () => {
  const text = "kubernetes: &all [*all]\noperator: {}\n";
  expect(() => scenarioIn(text, "my.yaml")).toThrow(/my\.yaml:1:19: \*all is a part of what/);
});

test("a change in a file that is named makes it another scenario", () => {
  const folder = mkdtempSync(join(tmpdir(), "postern-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const seed =
    "tenants: [{ id: cccccccc-0000-4000-8000-000000000000 }]\napplications: [{ name: op, tenant: cccccccc-0000-4000-8000-000000000000 }]\n";
  const object = "{ apiVersion: v1, kind: Namespace, metadata: { name: a } }\n";
  const digest = (files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const text = `${operator}\nazure: { seed: seed.yaml }\nkubernetes: [objects.yaml]\n`;
    return scenarioIn(text, join(folder, "my.yaml")).digest;
  };
  const first = digest({ "seed.yaml": seed, "objects.yaml": object });
  expect(digest({})).toBe(first);
  const second = digest({ "objects.yaml": object.replace("name: a", "name: b") });
  expect(second).not.toBe(first);
  expect(digest({ "seed.yaml": `${seed}subscriptions: []\n` })).not.toBe(second);
});

test("what is named before it is written is refused with its place", () => {
  const text = "kubernetes: [*tpyo]\noperator: {}\n";
  expect(() => scenarioIn(text, "my.yaml")).toThrow(/my\.yaml:1:14: \*tpyo stands for nothing/);
});
