import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { caller } from "../../../../test/azure/fake-arm.ts";
import { Arm } from "../azure/arm.ts";
import { type Cloud, cloudNamed, customCloud } from "../azure/clouds.ts";
import { AzureError } from "../azure/errors.ts";
import { staticToken } from "../azure/tokens.ts";
import { Caches } from "../kube/caches.ts";
import { KubeClient } from "../kube/client.ts";
import { silentLog } from "../kube/log.ts";
import type { Reconcile } from "../kube/reconcile.ts";
import { clusterArmClients, identityOf } from "./identities.ts";

function cluster(spec: object = {}, metadata: object = {}): AzureCluster {
  return {
    metadata: { namespace: "org", name: "wc", ...metadata },
    spec: { location: "x", identityRef: { name: "one" }, ...spec },
  } as AzureCluster;
}

/** Views with no identity to be found: what they say is all that can be seen of them. */
function clients(own: Cloud) {
  const made: string[] = [];
  const armClient = (cloud: Cloud) => {
    const arm = new Arm({ cloud, credential: staticToken("t") });
    onTestFinished(() => arm.close());
    return arm;
  };
  const connection = {
    server: new URL("http://127.0.0.1:1"),
    namespace: "default",
    source: "test",
    proof: async () => ({}),
  };
  const kube = new KubeClient(connection);
  const all = clusterArmClients({
    arm: armClient(own),
    armClientFor: (cloud) => {
      made.push(cloud.name);
      return armClient(cloud);
    },
    managementCluster: { namespace: "org-mc", name: "mc" },
  });
  all.watch({ caches: new Caches({ client: kube, log: silentLog }), kube });
  const refusal = (of: AzureCluster) => {
    try {
      all.of(of, caller() as Reconcile);
    } catch (error) {
      if (error instanceof AzureError) return error;
      throw error;
    }
    throw new Error("it was not refused");
  };
  return { made, refusal };
}

describe("the cloud of an AzureCluster", () => {
  test.each([
    ["is the operator's own where it says none", undefined, []],
    ["is the operator's own where it says that, in any case", "azurepubliccloud", []],
    ["is another where it says so", "AzureUSGovernmentCloud", ["AzureUSGovernmentCloud"]],
  ])("%s", (_name, azureEnvironment, desired) => {
    const { made, refusal } = clients(cloudNamed("AzurePublicCloud"));
    expect(refusal(cluster({ azureEnvironment })).code).toBe("ClusterIdentityMissing");
    expect(made).toEqual(desired);
  });

  test("gets one ARM client, however many clusters are in it", () => {
    const { made, refusal } = clients(cloudNamed("AzurePublicCloud"));
    const azureEnvironment = "AzureChinaCloud";
    refusal(cluster({ azureEnvironment }));
    refusal(cluster({ azureEnvironment }, { name: "other" }));
    expect(made).toEqual(["AzureChinaCloud"]);
  });

  test("is told where there is none of that name", () => {
    const { refusal } = clients(cloudNamed("AzurePublicCloud"));
    expect(refusal(cluster({ azureEnvironment: "Nimbus" })).code).toBe("UnknownCloud");
  });

  test("is the simulator's whatever it says, where the operator is in one", () => {
    const { made, refusal } = clients(customCloud({ resourceManager: "http://127.0.0.1:1" }));
    refusal(cluster({ azureEnvironment: "AzureChinaCloud" }));
    expect(made).toEqual([]);
  });
});

describe("the identity that an AzureCluster names", () => {
  test.each<[string, object | null | undefined, unknown]>([
    ["is in its own namespace", { name: "one" }, { name: "one", namespace: "org" }],
    [
      "is in the namespace that is said",
      { name: "one", namespace: "far" },
      { name: "one", namespace: "far" },
    ],
    [
      "is in its own where an empty one is said",
      { name: "one", namespace: "" },
      { name: "one", namespace: "org" },
    ],
    ["is none without a reference", undefined, undefined],
    ["is none by a null reference", null, undefined],
    ["is none without a name", {}, undefined],
  ])("%s", (_name, identityRef, desired) => {
    expect(identityOf(cluster({ identityRef }))).toEqual(desired);
  });
});
