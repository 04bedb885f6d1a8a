import { expect, test } from "vitest";
import { configMaps, eventually, type Thing } from "./api.ts";
import { describeCollected } from "./collected.ts";
import { withWidgets } from "./widgets.ts";

describeCollected("owners and what they own", (api) => {
  const widgets = withWidgets(api);
  const owned = (owner: Thing, more: object = {}) => ({
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    ...more,
  });
  const makeOwner = (namespace: string, name: string) =>
    api.ok("POST", widgets.path(namespace), widgets.widget(name));
  const makeOwned = (namespace: string, name: string, ownerReferences: object[], more = {}) =>
    api.ok("POST", configMaps(namespace), { metadata: { name, ownerReferences, ...more } });
  const isGone = (path: string) =>
    eventually(async () => expect((await api.request("GET", path)).status).toBe(404));
  const isThere = async (path: string) => expect((await api.request("GET", path)).status).toBe(200);

  test("an object goes after its owner", async () => {
    const namespace = await api.namespace();
    const owner = await makeOwner(namespace, "o");
    await makeOwned(namespace, "a", [owned(owner)]);
    await api.ok("DELETE", widgets.path(namespace, "o"));
    await isGone(configMaps(namespace, "a"));
  });

  test("an object goes after the owner of its owner", async () => {
    const namespace = await api.namespace();
    const owner = await makeOwner(namespace, "o");
    const middle = await makeOwned(namespace, "m", [owned(owner)]);
    await makeOwned(namespace, "a", [owned(middle)]);
    await api.ok("DELETE", widgets.path(namespace, "o"));
    await isGone(configMaps(namespace, "a"));
  });

  test("an object with another owner stays, and forgets the one that is gone", async () => {
    const namespace = await api.namespace();
    const [one, two] = [await makeOwner(namespace, "one"), await makeOwner(namespace, "two")];
    await makeOwned(namespace, "a", [owned(one), owned(two)]);
    await api.ok("DELETE", widgets.path(namespace, "one"));
    await eventually(async () => {
      const { metadata } = await api.ok("GET", configMaps(namespace, "a"));
      expect(metadata.ownerReferences).toEqual([owned(two)]);
    });
    await api.ok("DELETE", widgets.path(namespace, "two"));
    await isGone(configMaps(namespace, "a"));
  });

  test("an object whose owner never was goes", async () => {
    const namespace = await api.namespace();
    const uid = "00000000-0000-0000-0000-000000000000";
    await makeOwned(namespace, "a", [{ apiVersion: "v1", kind: "ConfigMap", name: "none", uid }]);
    await isGone(configMaps(namespace, "a"));
  });

  test("an object goes whose owner has been made anew", async () => {
    const namespace = await api.namespace();
    const owner = await makeOwner(namespace, "o");
    await api.ok("DELETE", widgets.path(namespace, "o"));
    await makeOwner(namespace, "o");
    await makeOwned(namespace, "a", [owned(owner)]);
    await isGone(configMaps(namespace, "a"));
    await isThere(widgets.path(namespace, "o"));
  });

  test("an owner that orphans leaves what it owned, without a trace of itself", async () => {
    const namespace = await api.namespace();
    const owner = await makeOwner(namespace, "o");
    await makeOwned(namespace, "a", [owned(owner)]);
    // The controller learns of an object in its own time, and orphans those that it knows.
    await eventually(async () => {
      const entries = await api.ok("GET", configMaps(namespace, "a"));
      expect(entries.metadata.ownerReferences).toHaveLength(1);
    });
    await api.ok("DELETE", widgets.path(namespace, "o"), { propagationPolicy: "Orphan" });
    await isGone(widgets.path(namespace, "o"));
    const { metadata } = await api.ok("GET", configMaps(namespace, "a"));
    expect(metadata).not.toHaveProperty("ownerReferences");
  });

  test("an owner that waits goes after what blocks it", async () => {
    const namespace = await api.namespace();
    const owner = await makeOwner(namespace, "o");
    const held = { finalizers: ["example.com/a"] };
    await makeOwned(namespace, "a", [owned(owner, { blockOwnerDeletion: true })], held);
    const path = widgets.path(namespace, "o");
    const left = await api.ok("DELETE", path, { propagationPolicy: "Foreground" });
    expect(left.metadata.finalizers).toEqual(["foregroundDeletion"]);
    await eventually(async () =>
      expect((await api.ok("GET", configMaps(namespace, "a"))).metadata).toHaveProperty(
        "deletionTimestamp",
      ),
    );
    await isThere(path);
    await api.ok("PATCH", configMaps(namespace, "a"), { metadata: { finalizers: null } });
    await isGone(configMaps(namespace, "a"));
    await isGone(path);
  });

  test("an owner that waits does not wait for what does not block it", async () => {
    const namespace = await api.namespace();
    const owner = await makeOwner(namespace, "o");
    await makeOwned(namespace, "a", [owned(owner)], { finalizers: ["example.com/a"] });
    await api.ok("DELETE", widgets.path(namespace, "o"), { propagationPolicy: "Foreground" });
    await isGone(widgets.path(namespace, "o"));
    await eventually(async () =>
      expect((await api.ok("GET", configMaps(namespace, "a"))).metadata).toHaveProperty(
        "deletionTimestamp",
      ),
    );
    await api.ok("PATCH", configMaps(namespace, "a"), { metadata: { finalizers: null } });
  });

  test("an owner with a finalizer keeps what it owns until it is gone itself", async () => {
    const namespace = await api.namespace();
    const metadata = { name: "o", finalizers: ["example.com/o"] };
    const owner = await api.ok("POST", widgets.path(namespace), {
      ...widgets.widget("o"),
      metadata,
    });
    await makeOwned(namespace, "a", [owned(owner)]);
    await api.ok("DELETE", widgets.path(namespace, "o"));
    await makeOwned(namespace, "later", [owned(owner)]);
    await isThere(configMaps(namespace, "a"));
    await api.ok("PATCH", widgets.path(namespace, "o"), { metadata: { finalizers: null } });
    await isGone(configMaps(namespace, "a"));
    await isGone(configMaps(namespace, "later"));
  });

  test("an owner of cluster scope owns objects of namespaces", async () => {
    const namespace = await api.namespace();
    const node = await api.ok("POST", "/api/v1/nodes", { metadata: { name: `n-${namespace}` } });
    await makeOwned(namespace, "a", [owned(node)]);
    await isThere(configMaps(namespace, "a"));
    await api.ok("DELETE", `/api/v1/nodes/n-${namespace}`);
    await isGone(configMaps(namespace, "a"));
  });

  test("an object cannot have two controllers", async () => {
    const namespace = await api.namespace();
    const [one, two] = [await makeOwner(namespace, "one"), await makeOwner(namespace, "two")];
    const ownerReferences = [owned(one, { controller: true }), owned(two, { controller: true })];
    const answer = await api.refused("POST", configMaps(namespace), {
      metadata: { name: "a", ownerReferences },
    });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.details.causes?.[0]?.field).toBe("metadata.ownerReferences");
  });

  test("an owner needs all of its names", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("POST", configMaps(namespace), {
      metadata: { name: "a", ownerReferences: [{ apiVersion: "v1" }] },
    });
    expect(answer.details.causes?.map(({ field }) => field).toSorted()).toEqual([
      "metadata.ownerReferences.kind",
      "metadata.ownerReferences.name",
      "metadata.ownerReferences.uid",
    ]);
  });
});
