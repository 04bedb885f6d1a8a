import { expect, test } from "vitest";
import { describeHosted } from "../hosted/world.ts";
import {
  decide,
  endpoint,
  endpointId,
  endpoints,
  groupOf,
  inAzure,
  makeCluster,
  messageOf,
  networkSpec,
  now,
  provider,
  reported,
  resourceAt,
  startPrivateLinks,
  subnetId,
  subscription,
  theirService,
  writes,
} from "./private-links-world.ts";

describeHosted("a private endpoint", (start) => {
  test("is made with all that is asked for", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const service = theirService(world, "gate", [subscription]);
    const group = `${groupOf("wc1")}/${provider}/applicationSecurityGroups/a`;
    const asked = endpoint(service, {
      customNetworkInterfaceName: "own-nic",
      privateIPAddresses: ["10.10.0.88"],
      applicationSecurityGroups: [group],
    });
    const made = await makeCluster(world, "wc1", { endpoints: [asked] });
    await reported(world, made, endpoints, "True Realised");
    expect(resourceAt(world, endpointId("to-mc"))).toMatchObject({
      top: { location: "westeurope", tags: { postern_owner: "org/wc1" } },
      properties: {
        subnet: { id: subnetId("node") },
        privateLinkServiceConnections: [
          { name: "c", properties: { privateLinkServiceId: service } },
        ],
        manualPrivateLinkServiceConnections: [],
        customNetworkInterfaceName: "own-nic",
        ipConfigurations: [{ properties: { privateIPAddress: "10.10.0.88" } }],
        applicationSecurityGroups: [{ id: group }],
      },
    });
    const patched = networkSpec({ endpoints: [{ ...asked, applicationSecurityGroups: [] }] });
    await world.mark();
    await world.patch(made, { spec: { networkSpec: patched } });
    await world.advance(60_000);
    expect(
      resourceAt(world, endpointId("to-mc")).properties.applicationSecurityGroups,
    ).toBeUndefined();
    expect(writes(world).map(({ method }) => method)).toEqual(["PUT"]);
  });

  test("by manual approval waits and says who must approve, and is ready when they have", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const service = theirService(world, "gate");
    const connections = [{ name: "c", privateLinkServiceID: service, requestMessage: "let us in" }];
    const asked = endpoint(service, {
      manualApproval: true,
      privateLinkServiceConnections: connections,
    });
    const made = await makeCluster(world, "wc1", { endpoints: [asked] });
    const waiting = await reported(world, made, endpoints, "False ApprovalPending");
    expect(messageOf(waiting, endpoints)).toContain(`connection to ${service} is Pending`);
    expect(resourceAt(world, endpointId("to-mc")).properties).toMatchObject({
      privateLinkServiceConnections: [],
      manualPrivateLinkServiceConnections: [{ properties: { requestMessage: "let us in" } }],
    });
    await world.mark();
    await world.advance(60 * 60_000);
    expect(writes(world)).toEqual([]);
    expect(await world.kubeWrites()).toEqual([]);
    // Ever more seldom: every five minutes in the end.
    expect(world.armRequests().length).toBeLessThan(80);
    decide(world, service, "Approved");
    await reported(world, made, endpoints, "True Realised");
    expect(writes(world)).toEqual([]);
  });

  test("that is rejected says so, and asks anew when it is asked for in another way", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const service = theirService(world, "gate");
    const asked = (requestMessage: string) =>
      networkSpec({
        endpoints: [
          endpoint(service, {
            manualApproval: true,
            privateLinkServiceConnections: [
              { name: "c", privateLinkServiceID: service, requestMessage },
            ],
          }),
        ],
      });
    const made = await makeCluster(world, "wc1", { spec: { networkSpec: asked("hello") } });
    await reported(world, made, endpoints, "False ApprovalPending");
    decide(world, service, "Rejected");
    await reported(world, made, endpoints, "False ConnectionRejected");
    await world.patch(made, { spec: { networkSpec: asked("please") } });
    await reported(world, made, endpoints, "False ApprovalPending");
    decide(world, service, "Approved");
    await reported(world, made, endpoints, "True Realised");
    // Approved, it is not asked for again, however the words change.
    await world.mark();
    await world.patch(made, { spec: { networkSpec: asked("thanks") } });
    await world.advance(10 * 60_000);
    expect(writes(world)).toEqual([]);
  });

  test.each<[string, (service: string, other: string) => object]>([
    ["its subnet", (service) => ({ otherEndpoints: [endpoint(service)] })],
    ["its target", (_service, other) => ({ endpoints: [endpoint(other)] })],
    [
      "its interface",
      (service) => ({ endpoints: [endpoint(service, { customNetworkInterfaceName: "nic" })] }),
    ],
    [
      "its address",
      (service) => ({ endpoints: [endpoint(service, { privateIPAddresses: ["10.10.0.99"] })] }),
    ],
  ])("is recreated where %s is another", async (_what, shape) => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const service = theirService(world, "gate", [subscription]);
    const other = theirService(world, "other-gate", [subscription]);
    const made = await makeCluster(world, "wc1", { endpoints: [endpoint(service)] });
    await reported(world, made, endpoints, "True Realised");
    await world.mark();
    const { subnets } = networkSpec(shape(service, other));
    await world.patch(made, { spec: { networkSpec: { subnets } } });
    await reported(world, made, endpoints, "False BeingReplaced");
    await reported(world, made, endpoints, "True Realised");
    expect(writes(world).map(({ method }) => method)).toEqual(["DELETE", "PUT"]);
  });

  test("that is not asked for any more is deleted, which upstream never does", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const service = theirService(world, "gate", [subscription]);
    const two = endpoint(service, { name: "second" });
    const made = await makeCluster(world, "wc1", { endpoints: [endpoint(service), two] });
    await reported(world, made, endpoints, "True Realised");
    const { subnets } = networkSpec({ endpoints: [two] });
    await world.patch(made, { spec: { networkSpec: { subnets } } });
    await world.until("it is there", () => world.azure.at(endpointId("to-mc")) === undefined);
    await reported(world, made, endpoints, "True Realised");
    expect(resourceAt(world, endpointId("second"))).toBeDefined();
  });

  test("that loses its connection or is deleted is recreated", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const service = theirService(world, "gate", [subscription]);
    const made = await makeCluster(world, "wc1", { endpoints: [endpoint(service)] });
    await reported(world, made, endpoints, "True Realised");
    for (const id of world.azure.ids(`${service}/privateEndpointConnections/`))
      world.azure.simulator.drop(id);
    await reported(world, made, endpoints, "False BeingReplaced");
    await reported(world, made, endpoints, "True Realised");
    world.azure.simulator.drop(endpointId("to-mc"));
    await reported(world, made, endpoints, "False BeingMade");
    await reported(world, made, endpoints, "True Realised");
  });

  test("that Azure refuses is reported with its code, and the others are made", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const service = theirService(world, "gate", [subscription]);
    const lost = endpoint(`${groupOf("nowhere")}/${provider}/privateLinkServices/x`, {
      name: "lost",
    });
    const made = await makeCluster(world, "wc1", { endpoints: [lost, endpoint(service)] });
    const after = await reported(world, made, endpoints, "False NotMade");
    expect(messageOf(after, endpoints)).toMatch(/privateEndpoints\/lost/);
    await world.until(
      "the other is not there",
      () => world.azure.at(endpointId("to-mc")) !== undefined,
    );
    const events = (await world.list("Event", "org")) as unknown as { reason: string }[];
    expect(events.map(({ reason }) => reason)).toContain("NotMade");
    expect((await now(world, made))?.metadata.finalizers).toHaveLength(1);
  });
});
