import { expect, test } from "vitest";
import { builtIns } from "../kinds/built-ins.ts";
import type { Resource } from "../resource.ts";
import { openApiOf } from "./openapi.ts";

const configMap = builtIns.find(({ kind }) => kind === "ConfigMap") as Resource;
const widget: Resource = {
  ...configMap,
  group: "example.com",
  kind: "Widget",
  listKind: "WidgetList",
  plural: "widgets",
  builtIn: false,
  schema: {
    type: "object",
    properties: {
      spec: { type: "object", properties: { size: { "x-kubernetes-int-or-string": true } } },
    },
  },
};
const openApi = openApiOf([...builtIns, widget]);

// biome-ignore lint/suspicious/noExplicitAny: documents of another program, read in many places.
function read(path: string, hash?: string): any {
  const answer = openApi.answer(path, hash);
  if (answer === undefined || !("document" in answer)) throw new Error(`no document at ${path}`);
  return JSON.parse(answer.document.text);
}

test("the index names a document for each group and version, and its hash", () => {
  const { paths } = read("/openapi/v3");
  expect(Object.keys(paths)).toContain("api/v1");
  expect(paths["apis/example.com/v1"].serverRelativeURL).toMatch(
    /^\/openapi\/v3\/apis\/example\.com\/v1\?hash=[0-9A-F]{32}$/,
  );
});

test("who names the hash may keep the document for good, and one who names an old hash is sent on", () => {
  const { serverRelativeURL } = read("/openapi/v3").paths["api/v1"];
  const [path, hash] = serverRelativeURL.split("?hash=");
  expect(openApi.answer(path, hash)).toMatchObject({ immutable: true });
  expect(openApi.answer(path, undefined)).toMatchObject({ immutable: false });
  expect(openApi.answer(path, "old")).toEqual({ movedTo: serverRelativeURL });
  expect(openApi.answer("/openapi/v3/apis/nobody/v1", undefined)).toBeUndefined();
});

test("a patch says of which kind it is and that fields are validated, as kubectl wants to see it", () => {
  const { patch } =
    read("/openapi/v3/api/v1").paths["/api/v1/namespaces/{namespace}/services/{name}"];
  expect(patch["x-kubernetes-group-version-kind"]).toEqual({
    group: "",
    version: "v1",
    kind: "Service",
  });
  const names = patch.parameters.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(["dryRun", "fieldValidation", "fieldManager"]));
});

test("strategic merge patches are offered for built-in kinds alone", () => {
  const strategic = "application/strategic-merge-patch+json";
  const core = read("/openapi/v3/api/v1").paths["/api/v1/namespaces/{name}"].patch;
  expect(core.requestBody.content).toHaveProperty([strategic]);
  const custom = read("/openapi/v3/apis/example.com/v1").paths;
  const { patch } = custom["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"];
  expect(patch.requestBody.content).not.toHaveProperty([strategic]);
});

test("every reference leads to a schema of the same document", () => {
  for (const path of Object.keys(read("/openapi/v3").paths)) {
    const document = read(`/openapi/v3/${path}`);
    const found = JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
    for (const [, name] of found) expect(document.components.schemas).toHaveProperty([name ?? ""]);
  }
});

test("a kind shows its fields, the metadata of all kinds, and a type where there are two", () => {
  const { schemas } = read("/openapi/v3/apis/example.com/v1").components;
  const { properties, ...rest } = schemas["com.example.v1.Widget"];
  expect(rest["x-kubernetes-group-version-kind"]).toEqual([
    { group: "example.com", version: "v1", kind: "Widget" },
  ]);
  expect(properties.metadata.allOf[0].$ref).toMatch(/ObjectMeta$/);
  expect(properties.spec.properties.size).toMatchObject({
    type: "string",
    format: "int-or-string",
  });
});
