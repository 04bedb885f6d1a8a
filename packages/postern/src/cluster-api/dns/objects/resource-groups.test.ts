import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { describe, expect, test } from "vitest";
import { annotations } from "../../names.ts";
import { capzZone, groupsOf, networkOf } from "./resource-groups.ts";

const own = "33333333-3333-4333-8333-333333333333";
const managements = "11111111-1111-4111-8111-111111111111";
const settings = { subscription: "22222222", client: "c", tenant: "t", location: "northeurope" };

function azureCluster(name: string, spec: Partial<AzureCluster["spec"]> = {}): AzureCluster {
  return { metadata: { namespace: "org", name }, spec: { location: "westeurope", ...spec } };
}

const management = azureCluster("mc", { subscriptionID: managements });
const cluster = (given: Record<string, string> = {}): CapiCluster => ({
  metadata: { namespace: "org", name: "wc1", annotations: given },
  spec: {},
});
const other = (is: "aks" | "other", given: Record<string, string> = {}) => ({
  is,
  object: { metadata: { name: "wc1", annotations: given } },
});
const groupIn = (subscription: string, name = "wc1") =>
  `/subscriptions/${subscription}/resourceGroups/${name}`;

describe("the resource group of a cluster's zone", () => {
  test("of an AzureCluster may be that of its name, and is made where the cluster is", () => {
    const object = azureCluster("wc1", { subscriptionID: own, resourceGroup: "elsewhere" });
    const groups = groupsOf(cluster(), { is: "azure", object }, management, settings);
    expect(groups.publicGroups).toEqual([groupIn(own), groupIn(own, "elsewhere")]);
    expect(groups.publicGroup).toBe(groupIn(own, "elsewhere"));
  });

  test("of an AzureCluster without a subscription is not known", () => {
    const object = azureCluster("wc1");
    const groups = groupsOf(cluster(), { is: "azure", object }, management, settings);
    expect(groups.publicGroup).toBeUndefined();
  });

  const annotated = { [annotations.subscription]: own };
  const identity = { [annotations.identity]: "one" };
  test.each([
    ["by the settings", cluster(), other("other"), settings, "22222222"],
    [
      "with the management cluster where a setting is missing",
      cluster(),
      other("other"),
      { ...settings, tenant: "" },
      managements,
    ],
    ["with the management cluster without settings", cluster(), other("aks"), {}, managements],
    [
      "where the annotation of an AKS cluster says",
      cluster(annotated),
      other("aks", identity),
      {},
      own,
    ],
    [
      "not where the annotation says, with the client of the settings",
      cluster(annotated),
      other("aks"),
      settings,
      settings.subscription,
    ],
    [
      "by the settings, with the identity of the annotation",
      cluster(),
      other("aks", identity),
      { subscription: "22222222" },
      "22222222",
    ],
    [
      "not by the annotation for other kinds",
      cluster(annotated),
      other("other"),
      settings,
      "22222222",
    ],
  ])("is found %s", (_what, given, infrastructure, by, desired) => {
    expect(groupsOf(given, infrastructure, management, by).publicGroup).toBe(groupIn(desired));
  });

  test("is made in the region of the settings, else in that of the management cluster", () => {
    const region = (by: object) => groupsOf(cluster(), other("other"), management, by).location;
    expect([region(settings), region({})]).toEqual(["northeurope", "westeurope"]);
  });
});

describe("the network of an AzureCluster", () => {
  const id = `${groupIn(own, "net")}/providers/Microsoft.Network/virtualNetworks/v`;

  test.each([
    ["is the one that CAPZ wrote down", { vnet: { name: "x", id } }, id],
    ["is found by its name and group", { vnet: { name: "v", resourceGroup: "net" } }, id],
    [
      "has the name that CAPZ gives it",
      undefined,
      `${groupIn(own)}/providers/Microsoft.Network/virtualNetworks/wc1-vnet`,
    ],
    ["is not known by what is no id", { vnet: { name: "v", id: "nonsense" } }, undefined],
  ])("%s", (_what, networkSpec, desired) => {
    const made = azureCluster("wc1", { subscriptionID: own, ...(networkSpec && { networkSpec }) });
    expect(networkOf(made)).toBe(desired);
  });
});

describe("CAPZ's own zone", () => {
  const zone = (over: object) =>
    capzZone(
      azureCluster("wc1", {
        subscriptionID: own,
        networkSpec: {
          apiServerLB: { type: "Internal" },
          privateDNSZoneName: "wc1.example.com",
          ...over,
        },
      }),
      "WC1.example.com",
    );
  const id = (group: string) =>
    `${groupIn(own, group)}/providers/Microsoft.Network/privateDnsZones/wc1.example.com`;

  test.each([
    ["is in the group of the cluster", {}, id("wc1")],
    ["is in a group of its own", { privateDNSZoneResourceGroup: "dns" }, id("dns")],
    [
      "is not ours to know where it has another name",
      { privateDNSZoneName: "other.example.com" },
      undefined,
    ],
    ["is not there where CAPZ is to make none", { privateDNSZone: "None" }, undefined],
    ["is not there for a public cluster", { apiServerLB: { type: "Public" } }, undefined],
  ])("%s", (_what, over, desired) => {
    expect(zone(over)).toBe(desired);
  });
});
