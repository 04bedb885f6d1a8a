import { resourceGroupId } from "@postern/core/resource-id.ts";
import { DriftInterval } from "postern/azure/drift-interval.ts";
import { AzureError } from "postern/azure/errors.ts";
import type { ArmClients } from "postern/hosted/arm-clients.ts";
import { endpointFeature } from "postern/hosted/endpoint/feature.ts";
import { conditions } from "postern/hosted/names.ts";
import { expect, test } from "vitest";
import { guestGroup, guestNetwork, guestSubscription, location } from "./azure.ts";
import {
  addressesAt,
  availableCluster,
  guestThings,
  heldCluster,
  makeLink,
  network,
  operationMs,
  startGuest,
} from "./endpoint-world.ts";
import { describeHosted, type HostedWorld } from "./world.ts";

const forbidden = {
  kind: "answer" as const,
  status: 403,
  body: {
    error: {
      code: "AuthorizationFailed",
      message:
        "The client 'x' does not have authorization to perform action 'write' over scope '/y'.",
    },
  },
};

const notes = async (world: HostedWorld, reason: string) =>
  (await world.list("Event"))
    .map((each) => each as unknown as { reason: string; type: string; note: string })
    .filter((each) => each.reason === reason)
    .map(({ type }) => type);

describeHosted("the guest side in trouble", (start) => {
  test("an approval that does not come is told once, and after 15 minutes with the remedy; when it comes all goes on", async () => {
    const world = await startGuest(start);
    const link = await makeLink(world, await heldCluster(world, "one"));
    await link.publish({ approving: false });
    await world.until(
      "it waits for approval",
      async () => (await link.told())[1] === "False PrivateEndpointConnectionNotApproved",
      5,
    );
    await world.advance(10 * 60_000);
    const reason = "PrivateEndpointConnectionNotApproved";
    expect(await notes(world, reason)).toEqual(["Normal"]);
    await world.mark();
    await world.advance(15 * 60_000);
    expect(await notes(world, reason)).toEqual(["Normal"]);
    expect(await notes(world, "PrivateEndpointApprovalOverdue")).toEqual(["Warning"]);
    expect(await link.message(conditions.endpoint)).toContain(link.serviceId);
    const reads = world.armRequests().filter(({ path }) => path.endsWith("privateEndpoints"));
    expect(reads.length).toBeLessThanOrEqual(10);

    const [connection = ""] = world.azure.ids("/privateendpointconnections/");
    world.azure.simulator.change(connection, {
      properties: { privateLinkServiceConnectionState: { status: "Approved", description: "" } },
    });
    await world.until("it is available", () => link.isAvailable(), 6);
  });

  test("a connection that is rejected later is noticed, and told with whom to ask", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    const [connection = ""] = world.azure.ids("/privateendpointconnections/");
    world.azure.simulator.change(connection, {
      properties: { privateLinkServiceConnectionState: { status: "Rejected", description: "" } },
    });
    await world.until("it is told", async () => !(await link.isAvailable()), 9);
    expect(await link.message(conditions.available)).toMatch(/rejected/);
    expect(guestThings(world)).toHaveLength(9);
  });

  test("the remedy for a rejected connection, to delete the endpoint, is noticed as soon as other drift", async () => {
    const world = await startGuest(start, {}, { drift: new DriftInterval() });
    const link = await availableCluster(world, "one");
    const [connection = ""] = world.azure.ids("/privateendpointconnections/");
    world.azure.simulator.change(connection, {
      properties: { privateLinkServiceConnectionState: { status: "Rejected", description: "" } },
    });
    await world.until("it is told", async () => !(await link.isAvailable()), 2);
    const [endpoint = ""] = world.azure.ids("/privateendpoints/");
    world.azure.simulator.drop(endpoint);
    await world.until("it is available", () => link.isAvailable(), 2);
  });

  test("a missing role is a condition with HyperShift's reason and a stable message, and it works when it is granted", async () => {
    const world = await startGuest(start);
    const { simulator } = world.azure;
    const fault = simulator.addFault({
      match: { method: "PUT", type: "Microsoft.Network/privateEndpoints" },
      effect: forbidden,
    });
    const link = await makeLink(world, await heldCluster(world, "one"));
    await link.publish();
    await world.advance(5 * 60_000);
    expect((await link.told())[1]).toBe("False PrivateEndpointCreationFailed");
    const message = await link.message(conditions.endpoint);
    expect(message).toMatch(/AuthorizationFailed.*role/);
    await world.advance(20 * 60_000);
    expect(await link.message(conditions.endpoint)).toBe(message);
    simulator.faults.remove(fault);
    await world.until("it is available", () => link.isAvailable(), 15);
  });

  test("a network that is linked to another zone of the same name is a condition with the remedy, which then helps", async () => {
    const world = await startGuest(start);
    const { simulator } = world.azure;
    const hub = resourceGroupId(guestSubscription, "hub");
    const theirs = `${hub}/${network}/privateDnsZones/one.example.com`;
    simulator.change(hub, { location });
    simulator.change(theirs, { location: "global" });
    simulator.change(`${theirs}/virtualNetworkLinks/hub`, {
      location: "global",
      properties: { virtualNetwork: { id: guestNetwork }, registrationEnabled: false },
    });
    const link = await makeLink(world, await heldCluster(world, "one"));
    await link.publish();
    await world.until(
      "it is told",
      async () => (await link.told())[2] === "False BaseDomainVNetLinkCreationFailed",
      5,
    );
    expect(await link.message(conditions.dns)).toContain("postern.io/base-domain-dns-zone-id");
    const internal = `${guestGroup}/${network}/privateDnsZones/one.hypershift.local`;
    const annotations = {
      "postern.io/private-dns": "existing",
      "postern.io/private-dns-zone-id": internal,
      "postern.io/base-domain-dns-zone-id": theirs,
    };
    await world.patch(
      { ...link.hosted.cluster, kind: "HostedCluster" },
      { metadata: { annotations } },
    );
    await world.until(
      "the names are in the other zone",
      () => addressesAt(world, theirs, "api-one") !== undefined,
      10,
    );
    expect(await link.isAvailable()).toBe(true);
  });

  test("a link to the network that another created meanwhile under another name is used", async () => {
    const world = await startGuest(start);
    const link = await makeLink(world, await heldCluster(world, "one"));
    const zone = `${guestGroup}/${network}/privateDnsZones/one.hypershift.local`;
    await world.until("the zone is there", () => world.azure.at(zone) !== undefined, 2);
    await world.advance(operationMs - 5_000);
    world.azure.simulator.change(`${zone}/virtualNetworkLinks/by-hand`, {
      location: "global",
      properties: { virtualNetwork: { id: guestNetwork }, registrationEnabled: false },
    });
    await link.publish();
    await world.until("it is available", () => link.isAvailable(), 10);
    expect(world.azure.ids(`${zone}/virtualnetworklinks/`)).toHaveLength(1);
  });

  test("a storm of 429 ends by itself", async () => {
    const world = await startGuest(start);
    const link = await makeLink(world, await heldCluster(world, "one"));
    await link.publish();
    world.azure.simulator.addFault({
      match: {},
      effect: { kind: "throttled", retryAfterSeconds: 20 },
      forMs: 90_000,
    });
    await world.until("it is available", () => link.isAvailable(), 15);
    expect(guestThings(world)).toHaveLength(9);
  });

  test("answers that are lost leave nothing double and nothing behind", async () => {
    const world = await startGuest(start);
    world.azure.simulator.addFault({
      match: { method: "PUT" },
      effect: { kind: "lost", when: "after" },
      probability: 0.5,
      seed: "lost",
      count: 6,
    });
    const link = await availableCluster(world, "one");
    expect(guestThings(world)).toHaveLength(9);
    await world.remove(link.thing);
    await world.until("it is gone", async () => (await link.now()) === undefined, 10);
    expect(guestThings(world)).toEqual([]);
  });

  test("without a control plane and without a credential it keeps its finalizer, and abandons the resources only when annotated", async () => {
    let dead = false;
    const world = await startGuest(
      start,
      {},
      {
        features: (armClients) => [
          endpointFeature({
            armClients: {
              ...armClients,
              hosted: (controlPlane, reconcile) => {
                if (dead) throw new AzureError({ code: "CredentialMissing", what: "sign in" });
                return armClients.hosted(controlPlane, reconcile);
              },
            } satisfies ArmClients,
          }),
        ],
      },
    );
    const link = await availableCluster(world, "one");
    dead = true;
    const { controlPlane } = link.hosted;
    await world.patch(controlPlane, { metadata: { finalizers: null } });
    await world.remove(controlPlane);
    await world.until(
      "it is told",
      async () => (await link.told())[0] === "False CleanupFailed",
      9,
    );
    await world.advance(10 * 60_000);
    expect(await link.hasFinalizer()).toBe(true);
    expect(await link.message(conditions.available)).toContain(
      "postern.io/abandon-guest-resources",
    );
    await world.patch(link.thing, {
      metadata: { annotations: { "postern.io/abandon-guest-resources": "true" } },
    });
    await world.until("it is let go", async () => !(await link.hasFinalizer()), 5);
    expect(await notes(world, "GuestResourcesAbandoned")).toEqual(["Warning"]);
    expect(guestThings(world)).toHaveLength(9);
  });

  test("without a control plane but with a credential everything is found by name and deleted, and nothing is orphaned", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    const { controlPlane } = link.hosted;
    await world.patch(
      link.thing,
      { status: { privateEndpointID: null, privateDNSZoneID: null } },
      "status",
    );
    await world.patch(controlPlane, { metadata: { finalizers: null } });
    await world.remove(controlPlane);
    await world.until("it is let go", async () => !(await link.hasFinalizer()), 10);
    expect(guestThings(world)).toEqual([]);
  });

  test("with neither control plane nor cluster left, an endpoint with the longer name is found too, and not orphaned", async () => {
    const world = await startGuest(start);
    await availableCluster(world, "one");
    const kept = guestThings(world);
    const link = await availableCluster(world, "two");
    expect((await link.now())?.status?.privateEndpointID).toMatch(/private-router-pe-/);
    const { controlPlane, cluster } = link.hosted;
    await world.stop();
    await world.remove({ ...cluster, kind: "HostedCluster" });
    await world.patch(controlPlane, { metadata: { finalizers: null } });
    await world.remove(controlPlane);
    await world.patch(link.thing, { status: { privateEndpointID: null } }, "status");
    await world.start();
    await world.until("it is let go", async () => !(await link.hasFinalizer()), 10);
    expect(guestThings(world)).toEqual(kept);
  });

  test("a record that somebody modified is repaired without its metadata, and the zones are deleted with the cluster", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    const record = `${guestGroup}/${network}/privateDnsZones/one.hypershift.local/A/api`;
    const zone = record.slice(0, record.lastIndexOf("/A/"));
    const before = addressesAt(world, zone, "api");
    const modify = () =>
      world.azure.simulator.change(record, {
        properties: { ttl: 60, aRecords: [{ ipv4Address: "10.9.9.9" }] },
      });
    modify();
    await world.until(
      "it is not repaired",
      () => addressesAt(world, zone, "api")?.[0] !== "10.9.9.9",
    );
    expect(addressesAt(world, zone, "api")).toEqual(before);
    await world.until("it is not available", () => link.isAvailable());
    modify();
    await world.remove(link.hosted.controlPlane);
    await world.remove(link.thing);
    await world.until("it is still there", async () => !(await link.hasFinalizer()), 10);
    expect(guestThings(world)).toEqual([]);
  });

  test("an object that names no control plane is told what it lacks", async () => {
    const world = await startGuest(start);
    const hosted = await heldCluster(world, "one");
    const link = await makeLink(world, hosted);
    await world.patch(link.thing, { metadata: { ownerReferences: null } });
    await world.advance(10_000);
    expect((await link.told())[0]).toBe("False ControlPlaneUnknown");
  });

  test("annotations that cannot be read are reported, and nothing is changed for them", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    const before = guestThings(world);
    const cluster = { ...link.hosted.cluster, kind: "HostedCluster" };
    for (const annotations of [
      { "postern.io/private-dns": "sometimes" },
      { "postern.io/private-dns": "existing", "postern.io/private-dns-zone-id": "zone" },
      { "postern.io/private-dns": null, "postern.io/private-dns-virtual-network-ids": "a,b" },
    ]) {
      await world.patch(cluster, { metadata: { annotations } });
      await world.settled();
      expect((await link.told())[2]).toBe("False InvalidAnnotation");
      expect(guestThings(world)).toEqual(before);
    }
  });
});
