import { expect, test } from "vitest";
import { configMaps, describeApi, type List } from "./api.ts";
import { withWidgets } from "./widgets.ts";

const nobody = "00000000-0000-0000-0000-000000000000";

describeApi("deletions", (api) => {
  const widgets = withWidgets(api);
  const withOne = async () => {
    const namespace = await api.namespace();
    const made = await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    return { made, namespace, path: configMaps(namespace, "a") };
  };

  test("answer with what has gone", async () => {
    const { made, path } = await withOne();
    expect(await api.ok("DELETE", path)).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "a", kind: "configmaps", uid: made.metadata.uid },
    });
    expect((await api.request("GET", path)).status).toBe(404);
  });

  test("of a custom resource name its group", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a"));
    expect(await api.ok("DELETE", widgets.path(namespace, "a"))).toMatchObject({
      status: "Success",
      details: { name: "a", group: widgets.group, kind: "widgets" },
    });
  });

  test("of what is not there are refused", async () => {
    const answer = await api.refused("DELETE", configMaps(await api.namespace(), "a"));
    expect(answer).toMatchObject({
      code: 404,
      reason: "NotFound",
      message: 'configmaps "a" not found',
    });
  });

  test("free the name for a new object", async () => {
    const { made, namespace, path } = await withOne();
    await api.ok("DELETE", path);
    const again = await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    expect(again.metadata.uid).not.toBe(made.metadata.uid);
  });

  test("take their options in the body", async () => {
    const { path } = await withOne();
    const options = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
      propagationPolicy: "Background",
    };
    expect(await api.ok("DELETE", path, options)).toMatchObject({ status: "Success" });
  });

  test("of an object with another uid are refused", async () => {
    const { made, path } = await withOne();
    const answer = await api.refused("DELETE", path, { preconditions: { uid: nobody } });
    expect(answer).toMatchObject({
      code: 409,
      reason: "Conflict",
      message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (${nobody}) does not match the UID in record (${made.metadata.uid}). The object might have been deleted and then recreated`,
    });
    expect((await api.request("GET", path)).status).toBe(200);
  });

  test("of an object in another version are refused", async () => {
    const { made, path } = await withOne();
    await api.ok("PATCH", path, { data: { k: "v" } });
    const { resourceVersion } = made.metadata;
    const answer = await api.refused("DELETE", path, { preconditions: { resourceVersion } });
    expect(answer).toMatchObject({ code: 409, reason: "Conflict" });
    expect(answer.message).toContain(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match`,
    );
  });

  test("of the object that is meant are granted", async () => {
    const { made, path } = await withOne();
    const { uid, resourceVersion } = made.metadata;
    await api.ok("DELETE", path, { preconditions: { uid, resourceVersion } });
    expect((await api.request("GET", path)).status).toBe(404);
  });

  test("that wait for dependents leave the object with a finalizer", async () => {
    const { path } = await withOne();
    const left = await api.ok("DELETE", path, { propagationPolicy: "Foreground" });
    expect(left.metadata).toMatchObject({
      finalizers: ["foregroundDeletion"],
      deletionGracePeriodSeconds: 0,
    });
    expect(left.metadata).toHaveProperty("deletionTimestamp");
  });

  test("that orphan dependents leave the object with a finalizer", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a"));
    const path = `${widgets.path(namespace, "a")}?propagationPolicy=Orphan`;
    expect((await api.ok("DELETE", path)).metadata.finalizers).toEqual(["orphan"]);
  });

  test.each([
    ["a policy that nobody knows", { propagationPolicy: "Sometimes" }],
    ["two wishes at once", { propagationPolicy: "Orphan", orphanDependents: true }],
  ])("refuse %s", async (_what, options) => {
    const { path } = await withOne();
    const answer = await api.refused("DELETE", path, options);
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect((await api.request("GET", path)).status).toBe(200);
  });

  test("of all objects of a namespace answer with the list of them", async () => {
    const { namespace } = await withOne();
    await api.ok("POST", configMaps(namespace), { metadata: { name: "b" } });
    const gone = await api.ok<List>("DELETE", configMaps(namespace));
    expect(gone.kind).toBe("ConfigMapList");
    expect(gone.items.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
    expect((await api.ok<List>("GET", configMaps(namespace))).items).toEqual([]);
  });

  test("of all objects leave those of other namespaces", async () => {
    const [one, other] = [await withOne(), await withOne()];
    await api.ok("DELETE", configMaps(one.namespace));
    expect((await api.request("GET", other.path)).status).toBe(200);
  });

  test("of all objects by field take only that one", async () => {
    const { namespace } = await withOne();
    await api.ok("POST", configMaps(namespace), { metadata: { name: "b" } });
    await api.ok("DELETE", `${configMaps(namespace)}?fieldSelector=metadata.name%3Da`);
    const { items } = await api.ok<List>("GET", configMaps(namespace));
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["b"]);
  });
});
