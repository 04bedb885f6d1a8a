import { expect, test } from "vitest";
import { configMaps, describeApi, patches } from "./api.ts";
import { withWidgets } from "./widgets.ts";

const one = "example.com/one";
const two = "example.com/two";

describeApi("finalizers", (api) => {
  const widgets = withWidgets(api);
  const withHeld = async (finalizers = [one]) => {
    const namespace = await api.namespace();
    const object = {
      ...widgets.widget("a", { spec: { k: 1 } }),
      metadata: { name: "a", finalizers },
    };
    const made = await api.ok("POST", widgets.path(namespace), object);
    return { made, namespace, path: widgets.path(namespace, "a") };
  };

  test("hold an object that is deleted, with the time of that", async () => {
    const { made, path } = await withHeld();
    const { metadata } = await api.ok("DELETE", path);
    expect(metadata.uid).toBe(made.metadata.uid);
    expect(metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(metadata.deletionGracePeriodSeconds).toBe(0);
    expect(metadata.finalizers).toEqual([one]);
    expect((await api.ok("GET", path)).metadata).toEqual(metadata);
  });

  test("let the object go with the last of them", async () => {
    const { path } = await withHeld([one, two]);
    await api.ok("DELETE", path);
    await api.ok("PATCH", path, { metadata: { finalizers: [two] } });
    expect((await api.request("GET", path)).status).toBe(200);
    await api.ok("PATCH", path, { metadata: { finalizers: [] } });
    expect((await api.request("GET", path)).status).toBe(404);
  });

  test("let it go when a replacement leaves them out", async () => {
    const { path } = await withHeld();
    const held = await api.ok("DELETE", path);
    const { finalizers: _all, ...metadata } = held.metadata;
    await api.ok("PUT", path, { ...held, metadata });
    expect((await api.request("GET", path)).status).toBe(404);
  });

  test("let it go when a JSON patch takes the last one out", async () => {
    const { path } = await withHeld();
    await api.ok("DELETE", path);
    await api.ok("PATCH", path, [{ op: "remove", path: "/metadata/finalizers/0" }], patches.json);
    expect((await api.request("GET", path)).status).toBe(404);
  });

  test("keep the time of the first deletion", async () => {
    const { path } = await withHeld();
    const first = await api.ok("DELETE", path);
    const second = await api.ok("DELETE", path);
    expect(second.metadata.deletionTimestamp).toBe(first.metadata.deletionTimestamp);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test("are not added to an object that is going", async () => {
    const { path } = await withHeld();
    await api.ok("DELETE", path);
    const answer = await api.refused("PATCH", path, { metadata: { finalizers: [one, two] } });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.message).toContain(
      "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted",
    );
    expect(answer.details.causes?.[0]).toMatchObject({
      reason: "FieldValueForbidden",
      field: "metadata.finalizers",
    });
  });

  test("leave an object that is going open to other changes", async () => {
    const { path } = await withHeld();
    await api.ok("DELETE", path);
    expect((await api.ok("PATCH", path, { spec: { k: 2 } })).spec).toEqual({ k: 2 });
    expect((await api.ok("PATCH", `${path}/status`, { status: { b: 1 } })).status).toEqual({
      b: 1,
    });
  });

  test("of an object that is going cannot be undone by taking the time away", async () => {
    const { path } = await withHeld();
    const held = await api.ok("DELETE", path);
    await api.ok("PATCH", path, { metadata: { deletionTimestamp: null } });
    const { metadata } = await api.ok("GET", path);
    expect(metadata.deletionTimestamp).toBe(held.metadata.deletionTimestamp);
  });

  test("do not let a client begin a deletion by giving a time", async () => {
    const { path } = await withHeld();
    await api.request("PATCH", path, { metadata: { deletionTimestamp: "2030-01-01T00:00:00Z" } });
    expect((await api.ok("GET", path)).metadata).not.toHaveProperty("deletionTimestamp");
  });

  test("keep the name taken while the object goes", async () => {
    const { namespace, path } = await withHeld();
    await api.ok("DELETE", path);
    const answer = await api.refused("POST", widgets.path(namespace), widgets.widget("a"));
    expect(answer).toMatchObject({ code: 409, reason: "AlreadyExists" });
    expect(answer.message).toBe(
      `object is being deleted: widgets.${widgets.group} "a" already exists`,
    );
  });

  test("without a deletion come and go like any field", async () => {
    const { path } = await withHeld();
    const patched = await api.ok("PATCH", path, { metadata: { finalizers: [two] } });
    expect(patched.metadata.finalizers).toEqual([two]);
    const freed = await api.ok("PATCH", path, { metadata: { finalizers: null } });
    expect(freed.metadata).not.toHaveProperty("finalizers");
  });

  test("need a name with a domain", async () => {
    const namespace = await api.namespace();
    const metadata = { name: "a", finalizers: ["no domain"] };
    const answer = await api.refused("POST", widgets.path(namespace), {
      ...widgets.widget("a"),
      metadata,
    });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.details.causes?.[0]?.field).toMatch(/^metadata\.finalizers/);
  });

  test("hold objects that are deleted all at once", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", configMaps(namespace), { metadata: { name: "a", finalizers: [one] } });
    await api.ok("POST", configMaps(namespace), { metadata: { name: "b" } });
    await api.ok("DELETE", configMaps(namespace));
    expect((await api.ok("GET", configMaps(namespace, "a"))).metadata).toHaveProperty(
      "deletionTimestamp",
    );
    expect((await api.request("GET", configMaps(namespace, "b"))).status).toBe(404);
    await api.ok("PATCH", configMaps(namespace, "a"), { metadata: { finalizers: null } });
  });
});
