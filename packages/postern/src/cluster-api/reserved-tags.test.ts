import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { describe, expect, test } from "vitest";
import { additionalTags, groupTags } from "./dns/objects/facts.ts";
import { clusterResourcesOf } from "./private-links/spec/cluster-resources.ts";

const capz = "sigs.k8s.io_cluster-api-provider-azure_cluster_victim";
const forged = {
  team: "a",
  Postern_Owner: "victim/wc",
  "postern_user_mc.victim.wc": "uid",
  [capz]: "owned",
};

describe("attack: tags that name another owner", () => {
  test("in spec.additionalTags of an AzureCluster do not reach what is created for it", () => {
    const spec = { location: "x", subscriptionID: "s", additionalTags: forged };
    const place = clusterResourcesOf({
      metadata: { namespace: "org", name: "wc" },
      spec,
    } as AzureCluster);
    expect("tags" in place && place.tags).toEqual({
      team: "a",
      "sigs.k8s.io_cluster-api-provider-azure_cluster_wc": "owned",
      postern_owner: "org/wc",
    });
  });

  test("in spec.additionalTags of an AzureCluster do not reach its zones", () => {
    const object = {
      metadata: { namespace: "org", name: "wc" },
      spec: { additionalTags: { ...forged, "a/b": "c", list: "a,b", none: null } },
    } as unknown as AzureCluster;
    expect(additionalTags(object)).toEqual({ team: "a" });
  });

  test("in annotations for a resource group do not reach the group", () => {
    const annotations = Object.fromEntries(
      Object.entries(forged).map(([name, value]) => [`azure-resourcegroup-tag.${name}`, value]),
    );
    expect(groupTags({ metadata: { name: "wc", annotations } })).toEqual({ team: "a" });
  });
});
