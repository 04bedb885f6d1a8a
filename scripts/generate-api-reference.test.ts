import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { definitions } from "@postern/core/definitions.ts";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { fieldsOf, partOf } from "./api-reference/fields.ts";
import { draftOf, editorSchemas, schemaFile } from "./api-reference/schemas.ts";
import { outOfStep } from "./generate-api-reference.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

/** Checks of every schema, by file; one may refer to another. */
function checks() {
  // Formats such as int32 are Kubernetes' own.
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const files = editorSchemas(definitions);
  for (const [file, text] of files) ajv.addSchema(JSON.parse(text), file);
  return (file: string, value: unknown) => {
    const valid = ajv.validate(file, value);
    return valid ? [] : (ajv.errors ?? []).map((each) => `${each.instancePath} ${each.message}`);
  };
}

test("the API reference and the schemas for editors say what the kinds say", () => {
  expect(outOfStep(), "run npm run generate").toEqual([]);
});

test.each(definitions)("every field of $kind has a description", (definition) => {
  const fields = [
    ...fieldsOf(partOf(definition, "spec"), "spec"),
    ...fieldsOf(partOf(definition, "status"), "status"),
  ];
  expect(fields.filter(({ schema }) => !schema.description).map(({ path }) => path)).toEqual([]);
  expect(fields.length).toBeGreaterThan(0);
});

test("the examples and the YAML of the guides pass the schemas for editors", () => {
  const wrongIn = checks();
  expect(wrongIn("scenario.json", parse(read("examples/local/demo.yaml")))).toEqual([]);
  expect(wrongIn("scenario.json", parse(read("examples/local/empty.yaml")))).toEqual([]);
  expect(wrongIn("simulator-seed.json", parse(read("examples/simulator/world.yaml")))).toEqual([]);
  let checked = 0;
  for (const page of globSync("docs/guides/*.md", { cwd: root }))
    for (const [, block = ""] of read(page).matchAll(/^```yaml\n([\s\S]*?)^```/gm))
      for (const document of parseAllDocuments(block)) {
        const object = document.toJS();
        const definition = definitions.find(
          ({ group, version, kind }) =>
            object?.kind === kind && object.apiVersion === `${group}/${version}`,
        );
        if (definition === undefined) continue;
        expect(wrongIn(schemaFile(definition), object), page).toEqual([]);
        checked += 1;
      }
  expect(checked).toBeGreaterThan(2);
});

test("an editor reports an unknown field, a wrong value and a missing field", () => {
  const wrongIn = checks();
  const wrong = {
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "AzurePrivateLinkService",
    metadata: { name: "private-router" },
    spec: { subscriptionID: 7, natSubnet: "typo" },
  };
  const found = wrongIn("hypershift.openshift.io/azureprivatelinkservice_v1beta1.json", wrong);
  expect(found).not.toEqual([]);
  expect(wrongIn("scenario.json", { operators: {} })).not.toEqual([]);
  expect(wrongIn("simulator-seed.json", { tenant: [] })).not.toEqual([]);
  expect(wrongIn("tenant-policy.json", { namespaces: [{ namespaces: "a" }] })).not.toEqual([]);
});

test("null and a number in place of a text are accepted where the kind allows them", () => {
  expect(draftOf({ type: "string", nullable: true, enum: ["a"] })).toEqual({
    type: ["string", "null"],
    enum: ["a", null],
  });
  expect(draftOf({ "x-kubernetes-int-or-string": true })).toEqual({ type: ["integer", "string"] });
});

test("every example names its schema in its first lines", () => {
  const examples = globSync("{examples,deploy/values}/**/*.yaml", { cwd: root });
  expect(examples.length).toBeGreaterThan(3);
  const schemaOf = (file: string) =>
    /^# yaml-language-server: \$schema=(\S+)$/m.exec(
      read(file).split("\n").slice(0, 3).join("\n"),
    )?.[1];
  expect(examples.filter((file) => schemaOf(file) === undefined)).toEqual([]);
  for (const file of examples) {
    const schema = schemaOf(file) ?? "";
    if (!schema.startsWith("https:")) read(join(file, "..", schema));
  }
});
