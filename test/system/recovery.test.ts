import { Agent } from "node:https";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { silentLog } from "postern/kube/log.ts";
import { Runtime } from "postern/kube/runtime.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnCluster } from "../setup/cluster.ts";
import { type Plane, startPlane } from "../setup/plane.ts";
import { send } from "../setup/request.ts";
import { installWidgets, type Widget, widgetFeature } from "./widget.ts";

// A control plane of its own, because the one of the run is shared and must stay up.
describeOnCluster("the runtime and an API server that dies", () => {
  let plane: Plane;

  beforeAll(async () => {
    plane = await startPlane();
    await installWidgets({ request });
  }, 60_000);
  afterAll(() => plane?.stop());

  // A connection of its own for each request: one that is kept would be dead after the restart.
  const agent = new Agent({ keepAlive: false });
  const request: Parameters<typeof installWidgets>[0]["request"] = (method, path, body, options) =>
    send(plane.address, method, path, body, {
      token: plane.address.tokens.admin,
      agent,
      ...options,
    });

  const widgets = "/apis/test.postern.io/v1/namespaces/default/widgets";
  const make = (name: string) =>
    request("POST", widgets, {
      apiVersion: "test.postern.io/v1",
      kind: "Widget",
      metadata: { name },
      spec: { size: 3 },
    });
  const sizeOf = async (name: string) =>
    (await request<Widget>("GET", `${widgets}/${name}`)).body.status?.size;

  test("goes on where it was after the API server was killed, and nothing that happened meanwhile is missed", async () => {
    const client = new KubeClient(await fromKubeconfig(plane.address.kubeconfig));
    const runtime = new Runtime({
      client,
      log: silentLog,
      features: [() => ({ feature: widgetFeature() })],
    });
    const stop = new AbortController();
    const running = runtime.run(stop.signal);
    await make("before");
    await expect.poll(() => sizeOf("before"), { timeout: 10_000 }).toBe(3);

    await plane.restart();
    await make("after");
    await expect.poll(() => sizeOf("after"), { timeout: 20_000 }).toBe(3);

    await request("DELETE", `${widgets}/before`);
    await expect
      .poll(() => runtime.caches.all()[0]?.get("default/before"), { timeout: 10_000 })
      .toBeUndefined();
    stop.abort();
    await running;
    client.close();
  }, 60_000);
});
