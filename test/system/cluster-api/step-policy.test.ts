import { dnsFinalizer, privateLinksFinalizer } from "postern/cluster-api/names.ts";
import { policyAnnotation } from "postern/kube/step-policy.ts";
import { expect, test } from "vitest";
import { describeHosted } from "../hosted/world.ts";
import { makeWorkload, startDns } from "./dns-world.ts";
import {
  addressesOn,
  endpointsIn,
  makeWorkload as makeConnected,
  makeManagement,
  runCapz,
  startEndpoints,
} from "./endpoints-world.ts";
import {
  gone,
  inAzure,
  link,
  linkId,
  links,
  makeCluster,
  now,
  reported,
  startPrivateLinks,
  writes,
} from "./private-links-world.ts";

const policy = (value: string | null) => ({ annotations: { [policyAnnotation]: value } });

describeHosted("an AzureCluster with a policy of its own", (start) => {
  test("observe-only creates no link service, adds no finalizer, and says what it withholds", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const metadata = policy("observe-only");
    const made = await makeCluster(world, "wc1", {
      links: [link()],
      metadata: { name: "wc1", namespace: "org", ...metadata },
    });
    await reported(world, made, links, "False WithheldByPolicy");
    await world.advance(10 * 60_000);
    expect(writes(world)).toEqual([]);
    expect((await now(world, made))?.metadata.finalizers ?? []).not.toContain(
      privateLinksFinalizer,
    );
  });

  test("observe-only writes no zone and no record of its names, and says that it withholds them", async () => {
    const world = await startDns(start);
    const { azureCluster } = await makeWorkload(world, "wc1", {
      annotations: { [policyAnnotation]: "observe-only" },
    });
    await world.advance(10 * 60_000);
    expect(writes(world)).toEqual([]);
    const found = await world.get("AzureCluster", "org", azureCluster.metadata.name);
    expect(found?.metadata.finalizers ?? []).not.toContain(dnsFinalizer);
    expect(
      (found?.status?.conditions ?? []).find(({ type }) => type === "GSDNSZoneReady"),
    ).toMatchObject({
      status: "False",
      reason: "WithheldByPolicy",
      message: expect.stringContaining("then: create DNS zone wc1.example.com"),
    });
  });

  test("upsert-only deletes no link service until the policy is lifted", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    await reported(world, made, links, "True Realised");
    await world.patch({ ...made, kind: "AzureCluster" }, { metadata: policy("upsert-only") });
    await world.remove({ ...made, kind: "AzureCluster" });
    await world.advance(10 * 60_000);
    expect(world.azure.at(linkId("api"))).toBeDefined();
    await world.patch({ ...made, kind: "AzureCluster" }, { metadata: policy(null) });
    await gone(world, made);
    expect(world.azure.at(linkId("api"))).toBeUndefined();
  });

  test("upsert-only removes no endpoint to the management cluster until the policy is lifted", async () => {
    const world = await startEndpoints(start);
    const management = await makeManagement(world);
    const made = await makeConnected(world, "wc1", { metadata: policy("upsert-only") });
    await world.advance(10_000);
    await runCapz(world);
    await world.advance(61_000);
    const found = () => world.get("AzureCluster", "org", "wc1");
    const before = endpointsIn(await found());
    expect(before).toHaveLength(1);
    expect(addressesOn(await found())[1]).toBeDefined();
    await world.remove(management);
    await makeManagement(world, { type: "Public" });
    await world.advance(10 * 60_000);
    expect(endpointsIn(await found())).toEqual(before);
    expect(addressesOn(await found())[1]).toBeUndefined();
    await world.patch(made, { metadata: policy(null) });
    await world.advance(61_000);
    expect(endpointsIn(await found())).toEqual([]);
  });
});
