import { expect, test } from "vitest";
import { findOrBuildGoClients } from "../setup/binaries.ts";
import { type Api, configMaps, describeApi, eventually, type List } from "./api.ts";
import { start } from "./running.ts";
import { withWidgets } from "./widgets.ts";

const found = await findOrBuildGoClients((line) => process.stderr.write(`${line}\n`));
const program = "program" in found ? found.program : "";

describeApi("controllers in Go", suite, "missing" in found ? found.missing : undefined);

function suite(api: Api): void {
  const condition = {
    type: "object",
    required: ["type"],
    properties: { type: { type: "string" }, status: { type: "string" } },
  };
  const widgets = withWidgets(api, {
    spec: { type: "object", properties: { size: { type: "integer" } } },
    status: {
      type: "object",
      properties: {
        size: { type: "integer" },
        conditions: {
          type: "array",
          items: condition,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["type"],
        },
      },
    },
  });
  const run = (what: string, namespace: string, argument = "") =>
    start(program, [what, api.kubeconfig, namespace, argument]);
  const status = async (path: string) => (await api.request("GET", path)).status;

  test("see every object come, change and go through an informer of client-go", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", configMaps(namespace), { metadata: { name: "before" } });
    const informer = run("inform", namespace);
    await informer.saying("synced");
    // A synced cache has the object; its handler may run a moment later.
    await informer.saying("added before");
    await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    await informer.saying("added a");
    await api.ok("PATCH", configMaps(namespace, "a"), { data: { k: "v" } });
    await informer.saying("updated a");
    await api.ok("DELETE", configMaps(namespace, "a"));
    await informer.saying("deleted a");
  });

  test("elect one leader through a Lease, and another when it goes", async () => {
    const namespace = await api.namespace();
    const one = run("lead", namespace, "one");
    await one.saying("leading");
    const two = run("lead", namespace, "two");
    await two.saying("leader one");
    expect(two.lines()).not.toContain("leading");
    await one.end();
    await two.saying("leading");
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/leader`;
    expect((await api.ok("GET", path)).spec).toMatchObject({ holderIdentity: "two" });
  });

  test("reconcile through controller-runtime: own, apply, count and let go", async () => {
    const namespace = await api.namespace();
    const path = widgets.path(namespace, "a");
    run("manage", namespace, widgets.group);
    await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec: { size: 3 } }));
    const ready = (size: number) =>
      eventually(async () => {
        const widget = await api.ok("GET", path);
        const conditions = [{ type: "Ready", status: "True" }];
        expect(widget.status).toEqual({ size, conditions });
        return widget;
      });
    const widget = await ready(3);
    expect(widget.metadata.finalizers).toEqual(["example.com/go-clients"]);
    const made = await api.ok("GET", configMaps(namespace, "a-made"));
    expect(made.data).toEqual({ size: "3" });
    expect(made.metadata.ownerReferences).toMatchObject([
      { kind: "Widget", name: "a", uid: widget.metadata.uid, controller: true },
    ]);
    const managers = widget.metadata.managedFields?.filter(
      ({ manager }) => manager === "go-clients",
    );
    expect(managers?.map(({ operation, subresource }) => `${operation} ${subresource}`)).toContain(
      "Apply status",
    );
    await eventually(async () => {
      const events = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
      const { items } = await api.ok<List>("GET", events);
      expect(items.filter(({ reason }) => reason === "Made")).toMatchObject([
        { note: "made a-made", regarding: { kind: "Widget", name: "a" } },
      ]);
    });

    await api.ok("PATCH", path, { spec: { size: 5 } });
    await ready(5);
    await eventually(async () =>
      expect((await api.ok("GET", configMaps(namespace, "a-made"))).data).toEqual({ size: "5" }),
    );
    await api.ok("DELETE", configMaps(namespace, "a-made"));
    await eventually(async () => expect(await status(configMaps(namespace, "a-made"))).toBe(200));

    await api.ok("DELETE", path);
    await eventually(async () => expect(await status(path)).toBe(404));
    expect(await status(configMaps(namespace, "a-made"))).toBe(404);
  }, 60_000);
}
