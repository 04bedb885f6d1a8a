import { describe, expect, test } from "vitest";
import { failure, fakeArm, group, linkId, refuse } from "../../../../test/azure/fake-arm.ts";
import { json, type ReceivedRequest } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { contradicts, idsIn } from "./contradictions.ts";
import { loadBalancers } from "./gateways/load-balancers.ts";
import { privateDnsZones, privateRecordSets, virtualNetworkLinks } from "./gateways/private-dns.ts";
import { type PrivateLinkService, privateLinkServices } from "./gateways/private-link-services.ts";
import { idsNamedIn } from "./wording.ts";

const network = `${group}/providers/Microsoft.Network`;
const balancer = `${network}/loadBalancers/lb`;
const frontend = `${balancer}/frontendIPConfigurations/fe`;
const zone = `${network}/privateDnsZones/example.com`;
const ever = Number.POSITIVE_INFINITY;

const body: PrivateLinkService = {
  properties: { loadBalancerFrontendIpConfigurations: [{ id: frontend }] },
};

/** An Azure that refuses writes as told, and lists and reads whatever is asked for. */
async function azure(
  refusal: (one: ReceivedRequest) => [status: number, code: string, detail?: string],
) {
  const clock = new ManualClock();
  const made = await fakeArm(
    (one, response) => {
      const path = new URL(one.url, "http://x").pathname;
      if (
        one.method === "GET" &&
        /\/(loadBalancers|privateDnsZones|ALL|virtualNetworkLinks)$/.test(path)
      )
        return json(response, 200, {
          value: path.endsWith("loadBalancers") ? [{ id: balancer }] : [],
        });
      if (one.method === "GET") return json(response, 200, { id: path, properties: {} });
      const [status, code, detail = `about ${code}`] = refusal(one);
      json(response, status, { error: { code, message: detail } });
    },
    { clock },
  );
  const gets = () => made.requests.filter(({ method }) => method === "GET").length;
  return { ...made, clock, gets };
}

describe("a refusal that contradicts a cached observation", () => {
  test("has what the body refers to read again, alone and in its list, and decided anew", async () => {
    const { arm, clock, gets } = await azure(() => [400, "InvalidResourceReference"]);
    await loadBalancers(arm).list(group, ever);
    await loadBalancers(arm).observe(balancer, ever);
    clock.moveTo(clock.now() + 60_000);
    expect(gets()).toBe(1);
    const refused = await failure(privateLinkServices(arm).put(linkId, body));
    expect(refused.explain()).toMatchObject({ reason: "InvalidResourceReference", passing: true });
    expect(refused.explain()).not.toHaveProperty("requeueAfterMs");
    await loadBalancers(arm).observe(balancer, ever);
    expect(gets()).toBe(2);
    await loadBalancers(arm).list(group, ever);
    expect(gets()).toBe(3);
  });

  test("is reported as it is where everything was read just before", async () => {
    const { arm, clock } = await azure(() => [400, "InvalidResourceReference"]);
    await loadBalancers(arm).observe(balancer);
    clock.moveTo(clock.now() + 1_000);
    const refused = await failure(privateLinkServices(arm).put(linkId, body));
    expect(refused.explain()).toMatchObject({ requeueAfterMs: 60_000 });
    expect(refused.explain().passing).toBeUndefined();
  });

  test("counts by when it was decided, though it is told at the end of a long operation", async () => {
    const clock = new ManualClock();
    const { arm, url } = await fakeArm(
      (one, response) => {
        if (one.url.includes("/operations/"))
          return json(response, 200, { status: "Failed", error: { code: "SubnetIsFull" } });
        if (one.method === "GET") return json(response, 200, { id: balancer, properties: {} });
        json(response, 201, {}, { "azure-asyncoperation": `${url}/operations/1` });
      },
      { clock },
    );
    const services = privateLinkServices(arm);
    const run = async () => {
      await services.put(linkId, body);
      clock.moveTo(clock.now() + 60_000);
      return services.observe(linkId);
    };
    await loadBalancers(arm).observe(balancer);
    expect(await run()).toMatchObject({ state: "failed", failure: { reason: "SubnetIsFull" } });
    await loadBalancers(arm).observe(balancer);
    clock.moveTo(clock.now() + 60_000);
    expect(await run()).toMatchObject({ state: "failed", failure: { passing: true } });
  });

  test("has what the error names read again", async () => {
    const { arm, clock, gets } = await azure(() => [
      409,
      "SomethingNew",
      `Resource ${balancer}/backendAddressPools/p is in use.`,
    ]);
    await loadBalancers(arm).observe(balancer);
    clock.moveTo(clock.now() + 60_000);
    await failure(privateLinkServices(arm).put(linkId, { properties: {} }));
    await loadBalancers(arm).observe(balancer, ever);
    expect(gets()).toBe(2);
  });

  test("has what lies in the resource listed again, and what it lies in read", async () => {
    const { arm, clock, gets } = await azure(({ method }) =>
      method === "DELETE" ? [409, "CannotDeleteResource"] : [404, "ParentResourceNotFound"],
    );
    const observe = async () => {
      await privateDnsZones(arm).observe(zone, ever);
      await virtualNetworkLinks(arm).list(zone, ever);
      await privateRecordSets(arm).list(zone, ever);
    };
    await observe();
    await observe();
    expect(gets()).toBe(3);
    clock.moveTo(clock.now() + 60_000);
    await failure(privateDnsZones(arm).remove(zone));
    await observe();
    expect(gets()).toBe(6);
    clock.moveTo(clock.now() + 60_000);
    await failure(privateRecordSets(arm).put(`${zone}/A/api`, { properties: {} }));
    await observe();
    expect(gets()).toBe(8);
  });

  test.each([
    ["a busy resource", 409, "AnotherOperationInProgress"],
    ["a limit", 429, "TooManyRequests"],
    ["a missing right", 403, "AuthorizationFailed"],
    ["a value that is not taken", 400, "InvalidParameter"],
  ])("is none where it is about %s", async (_what, status, code) => {
    const { arm, clock, gets } = await azure(() => [status, code]);
    await loadBalancers(arm).observe(balancer);
    clock.moveTo(clock.now() + 60_000);
    await failure(privateLinkServices(arm).put(linkId, body));
    await loadBalancers(arm).observe(balancer, ever);
    expect(gets()).toBe(1);
  });
});

test("a read that finds no parent has the parent read again", async () => {
  const clock = new ManualClock();
  let reads = 0;
  const { arm } = await fakeArm(
    (one, response) => {
      if (one.url.includes("/A/")) return refuse(response, 404, "ParentResourceNotFound");
      reads++;
      json(response, 200, { id: zone, properties: {} });
    },
    { clock },
  );
  await privateDnsZones(arm).observe(zone, ever);
  expect(await privateRecordSets(arm).observe(`${zone}/A/api`)).toEqual({ state: "absent" });
  await privateDnsZones(arm).observe(zone, ever);
  expect(reads).toBe(2);
});

test("ids are found in bodies at any depth, and in sentences without what surrounds them", () => {
  expect(idsIn({ a: [{ b: { id: zone } }], c: "/subscriptions/x", d: null, e: 7 })).toEqual([zone]);
  expect(idsNamedIn(`Resource '${zone}' (of ${balancer}), see ${linkId}.`)).toEqual([
    zone,
    balancer,
    linkId,
  ]);
  expect(idsNamedIn("nothing here")).toEqual([]);
});

test("a code that nobody has met counts where a request was refused for what it says", () => {
  expect([400, 404, 409, 0].map((status) => contradicts({ code: "New", status }))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect([403, 412, 429, 500].map((status) => contradicts({ code: "New", status }))).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
