import { apiVersionOf } from "@postern/core/kind.ts";
import { azureAsoManagedCluster } from "@postern/core/kinds/azure-aso-managed.ts";
import { dnsClusterFinalizer, dnsFinalizer } from "postern/cluster-api/names.ts";
import { expect, test } from "vitest";
import { guestSubscription } from "../hosted/azure.ts";
import { describeHosted, type HostedWorld, type Thing } from "../hosted/world.ts";
import {
  baseZone,
  groupOf,
  makeCluster,
  makeReady,
  publicZone,
  startDns,
  valuesAt,
} from "./dns-world.ts";
import { group, install, onOther, onVsphere, pathOf, vsphere, vspherePath } from "./vsphere.ts";

const settings = {
  subscription: guestSubscription,
  client: "client",
  tenant: "tenant",
  location: "northeurope",
};

describeHosted("infrastructure of other versions than the preferred one", (start) => {
  const delegated = (world: HostedWorld, name: string) =>
    world.until(`${name} is delegated`, () => valuesAt(world, baseZone, "NS", name) !== undefined);
  const zoneOf = (world: HostedWorld, name: string) =>
    world.azure.at(publicZone(groupOf(name), name));
  const reasonsOf = async (world: HostedWorld) =>
    ((await world.list("Event", "org")) as unknown as { reason: string }[]).map(
      ({ reason }) => reason,
    );
  const release = async (world: HostedWorld, cluster: Thing) => {
    const finalizers = [dnsClusterFinalizer];
    await world.patch(cluster, { metadata: { finalizers } });
  };

  test("clusters on vSphere and AKS of v1beta1 have their names beside an AWSCluster of v1beta2, and are deleted", async () => {
    const world = await startDns(start, { settings });
    await install(world, "AWSCluster", [{ name: "v1beta2" }]);
    const cluster = await onVsphere(world, "vs20", "192.0.2.20");
    const aks = await world.make({
      apiVersion: apiVersionOf(azureAsoManagedCluster),
      kind: azureAsoManagedCluster.kind,
      metadata: { namespace: "org", name: "aks20" },
      spec: {},
    } as never);
    const aksCluster = await makeCluster(world, "aks20", {
      spec: {
        infrastructureRef: { apiGroup: group, kind: azureAsoManagedCluster.kind, name: "aks20" },
      },
    });
    await makeReady(world, { cluster: aksCluster });
    await delegated(world, "vs20");
    await delegated(world, "aks20");
    await world.remove(cluster);
    await world.cluster.request("DELETE", `${vspherePath}/vs20`);
    await world.remove(aksCluster);
    await world.remove({ ...aks, kind: azureAsoManagedCluster.kind });
    await world.until("they are let go", async () => {
      const left = await world.get(azureAsoManagedCluster.kind, "org", "aks20");
      return left === undefined && (await vsphere(world, "vs20")).kind === "Status";
    });
    for (const name of ["vs20", "aks20"]) expect(zoneOf(world, name)).toBeUndefined();
  });

  test("a version that is no longer served does not look like a deleted object", async () => {
    const world = await startDns(start, { settings });
    await install(world, "NutanixCluster", [{ name: "v1beta1" }, { name: "v1beta2" }]);
    const cluster = await onOther(world, "NutanixCluster", "nx1", "192.0.2.21");
    await delegated(world, "nx1");
    const read = async (version: string) =>
      (await world.cluster.request<Thing>("GET", `${pathOf("NutanixCluster", version)}/nx1`)).body;
    await install(world, "NutanixCluster", [
      { name: "v1beta1", served: false },
      { name: "v1beta2", served: false },
    ]);
    await world.remove(cluster);
    await release(world, cluster);
    await world.advance(10 * 60_000);
    expect(zoneOf(world, "nx1")).toBeDefined();
    expect((await world.get("Cluster", "org", "nx1"))?.metadata.finalizers).toEqual([
      dnsClusterFinalizer,
    ]);
    expect(await reasonsOf(world)).toContain("InfrastructureKindNotServed");
    await install(world, "NutanixCluster", [
      { name: "v1beta1" },
      { name: "v1beta2", served: false },
    ]);
    await world.until(
      "it is let go",
      async () => (await world.get("Cluster", "org", "nx1")) === undefined,
    );
    expect(zoneOf(world, "nx1")).toBeUndefined();
    expect((await read("v1beta1")).metadata.finalizers ?? []).toEqual([]);
  });

  test("of several versions the one with the newest contract is written, not the newest one", async () => {
    const world = await startDns(start, { settings });
    const versions = [{ name: "v1beta1" }, { name: "v1beta2" }];
    await install(world, "MetalCluster", versions, { "cluster.x-k8s.io/v1beta2": "v1beta1" });
    await onOther(world, "MetalCluster", "metal1", "192.0.2.22");
    await delegated(world, "metal1");
    const { body } = await world.cluster.request<Thing>("GET", `${pathOf("MetalCluster")}/metal1`);
    expect(body.metadata.finalizers).toEqual([dnsFinalizer]);
    const written = (body.metadata as { managedFields?: { manager: string; apiVersion: string }[] })
      .managedFields;
    const ours = written?.filter(({ manager }) => manager.startsWith("postern-dns"));
    expect(ours?.map(({ apiVersion }) => apiVersion)).toContain(`${group}/v1beta1`);
    expect(ours?.map(({ apiVersion }) => apiVersion)).not.toContain(`${group}/v1beta2`);
  });
});
