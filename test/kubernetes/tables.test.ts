import { beforeAll, expect, test } from "vitest";
import { configMaps, describeApi } from "./api.ts";
import { withWidgets } from "./widgets.ts";

const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

interface Table {
  kind: string;
  apiVersion: string;
  metadata: { resourceVersion?: string; continue?: string };
  columnDefinitions: { name: string; type: string; format: string; priority: number }[];
  rows: {
    cells: unknown[];
    object: { kind: string; apiVersion: string; metadata: { name: string }; data?: object };
  }[];
}

describeApi("tables", (api) => {
  const widgets = withWidgets(api, {
    version: {
      additionalPrinterColumns: [
        { name: "Size", type: "integer", jsonPath: ".spec.size" },
        { name: "Colour", type: "string", jsonPath: ".spec.colour", priority: 1 },
        {
          name: "Ready",
          type: "string",
          jsonPath: '.status.conditions[?(@.type=="Ready")].status',
        },
        { name: "First", type: "string", jsonPath: ".spec.list[0]" },
        { name: "Since", type: "date", jsonPath: ".metadata.creationTimestamp" },
      ],
    },
  });
  let namespace: string;
  const table = (path: string) => api.ok<Table>("GET", path, undefined, { accept });
  const names = ({ columnDefinitions }: Table) => columnDefinitions.map(({ name }) => name);

  beforeAll(async () => {
    namespace = await api.namespace();
    const spec = { size: 3, colour: "red", list: ["x", "y"] };
    await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec }));
    await api.ok("POST", widgets.path(namespace), widgets.widget("b"));
    const conditions = [
      { type: "Tired", status: "False" },
      { type: "Ready", status: "True" },
    ];
    await api.ok("PATCH", widgets.path(namespace, "a", "status"), { status: { conditions } });
  }, 30_000);

  test("of a CRD's kind have its columns, and its values", async () => {
    const all = await table(widgets.path(namespace));
    expect(all).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1" });
    expect(all.metadata.resourceVersion).toMatch(/^\d+$/);
    expect(names(all)).toEqual(["Name", "Size", "Colour", "Ready", "First", "Since"]);
    expect(all.rows[0]?.cells.slice(0, 5)).toEqual(["a", 3, "red", "True", "x"]);
  });

  test("leave empty what an object does not say", async () => {
    const all = await table(widgets.path(namespace));
    expect(all.rows[1]?.cells.slice(0, 5)).toEqual(["b", null, null, null, null]);
  });

  test("tell the type and the priority of each column", async () => {
    const { columnDefinitions } = await table(widgets.path(namespace));
    expect(columnDefinitions[0]).toMatchObject({ name: "Name", type: "string", format: "name" });
    expect(columnDefinitions[1]).toMatchObject({ name: "Size", type: "integer", priority: 0 });
    expect(columnDefinitions[2]).toMatchObject({ name: "Colour", priority: 1 });
    expect(columnDefinitions[5]).toMatchObject({ name: "Since", type: "date" });
  });

  test("tell an age in words", async () => {
    const { rows } = await table(widgets.path(namespace));
    expect(rows[0]?.cells[5]).toMatch(/^\d+[smh]$/);
  });

  test("carry the metadata of each object, and nothing else", async () => {
    const { rows } = await table(widgets.path(namespace));
    expect(rows[0]?.object).toMatchObject({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: { name: "a", namespace },
    });
    expect(rows[0]?.object).not.toHaveProperty("spec");
  });

  test("carry the whole object where that is asked for", async () => {
    const { rows } = await table(`${widgets.path(namespace)}?includeObject=Object`);
    expect(rows[0]?.object).toMatchObject({ kind: "Widget", spec: { size: 3 } });
  });

  test("carry no object where that is asked for", async () => {
    const { rows } = await table(`${widgets.path(namespace)}?includeObject=None`);
    expect(rows[0]).toMatchObject({ object: null });
  });

  test("of one object have one row", async () => {
    const { kind, rows } = await table(widgets.path(namespace, "a"));
    expect(kind).toBe("Table");
    expect(rows.map(({ cells }) => cells[0])).toEqual(["a"]);
  });

  test("come in pages", async () => {
    const first = await table(`${widgets.path(namespace)}?limit=1`);
    expect(first.rows).toHaveLength(1);
    const second = await table(`${widgets.path(namespace)}?continue=${first.metadata.continue}`);
    expect(second.rows.map(({ cells }) => cells[0])).toEqual(["b"]);
  });

  test.each([
    ["configmaps", ["Name", "Data", "Age"]],
    ["secrets", ["Name", "Type", "Data", "Age"]],
    ["services", ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector"]],
    [
      "events",
      [
        "Last Seen",
        "Type",
        "Reason",
        "Object",
        "Subobject",
        "Source",
        "Message",
        "First Seen",
        "Count",
        "Name",
      ],
    ],
  ])("of %s have the columns that kubectl shows", async (plural, columns) => {
    expect(names(await table(`/api/v1/namespaces/${namespace}/${plural}`))).toEqual(columns);
  });

  test("of cluster kinds have the columns that kubectl shows", async () => {
    expect(names(await table("/api/v1/namespaces"))).toEqual(["Name", "Status", "Age"]);
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    expect(names(await table(crds))).toEqual(["Name", "Created At"]);
    const nodes = names(await table("/api/v1/nodes"));
    expect(nodes.slice(0, 5)).toEqual(["Name", "Status", "Roles", "Age", "Version"]);
  });

  test("of leases have the columns that kubectl shows", async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    expect(names(await table(path))).toEqual(["Name", "Holder", "Age"]);
  });

  test("count the data of a ConfigMap, and show the ports of a Service", async () => {
    const own = await api.namespace();
    await api.ok("POST", configMaps(own), { metadata: { name: "a" }, data: { x: "1", y: "2" } });
    const maps = await table(configMaps(own));
    expect(maps.rows[0]?.cells.slice(0, 2)).toEqual(["a", 2]);

    const services = `/api/v1/namespaces/${own}/services`;
    const ports = [
      { name: "a", port: 80 },
      { name: "b", port: 53, protocol: "UDP" },
    ];
    await api.ok("POST", services, {
      metadata: { name: "s" },
      spec: { ports, clusterIP: "None", selector: { app: "x" } },
    });
    const { rows } = await table(services);
    const cells = rows[0]?.cells ?? [];
    expect(cells.slice(0, 5)).toEqual(["s", "ClusterIP", "None", "<none>", "80/TCP,53/UDP"]);
    expect(cells[6]).toBe("app=x");
  });

  test("of what is not there are a plain refusal", async () => {
    const { status, body } = await api.request<{ kind: string }>(
      "GET",
      widgets.path(namespace, "none"),
      undefined,
      { accept },
    );
    expect(status).toBe(404);
    expect(body.kind).toBe("Status");
  });

  test("are watched, with the columns in the first event", async () => {
    const watch = await api.watch(`${widgets.path(namespace)}?watch=true`, { accept });
    const first = (await watch.next()).object as unknown as Table;
    expect(first.kind).toBe("Table");
    expect(first.columnDefinitions).toHaveLength(6);
    expect(first.rows).toHaveLength(1);
    const second = (await watch.next()).object as unknown as Table;
    expect(second.columnDefinitions ?? []).toEqual([]);
    expect(second.rows[0]?.cells[0]).toBe("b");
  });
});

describeApi("metadata alone", (api) => {
  const widgets = withWidgets(api);
  const one = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  const list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  const withOne = async () => {
    const namespace = await api.namespace();
    const object = {
      ...widgets.widget("a", { spec: { k: 1 } }),
      metadata: { name: "a", labels: { l: "1" } },
    };
    await api.ok("POST", widgets.path(namespace), object);
    return namespace;
  };

  test("is given of one object", async () => {
    const namespace = await withOne();
    const { body, headers } = await api.request("GET", widgets.path(namespace, "a"), undefined, {
      accept: one,
    });
    expect(headers["content-type"]).toContain("application/json");
    expect(body).toMatchObject({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: { name: "a", namespace, labels: { l: "1" } },
    });
    expect(body).not.toHaveProperty("spec");
  });

  test("is given of a list", async () => {
    const namespace = await withOne();
    const body = await api.ok("GET", widgets.path(namespace), undefined, { accept: list });
    expect(body).toMatchObject({
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      items: [{ metadata: { name: "a" } }],
    });
    expect(JSON.stringify(body)).not.toContain('"spec"');
  });

  test("is given of a watch", async () => {
    const namespace = await withOne();
    const watch = await api.watch(`${widgets.path(namespace)}?watch=true`, { accept: one });
    const { type, object } = await watch.next();
    expect(type).toBe("ADDED");
    expect(object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "a" } });
    expect(object).not.toHaveProperty("spec");
  });

  test("is given of a built-in kind, and of a patch", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", configMaps(namespace), { metadata: { name: "a" }, data: { k: "v" } });
    const patched = await api.ok(
      "PATCH",
      configMaps(namespace, "a"),
      { metadata: { labels: { l: "1" } } },
      { accept: one },
    );
    expect(patched).toMatchObject({
      kind: "PartialObjectMetadata",
      metadata: { labels: { l: "1" } },
    });
    expect(patched).not.toHaveProperty("data");
  });
});
