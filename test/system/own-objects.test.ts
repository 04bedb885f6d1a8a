import type { Kind, KubeObject } from "@postern/core/kind.ts";
import { WatchCache } from "postern/kube/cache.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { silentLog } from "postern/kube/log.ts";
import { OwnObjects } from "postern/kube/own-objects.ts";
import { expect, onTestFinished, test } from "vitest";
import { describeOnCluster } from "../setup/cluster.ts";

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

const configMaps: Kind<ConfigMap> = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

describeOnCluster("objects that a feature makes beside its own", (cluster) => {
  /** With a watch that hears nothing until it is started. */
  async function objectsIn(namespace: string) {
    const requests: string[] = [];
    const client = new KubeClient(await fromKubeconfig(cluster.kubeconfig), {
      onRequest: ({ method, code }) => requests.push(`${method} ${code}`),
    });
    const cache = new WatchCache({ client, kind: configMaps, namespace, log: silentLog });
    const objects = new OwnObjects(cache, client, "postern-test");
    const stop = new AbortController();
    const { signal } = stop;
    let running: Promise<void> | undefined;
    onTestFinished(async () => {
      stop.abort();
      await running;
      client.close();
    });
    const listen = async () => {
      running = cache.run(signal);
      await cache.filled;
      requests.length = 0;
    };
    const place = { namespace, name: "a" };
    const object: ConfigMap = { metadata: { ...place }, data: { size: "1" } };
    const read = () => objects.get(place, signal);
    return { objects, cache, requests, listen, read, object, signal };
  }

  test("are read from the API until the watch has brought what was written, and then no more", async () => {
    const { objects, read, listen, requests, object, signal } = await objectsIn(
      await cluster.namespace(),
    );
    expect(await read()).toBeUndefined();
    await objects.create(object, signal);
    const made = await read();
    expect(made?.data).toEqual({ size: "1" });
    if (!made) return;
    await objects.change(made, { data: { size: "2" } }, signal);
    expect((await read())?.data).toEqual({ size: "2" });
    await listen();
    expect((await read())?.data).toEqual({ size: "2" });
    expect(requests).toEqual([]);
  });

  test("are neither changed nor deleted when another has taken their place", async () => {
    const { objects, listen, read, object, signal } = await objectsIn(await cluster.namespace());
    await listen();
    await objects.create(object, signal);
    const old = await read();
    if (!old) throw new Error("it was not made");
    const stranger = { ...old, metadata: { ...old.metadata, uid: "another" } };
    await expect(objects.change(stranger, { data: { size: "9" } }, signal)).rejects.toMatchObject({
      status: 409,
    });
    await expect(objects.remove(stranger, signal)).rejects.toMatchObject({ status: 409 });
    expect((await read())?.data).toEqual({ size: "1" });
    await objects.remove(old, signal);
    expect(await read()).toBeUndefined();
    await objects.remove(old, signal);
  });

  test("that somebody else made meanwhile are seen, not made twice", async () => {
    const { objects, read, object, signal } = await objectsIn(await cluster.namespace());
    const { namespace } = object.metadata;
    await cluster.request("POST", `/api/v1/namespaces/${namespace}/configmaps`, {
      ...object,
      data: { size: "theirs" },
    });
    await objects.create(object, signal);
    expect((await read())?.data).toEqual({ size: "theirs" });
  });
});
