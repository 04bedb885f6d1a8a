import { expect, test } from "vitest";
import { describeApi, eventually, patches } from "./api.ts";
import { withWidgets } from "./widgets.ts";

interface Index {
  paths: Record<string, { serverRelativeURL: string }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, OpenSchema> };
}
interface Operation {
  parameters?: { name: string; in: string }[];
  "x-kubernetes-group-version-kind"?: object;
  "x-kubernetes-action"?: string;
}
interface OpenSchema {
  type?: string;
  description?: string;
  properties?: Record<string, OpenSchema>;
  "x-kubernetes-group-version-kind"?: object[];
}

describeApi("OpenAPI", (api) => {
  const widgets = withWidgets(api, {
    schema: {
      type: "object",
      description: "A thing to play with.",
      properties: {
        spec: {
          type: "object",
          properties: { size: { type: "integer", description: "How large it is." } },
        },
      },
    },
  });
  const address = async (path: string) => {
    const { paths } = await api.ok<Index>("GET", "/openapi/v3");
    const found = paths[path];
    if (found === undefined) throw new Error(`${path} is not in the index`);
    return found.serverRelativeURL;
  };
  const document = (path: string) =>
    eventually(async () => api.ok<Document>("GET", await address(path)));
  const ofKind = (document: Document, kind: string) =>
    Object.values(document.components.schemas).find((schema) =>
      JSON.stringify(schema["x-kubernetes-group-version-kind"] ?? "").includes(`"kind":"${kind}"`),
    );

  test("has an index with one document for each group and version", async () => {
    const { paths } = await eventually(async () => {
      const index = await api.ok<Index>("GET", "/openapi/v3");
      expect(Object.keys(index.paths)).toContain(`apis/${widgets.apiVersion}`);
      return index;
    });
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(["api/v1", "apis/coordination.k8s.io/v1", "apis/events.k8s.io/v1"]),
    );
    expect(paths["api/v1"]?.serverRelativeURL).toMatch(/^\/openapi\/v3\/api\/v1\?hash=\w+$/);
  });

  test("describes the fields of a built-in kind", async () => {
    const api1 = await document("api/v1");
    expect(api1.openapi).toMatch(/^3\.0/);
    const schema = ofKind(api1, "ConfigMap");
    expect(schema?.["x-kubernetes-group-version-kind"]).toEqual([
      { group: "", kind: "ConfigMap", version: "v1" },
    ]);
    expect(schema?.properties?.data).toMatchObject({ type: "object" });
    expect(schema?.properties?.data?.description).not.toBe("");
  });

  test("names a built-in's schema as client libraries do", async () => {
    const { components } = await document("api/v1");
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining([
        "io.k8s.api.core.v1.Service",
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
      ]),
    );
  });

  test("describes the fields of a CRD's kind, with its words", async () => {
    const found = ofKind(await document(`apis/${widgets.apiVersion}`), "Widget");
    expect(found).toMatchObject({
      type: "object",
      description: "A thing to play with.",
      properties: { spec: { properties: { size: { description: "How large it is." } } } },
    });
    expect(Object.keys(found?.properties ?? {}).toSorted()).toEqual([
      "apiVersion",
      "kind",
      "metadata",
      "spec",
    ]);
  });

  test.each(["fieldValidation", "dryRun", "fieldManager"])(
    "says that a patch takes %s, which kubectl looks for",
    async (name) => {
      const { paths } = await document(`apis/${widgets.apiVersion}`);
      const path = `/apis/${widgets.apiVersion}/namespaces/{namespace}/widgets/{name}`;
      const patch = paths[path]?.patch;
      expect(patch?.["x-kubernetes-group-version-kind"]).toEqual({
        group: widgets.group,
        version: "v1",
        kind: "Widget",
      });
      expect(patch?.parameters).toContainEqual(expect.objectContaining({ name, in: "query" }));
    },
  );

  test("moves a document's hash when its CRD changes, and only then", async () => {
    const path = `apis/${widgets.apiVersion}`;
    const [before, core] = [await address(path), await address("api/v1")];
    const change = [
      {
        op: "add",
        path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/colour",
        value: { type: "string" },
      },
    ];
    await api.ok("PATCH", widgets.crd, change, patches.json);
    await eventually(async () => expect(await address(path)).not.toBe(before));
    expect(await address("api/v1")).toBe(core);
    const found = ofKind(await document(path), "Widget");
    expect(found?.properties?.spec?.properties?.colour).toMatchObject({ type: "string" });
  });

  test("lets a document be kept as long as its hash stays", async () => {
    const { status, headers } = await api.request("GET", await address("api/v1"));
    expect(status).toBe(200);
    expect(headers["cache-control"]).toContain("immutable");
    const etag = headers.etag ?? "";
    expect(etag).not.toBe("");
    const again = await api.request("GET", "/openapi/v3/api/v1", undefined, {
      headers: { "if-none-match": etag },
    });
    expect(again.status).toBe(304);
  });

  test("has no document for a group that nobody serves", async () => {
    const { status } = await api.request("GET", "/openapi/v3/apis/nobody.example.com/v1");
    expect(status).toBe(404);
  });
});
