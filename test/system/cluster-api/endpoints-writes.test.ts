import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { LastWrites, writeAnnotations } from "postern/cluster-api/endpoints/spec/write.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { expect, onTestFinished, test } from "vitest";
import { describeHosted } from "../hosted/world.ts";
import { azureClusterObject, namespaces } from "./objects.ts";

describeHosted("our last write of an AzureCluster", (startWorld) => {
  test("counts in every pass until the cache has heard of it", async () => {
    const world = await startWorld({ features: () => [] });
    await namespaces(world, "org");
    await world.make(azureClusterObject("org", "wc1"));
    const client = new KubeClient(await fromKubeconfig(world.cluster.kubeconfig));
    onTestFinished(() => client.close());
    const { signal } = new AbortController();
    const read = async () =>
      (await client.get(
        { kind: azureCluster, namespace: "org", name: "wc1" },
        signal,
      )) as AzureCluster;
    const cached = await read();
    const { uid = "" } = cached.metadata;
    const target = { namespace: "org", name: "wc1", uid };
    const writes = new LastWrites(client);
    writes.wrote(target, await writeAnnotations(client, target, { ours: "yes" }, signal));
    const ours = async (from: AzureCluster) =>
      (await writes.newest(from, signal)).metadata.annotations?.ours;
    expect(await ours(cached)).toBe("yes");
    expect(await ours(cached)).toBe("yes");

    const caughtUp = await read();
    expect(await writes.newest(caughtUp, signal)).toBe(caughtUp);
    expect(await writes.newest(cached, signal)).toBe(cached);
  });
});
