import { expect, test } from "vitest";
import { configMaps, eventually } from "./api.ts";
import { describeCollected } from "./collected.ts";
import { withWidgets } from "./widgets.ts";

describeCollected("namespaces that are deleted", (api) => {
  const widgets = withWidgets(api);
  const path = (name: string) => `/api/v1/namespaces/${name}`;
  const isGone = (at: string) =>
    eventually(async () => expect((await api.request("GET", at)).status).toBe(404));
  const withHeld = async () => {
    const namespace = await api.namespace();
    const metadata = { name: "held", finalizers: ["example.com/a"] };
    await api.ok("POST", widgets.path(namespace), { ...widgets.widget("held"), metadata });
    return namespace;
  };
  const letGo = (namespace: string) =>
    api.ok("PATCH", widgets.path(namespace, "held"), { metadata: { finalizers: null } });

  test("that are empty go", async () => {
    const name = await api.namespace();
    const answer = await api.ok("DELETE", path(name));
    expect(answer).toMatchObject({ metadata: { name }, status: { phase: "Terminating" } });
    await isGone(path(name));
  });

  test("take with them all that they hold", async () => {
    const name = await api.namespace();
    await api.ok("POST", configMaps(name), { metadata: { name: "a" } });
    await api.ok("POST", widgets.path(name), widgets.widget("a"));
    await api.ok("DELETE", path(name));
    await isGone(path(name));
    expect((await api.request("GET", configMaps(name, "a"))).status).toBe(404);
    expect((await api.request("GET", widgets.path(name, "a"))).status).toBe(404);
  });

  test("wait for the finalizers of what they hold", async () => {
    const name = await withHeld();
    await api.ok("DELETE", path(name));
    await eventually(async () =>
      expect((await api.ok("GET", widgets.path(name, "held"))).metadata).toHaveProperty(
        "deletionTimestamp",
      ),
    );
    const waiting = await api.ok("GET", path(name));
    expect(waiting).toMatchObject({
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Terminating" },
    });
    expect(waiting.metadata).toHaveProperty("deletionTimestamp");
    await letGo(name);
    await isGone(path(name));
  });

  test("say what they wait for", async () => {
    const name = await withHeld();
    await api.ok("DELETE", path(name));
    await eventually(async () => {
      const { status } = await api.ok("GET", path(name));
      const conditions = status?.conditions as { type: string; status: string; message: string }[];
      const finalizers = conditions.find(({ type }) => type === "NamespaceFinalizersRemaining");
      expect(finalizers).toMatchObject({ status: "True" });
      expect(finalizers?.message).toContain("example.com/a in 1 resource instances");
      const content = conditions.find(({ type }) => type === "NamespaceContentRemaining");
      expect(content?.message).toContain(`widgets.${widgets.group} has 1 resource instances`);
    });
    await letGo(name);
    await isGone(path(name));
  });

  test("take nothing new in", async () => {
    const name = await withHeld();
    await api.ok("DELETE", path(name));
    const answer = await api.refused("POST", configMaps(name), { metadata: { name: "a" } });
    expect(answer).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message: `configmaps "a" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
    });
    expect(answer.details.causes).toEqual([
      {
        reason: "NamespaceTerminating",
        message: `namespace ${name} is being terminated`,
        field: "metadata.namespace",
      },
    ]);
    await letGo(name);
    await isGone(path(name));
  });

  test("let what they hold be changed", async () => {
    const name = await withHeld();
    await api.ok("DELETE", path(name));
    const patched = await api.ok("PATCH", widgets.path(name, "held"), { spec: { a: 1 } });
    expect(patched.spec).toEqual({ a: 1 });
    await letGo(name);
    await isGone(path(name));
  });

  test("can be made again when they are gone", async () => {
    const name = await api.namespace();
    const first = await api.ok("GET", path(name));
    await api.ok("DELETE", path(name));
    await isGone(path(name));
    const again = await api.ok("POST", "/api/v1/namespaces", { metadata: { name } });
    expect(again.metadata.uid).not.toBe(first.metadata.uid);
    expect(again).toMatchObject({ status: { phase: "Active" } });
  });

  test("cannot be made again before that", async () => {
    const name = await withHeld();
    await api.ok("DELETE", path(name));
    const answer = await api.refused("POST", "/api/v1/namespaces", { metadata: { name } });
    expect(answer).toMatchObject({ code: 409, reason: "AlreadyExists" });
    await letGo(name);
    await isGone(path(name));
  });

  test("can be deleted twice", async () => {
    const name = await withHeld();
    await api.ok("DELETE", path(name));
    const again = await api.request("DELETE", path(name));
    expect([200, 202, 409]).toContain(again.status);
    await letGo(name);
    await isGone(path(name));
  });

  test.each(["default", "kube-system", "kube-public"])("are not %s", async (name) => {
    await eventually(() => api.ok("GET", path(name)));
    const answer = await api.refused("DELETE", path(name));
    expect(answer).toMatchObject({ code: 403, reason: "Forbidden" });
    expect(answer.message).toContain("this namespace may not be deleted");
  });

  test("are told to those who watch, step by step", async () => {
    const name = await withHeld();
    const { metadata } = await api.ok("GET", path(name));
    const query = `watch=true&fieldSelector=metadata.name%3D${name}`;
    const from = `resourceVersion=${metadata.resourceVersion}`;
    const watch = await api.watch(`/api/v1/namespaces?${query}&${from}`);
    await api.ok("DELETE", path(name));
    expect(await watch.next()).toMatchObject({
      type: "MODIFIED",
      object: { status: { phase: "Terminating" } },
    });
    await letGo(name);
    for (;;) {
      const { type } = await watch.next();
      if (type === "DELETED") return;
      expect(type).toBe("MODIFIED");
    }
  });
});
