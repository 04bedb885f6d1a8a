import { expect, test } from "vitest";
import { configMaps, describeApi, patches, type Thing } from "./api.ts";
import { withWidgets } from "./widgets.ts";

describeApi("a dry run", (api) => {
  const widgets = withWidgets(api, {
    spec: { type: "object", properties: { size: { type: "integer", default: 7, maximum: 9 } } },
  });

  test("of a creation shows what it would make, and makes nothing", async () => {
    const namespace = await api.namespace();
    const path = `${widgets.path(namespace)}?dryRun=All`;
    const { status, body } = await api.request<Thing>(
      "POST",
      path,
      widgets.widget("a", { spec: {} }),
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({ metadata: { name: "a", namespace }, spec: { size: 7 } });
    expect(body.metadata.uid).not.toBe("");
    expect(body.metadata).not.toHaveProperty("resourceVersion");
    expect((await api.request("GET", widgets.path(namespace, "a"))).status).toBe(404);
  });

  test("of a creation refuses what a creation refuses", async () => {
    const namespace = await api.namespace();
    const path = `${widgets.path(namespace)}?dryRun=All`;
    const answer = await api.refused("POST", path, widgets.widget("a", { spec: { size: 10 } }));
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    await api.ok("POST", widgets.path(namespace), widgets.widget("a"));
    expect(await api.refused("POST", path, widgets.widget("a"))).toMatchObject({ code: 409 });
  });

  test.each([
    ["a replacement", "PUT", undefined],
    ["a patch", "PATCH", patches.merge],
    ["an apply", "PATCH", patches.apply],
  ])("of %s shows the change, and does not make it", async (_what, method, options) => {
    const namespace = await api.namespace();
    const path = configMaps(namespace, "a");
    const made = await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } };
    const shown = await api.ok(method, `${path}?dryRun=All&fieldManager=one`, body, options);
    expect(shown.data).toEqual({ k: "v" });
    expect(await api.ok("GET", path)).toEqual(made);
  });

  test("of a deletion leaves the object", async () => {
    const namespace = await api.namespace();
    const path = configMaps(namespace, "a");
    const made = await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    expect(await api.ok("DELETE", `${path}?dryRun=All`)).toMatchObject({ status: "Success" });
    await api.ok("DELETE", path, { dryRun: ["All"] });
    expect(await api.ok("GET", path)).toEqual(made);
  });

  test("tells no watch of anything", async () => {
    const namespace = await api.namespace();
    const path = configMaps(namespace);
    const { metadata } = await api.ok("GET", path);
    const watch = await api.watch(`${path}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    await api.ok("POST", `${path}?dryRun=All`, { metadata: { name: "a" } });
    await api.ok("POST", path, { metadata: { name: "b" } });
    expect(await watch.names(1)).toEqual(["ADDED b"]);
  });

  test("of a kind that nobody knows is refused", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("POST", `${configMaps(namespace)}?dryRun=Some`, {
      metadata: { name: "a" },
    });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.details.causes).toMatchObject([
      { reason: "FieldValueNotSupported", field: "dryRun" },
    ]);
  });
});
