import { expect, test } from "vitest";
import { describeApi, eventually, type List, patches, type Status, type Thing } from "./api.ts";
import { crdOf, installWidgets, newWidgets, served } from "./widgets.ts";

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
type Crd = Thing & {
  spec: { versions: Record<string, unknown>[]; names: Record<string, unknown> };
  status: {
    conditions: { type: string; status: string; reason: string }[];
    acceptedNames: Record<string, unknown>;
    storedVersions: string[];
  };
};

describeApi("custom resource definitions", (api) => {
  const refusedWith = async (change: (crd: Crd) => void): Promise<Status> => {
    const crd = crdOf(newWidgets()) as Crd;
    change(crd);
    return api.refused("POST", crds, crd);
  };
  const schemaOf = (crd: Crd) => {
    const [{ schema } = {}] = crd.spec.versions;
    return (schema as { openAPIV3Schema: Record<string, unknown> }).openAPIV3Schema;
  };

  test("become established, and say so", async () => {
    const widgets = await installWidgets(api);
    const { status } = await eventually(async () => {
      const crd = await api.ok<Crd>("GET", widgets.crd);
      expect(crd.status.conditions).toHaveLength(2);
      return crd;
    });
    const conditions = status.conditions.map(
      (each) => `${each.type} ${each.status} ${each.reason}`,
    );
    expect(conditions.toSorted()).toEqual([
      "Established True InitialNamesAccepted",
      "NamesAccepted True NoConflicts",
    ]);
    expect(status.acceptedNames).toEqual({
      kind: "Widget",
      listKind: "WidgetList",
      plural: "widgets",
      singular: "widget",
    });
    expect(status.storedVersions).toEqual(["v1"]);
  });

  test("fill in the names that are left out", async () => {
    const widgets = newWidgets();
    const crd = crdOf(widgets) as Crd;
    crd.spec.names = { kind: "Widget", plural: "widgets" };
    const made = await api.ok<Crd>("POST", crds, crd);
    expect(made.spec.names).toEqual({
      kind: "Widget",
      plural: "widgets",
      singular: "widget",
      listKind: "WidgetList",
    });
    expect(made.spec).toMatchObject({ conversion: { strategy: "None" } });
  });

  test("serve a kind that is there at once after they are established", async () => {
    const widgets = await installWidgets(api);
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a"));
    expect((await api.ok<List>("GET", widgets.path())).items).toHaveLength(1);
  });

  test("of cluster scope serve objects without a namespace", async () => {
    const widgets = await installWidgets(api, { scope: "Cluster" });
    const made = await api.ok("POST", widgets.path(), widgets.widget("a"));
    expect(made.metadata).not.toHaveProperty("namespace");
    const namespace = await api.namespace();
    expect((await api.request("GET", widgets.path(namespace, "a"))).status).toBe(404);
  });

  test("change their schema for the objects that are there", async () => {
    const size = (maximum: number) => ({
      type: "object",
      properties: { size: { type: "integer", maximum } },
    });
    const widgets = await installWidgets(api, { spec: size(5) });
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec: { size: 5 } }));
    const seven = widgets.widget("b", { spec: { size: 7 } });
    expect((await api.refused("POST", widgets.path(namespace), seven)).code).toBe(422);
    const path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    await api.ok("PATCH", widgets.crd, [{ op: "replace", path, value: size(9) }], patches.json);
    await eventually(() => api.ok("POST", widgets.path(namespace), seven));
  });

  test("add defaults to objects that were stored before", async () => {
    const widgets = await installWidgets(api, {
      spec: { type: "object", properties: { size: { type: "integer" } } },
    });
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec: {} }));
    const path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/default";
    await api.ok("PATCH", widgets.crd, [{ op: "add", path, value: 3 }], patches.json);
    await eventually(async () =>
      expect((await api.ok("GET", widgets.path(namespace, "a"))).spec).toEqual({ size: 3 }),
    );
  });

  test("show one object in each version that they serve", async () => {
    const widgets = newWidgets();
    const crd = crdOf(widgets) as Crd;
    crd.spec.versions.push({ ...crd.spec.versions[0], name: "v2", storage: false });
    await api.ok("POST", crds, crd);
    await served(api, widgets);
    const namespace = await api.namespace();
    const made = await api.ok(
      "POST",
      widgets.path(namespace),
      widgets.widget("a", { spec: { k: 1 } }),
    );
    const other = widgets.path(namespace, "a").replace("/v1/", "/v2/");
    const seen = await eventually(() => api.ok("GET", other));
    expect(seen).toMatchObject({
      apiVersion: `${widgets.group}/v2`,
      kind: "Widget",
      spec: { k: 1 },
    });
    expect(seen.metadata.uid).toBe(made.metadata.uid);
  });

  test("that are deleted take their objects with them", async () => {
    const widgets = await installWidgets(api);
    const namespace = await api.namespace();
    const path = widgets.path(namespace, "a");
    await api.ok("POST", widgets.path(namespace), widgets.widget("a"));
    await api.ok("DELETE", widgets.crd);
    await eventually(async () => expect((await api.request("GET", widgets.crd)).status).toBe(404));
    await eventually(async () => expect((await api.request("GET", path)).status).toBe(404));
    const made = await api.ok("POST", crds, crdOf(widgets));
    expect(made.metadata.generation).toBe(1);
    await served(api, widgets);
    expect((await api.ok<List>("GET", widgets.path())).items).toEqual([]);
  });

  test("that are deleted wait for the finalizers of their objects", async () => {
    const widgets = await installWidgets(api);
    const namespace = await api.namespace();
    const path = widgets.path(namespace, "a");
    const metadata = { name: "a", finalizers: ["example.com/a"] };
    await api.ok("POST", widgets.path(namespace), { ...widgets.widget("a"), metadata });
    await api.ok("DELETE", widgets.crd);
    await eventually(async () =>
      expect((await api.ok("GET", path)).metadata).toHaveProperty("deletionTimestamp"),
    );
    const crd = await eventually(async () => {
      const crd = await api.ok<Crd>("GET", widgets.crd);
      expect(crd.status.conditions.map(({ type }) => type)).toContain("Terminating");
      return crd;
    });
    expect(crd.metadata.finalizers).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
    await eventually(async () => {
      const answer = await api.request<Status>(
        "POST",
        widgets.path(namespace),
        widgets.widget("b"),
      );
      expect(answer.status).toBe(403);
      expect(answer.body.message).toContain("custom resource definition is terminating");
    });
    await api.ok("PATCH", path, { metadata: { finalizers: null } });
    await eventually(async () => expect((await api.request("GET", widgets.crd)).status).toBe(404));
  });

  test("leave discovery when they go", async () => {
    const widgets = await installWidgets(api);
    await api.ok("DELETE", widgets.crd);
    await eventually(async () =>
      expect((await api.request("GET", `/apis/${widgets.group}`)).status).toBe(404),
    );
  });

  test.each<[string, (crd: Crd) => void, string]>([
    [
      "whose name is not plural.group",
      (crd) => (crd.metadata.name = "other.example.com"),
      "metadata.name",
    ],
    [
      "without a stored version",
      (crd) => Object.assign(crd.spec.versions[0] ?? {}, { storage: false }),
      "spec.versions",
    ],
    ["without a version", (crd) => (crd.spec.versions = []), "spec.versions"],
    [
      "of a scope that nobody knows",
      (crd) => Object.assign(crd.spec, { scope: "Galaxy" }),
      "spec.scope",
    ],
    [
      "without a schema",
      (crd) => delete crd.spec.versions[0]?.schema,
      "spec.versions[0].schema.openAPIV3Schema",
    ],
    ["whose schema has no type", (crd) => delete schemaOf(crd).type, "openAPIV3Schema.type"],
    [
      "whose default is not what the schema allows",
      (crd) =>
        Object.assign(schemaOf(crd), {
          properties: {
            spec: { type: "object", properties: { a: { type: "integer", default: "x" } } },
          },
        }),
      "openAPIV3Schema.properties[spec].properties[a].default",
    ],
    [
      "whose rule is no CEL",
      (crd) =>
        Object.assign(schemaOf(crd), {
          properties: {
            spec: { type: "object", "x-kubernetes-validations": [{ rule: "self.(" }] },
          },
        }),
      "openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule",
    ],
    [
      "whose rule names a field that is not there",
      (crd) =>
        Object.assign(schemaOf(crd), {
          properties: {
            spec: {
              type: "object",
              properties: { a: { type: "integer" } },
              "x-kubernetes-validations": [{ rule: "self.b > 1" }],
            },
          },
        }),
      "openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule",
    ],
    [
      "whose list has a key that its items have not",
      (crd) =>
        Object.assign(schemaOf(crd), {
          properties: {
            list: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["name"],
              items: { type: "object", properties: { other: { type: "string" } } },
            },
          },
        }),
      "openAPIV3Schema.properties[list].x-kubernetes-list-map-keys",
    ],
  ])("%s are refused", async (_what, change, field) => {
    const answer = await refusedWith(change);
    expect(answer).toMatchObject({
      code: 422,
      reason: "Invalid",
      details: { group: "apiextensions.k8s.io", kind: "CustomResourceDefinition" },
    });
    const fields = answer.details.causes?.map((cause) => cause.field) ?? [];
    // The real one says `spec.validation` of a CRD with one version, and `spec.versions[0].schema` of others.
    expect(
      fields.filter((each) => each.endsWith(field)),
      `${fields}`,
    ).not.toEqual([]);
  });

  test("keep their scope", async () => {
    const widgets = await installWidgets(api);
    const answer = await api.refused("PATCH", widgets.crd, { spec: { scope: "Cluster" } });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.details.causes?.[0]?.field).toBe("spec.scope");
  });
});
