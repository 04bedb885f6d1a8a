import { expect, test } from "vitest";
import { describeApi, patches } from "./api.ts";
import { installWidgets, withWidgets } from "./widgets.ts";

describeApi("the status and the generation", (api) => {
  const widgets = withWidgets(api);
  const withOne = async (fields: object = {}) => {
    const namespace = await api.namespace();
    const made = await api.ok("POST", widgets.path(namespace), widgets.widget("a", fields));
    return {
      made,
      path: widgets.path(namespace, "a"),
      status: widgets.path(namespace, "a", "status"),
    };
  };

  test("a status is not made with its object", async () => {
    const { made } = await withOne({ spec: { a: 1 }, status: { ready: true } });
    expect(made).not.toHaveProperty("status");
    expect(made.metadata.generation).toBe(1);
  });

  test("a status is not replaced with its object", async () => {
    const { made, path, status } = await withOne({ spec: { a: 1 } });
    await api.ok("PATCH", status, { status: { ready: true } });
    const now = await api.ok("GET", path);
    const put = await api.ok("PUT", path, { ...now, spec: { a: 2 }, status: { ready: false } });
    expect(put).toMatchObject({ spec: { a: 2 }, status: { ready: true } });
    expect(put.metadata.uid).toBe(made.metadata.uid);
  });

  test("a status is not patched with its object", async () => {
    const { path } = await withOne();
    expect(await api.ok("PATCH", path, { status: { ready: true } })).not.toHaveProperty("status");
  });

  test("the status alone is replaced at its own path", async () => {
    const { made, status } = await withOne({ spec: { a: 1 } });
    const put = await api.ok("PUT", status, {
      ...made,
      metadata: { ...made.metadata, labels: { l: "1" }, annotations: { n: "1" } },
      spec: { a: 2 },
      status: { ready: true },
    });
    expect(put).toMatchObject({ spec: { a: 1 }, status: { ready: true } });
    expect(put.metadata).not.toHaveProperty("labels");
    expect(put.metadata).not.toHaveProperty("annotations");
  });

  test.each([
    ["merge patch", { status: { ready: true }, spec: { a: 2 } }, patches.merge],
    ["JSON patch", [{ op: "add", path: "/status", value: { ready: true } }], patches.json],
  ])("the status alone is patched at its own path by a %s", async (_name, body, options) => {
    const { status } = await withOne({ spec: { a: 1 } });
    const patched = await api.ok("PATCH", status, body, options);
    expect(patched).toMatchObject({ spec: { a: 1 }, status: { ready: true } });
  });

  test("the path of the status shows the whole object", async () => {
    const { made, status } = await withOne({ spec: { a: 1 } });
    expect(await api.ok("GET", status)).toEqual(made);
  });

  test("the generation moves with the spec", async () => {
    const { path } = await withOne({ spec: { a: 1 } });
    expect((await api.ok("PATCH", path, { spec: { a: 2 } })).metadata.generation).toBe(2);
    expect((await api.ok("PATCH", path, { spec: { a: 2 } })).metadata.generation).toBe(2);
    expect((await api.ok("PATCH", path, { spec: { a: null } })).metadata.generation).toBe(3);
  });

  test("the generation does not move with labels, annotations or finalizers", async () => {
    const { path } = await withOne();
    const metadata = { labels: { a: "1" }, annotations: { a: "1" }, finalizers: ["example.com/a"] };
    expect((await api.ok("PATCH", path, { metadata })).metadata.generation).toBe(1);
  });

  test("the generation does not move with the status", async () => {
    const { status } = await withOne();
    const patched = await api.ok("PATCH", status, { status: { ready: true } });
    expect(patched.metadata.generation).toBe(1);
  });

  test("the generation moves when a deletion begins", async () => {
    const { path } = await withOne({ metadata: { name: "a", finalizers: ["example.com/a"] } });
    await api.ok("DELETE", path);
    expect((await api.ok("GET", path)).metadata.generation).toBe(2);
  });

  test("the generation that a client sends is not taken", async () => {
    const { made, path } = await withOne();
    const metadata = { ...made.metadata, generation: 9, labels: { a: "1" } };
    expect((await api.ok("PUT", path, { ...made, metadata })).metadata.generation).toBe(1);
  });

  test("an old resource version refuses a status", async () => {
    const { made, path, status } = await withOne();
    await api.ok("PATCH", path, { spec: { a: 1 } });
    const answer = await api.refused("PUT", status, { ...made, status: { ready: true } });
    expect(answer).toMatchObject({ code: 409, reason: "Conflict" });
  });

  test("a status of an object that is not there is not found", async () => {
    const namespace = await api.namespace();
    const path = widgets.path(namespace, "none", "status");
    expect(await api.refused("PATCH", path, { status: {} })).toMatchObject({ code: 404 });
  });

  test("a kind without a status subresource has a status like any field", async () => {
    const plain = await installWidgets(api, { version: { subresources: {} } });
    const namespace = await api.namespace();
    const path = plain.path(namespace, "a");
    const made = await api.ok(
      "POST",
      plain.path(namespace),
      plain.widget("a", { status: { b: 1 } }),
    );
    expect(made.status).toEqual({ b: 1 });
    const patched = await api.ok("PATCH", path, { status: { b: 2 } });
    expect(patched).toMatchObject({ status: { b: 2 }, metadata: { generation: 2 } });
    expect((await api.request("GET", `${path}/status`)).status).toBe(404);
  });

  test("a built-in keeps its status apart too", async () => {
    const namespace = await api.namespace();
    const path = `/api/v1/namespaces/${namespace}/services`;
    const spec = { ports: [{ port: 80 }] };
    const ingress = [{ ip: "10.0.0.4", ipMode: "VIP" }];
    await api.ok("POST", path, {
      metadata: { name: "a" },
      spec: { ...spec, type: "LoadBalancer" },
      status: { loadBalancer: { ingress } },
    });
    expect((await api.ok("GET", `${path}/a`)).status).toEqual({ loadBalancer: {} });
    await api.ok("PATCH", `${path}/a/status`, { status: { loadBalancer: { ingress } } });
    expect((await api.ok("GET", `${path}/a`)).status).toEqual({ loadBalancer: { ingress } });
  });
});
