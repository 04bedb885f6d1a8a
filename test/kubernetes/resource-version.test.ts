import { expect, test } from "vitest";
import { configMaps, describeApi, type List, patches } from "./api.ts";
import { withWidgets } from "./widgets.ts";

describeApi("resource versions", (api) => {
  const widgets = withWidgets(api);
  const withVersion = (name: string, resourceVersion: string, data: object) => ({
    metadata: { name, resourceVersion },
    data,
  });

  test("grow with each change, over all kinds", async () => {
    const namespace = await api.namespace();
    const first = await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    const second = await api.ok("POST", widgets.path(namespace), widgets.widget("a"));
    const third = await api.ok("PATCH", configMaps(namespace, "a"), { data: { k: "v" } });
    const list = await api.ok<List>("GET", configMaps(namespace));
    const versions = [first, second, third, list].map((each) =>
      Number(each.metadata.resourceVersion),
    );
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions.slice(0, 3)).size).toBe(3);
  });

  test("that are old refuse a replacement", async () => {
    const namespace = await api.namespace();
    const made = await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    await api.ok("PATCH", configMaps(namespace, "a"), { data: { k: "1" } });
    const old = withVersion("a", made.metadata.resourceVersion, { k: "2" });
    expect(await api.refused("PUT", configMaps(namespace, "a"), old)).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      reason: "Conflict",
      details: { name: "a", kind: "configmaps" },
      code: 409,
    });
    expect((await api.ok("GET", configMaps(namespace, "a"))).data).toEqual({ k: "1" });
  });

  test("that are old refuse a patch that names them", async () => {
    const namespace = await api.namespace();
    const made = await api.ok("POST", widgets.path(namespace), widgets.widget("a"));
    await api.ok("PATCH", widgets.path(namespace, "a"), { spec: { k: 1 } });
    for (const options of [patches.merge, patches.json]) {
      const { resourceVersion } = made.metadata;
      const body =
        options === patches.merge
          ? { metadata: { resourceVersion }, spec: { k: 2 } }
          : [
              { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
              { op: "replace", path: "/spec/k", value: 2 },
            ];
      const answer = await api.refused("PATCH", widgets.path(namespace, "a"), body, options);
      expect(answer).toMatchObject({
        code: 409,
        reason: "Conflict",
        details: { name: "a", group: widgets.group, kind: "widgets" },
      });
    }
  });

  test("that are current allow a replacement", async () => {
    const namespace = await api.namespace();
    const made = await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    const { resourceVersion } = made.metadata;
    const put = await api.ok(
      "PUT",
      configMaps(namespace, "a"),
      withVersion("a", resourceVersion, { k: "v" }),
    );
    expect(Number(put.metadata.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
  });

  test("may be left out when a built-in is replaced", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    await api.ok("PATCH", configMaps(namespace, "a"), { data: { k: "1" } });
    const put = await api.ok("PUT", configMaps(namespace, "a"), { metadata: { name: "a" } });
    expect(put).not.toHaveProperty("data");
  });

  test("may not be left out when a custom resource is replaced", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a"));
    const answer = await api.refused("PUT", widgets.path(namespace, "a"), widgets.widget("a"));
    expect(answer).toMatchObject({
      code: 422,
      reason: "Invalid",
      message: `widgets.${widgets.group} "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
    });
    expect(answer.details.causes).toEqual([
      {
        reason: "FieldValueInvalid",
        message: "Invalid value: 0: must be specified for an update",
        field: "metadata.resourceVersion",
      },
    ]);
  });

  test("are not given to an object that is made", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("POST", configMaps(namespace), {
      metadata: { name: "a", resourceVersion: "1" },
    });
    expect(answer.message).toBe("resourceVersion should not be set on objects to be created");
  });

  test("go together with the uid: one of another object refuses a replacement", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    const answer = await api.refused("PUT", configMaps(namespace, "a"), {
      metadata: { name: "a", uid: "00000000-0000-0000-0000-000000000000" },
    });
    expect(answer).toMatchObject({ code: 409, reason: "Conflict" });
    expect(answer.message).toContain("Precondition failed: UID in precondition");
  });

  test("let only one of many who read the same write", async () => {
    const namespace = await api.namespace();
    const made = await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    const writes = Array.from({ length: 8 }, (_, writer) =>
      api.request(
        "PUT",
        configMaps(namespace, "a"),
        withVersion("a", made.metadata.resourceVersion, { writer: String(writer) }),
      ),
    );
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(409)]);
  });

  test("let every patch of many at once through that names none", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a"));
    const patching = Array.from({ length: 5 }, (_, writer) =>
      api.ok("PATCH", widgets.path(namespace, "a"), { spec: { [`w${writer}`]: writer } }),
    );
    await Promise.all(patching);
    const { spec } = await api.ok("GET", widgets.path(namespace, "a"));
    expect(Object.keys(spec ?? {})).toHaveLength(5);
  });
});
