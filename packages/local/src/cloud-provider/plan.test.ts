import type { Observation } from "postern/azure/gateway.ts";
import type { LoadBalancer } from "postern/azure/gateways/load-balancers.ts";
import { describe, expect, test } from "vitest";
import { type Claim, frontendId } from "./arrange.ts";
import { balancerName, balancerNumber, frontendName } from "./names.ts";
import { claimOf } from "./observe.ts";
import { type Observed, plan, type SeenBalancer } from "./plan.ts";

const group = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network";
const subnetId = `${group}/virtualNetworks/v/subnets/nodes`;
const ground = { subnetId, location: "westeurope", frontendsEach: { internal: 3, public: 3 } };
const internalId = `${group}/loadBalancers/kubernetes-internal`;
const addressId = `${group}/publicIPAddresses/kubernetes-a1`;
const there = <T>(resource: T): Observation<T> => ({ state: "exists", resource });

function claim(over: Partial<Claim> = {}): Claim {
  const ports = [{ protocol: "TCP", port: 443 }] as const;
  return { frontend: "a1", wants: "internal", ports, createdAt: "2026-01-01", ...over };
}

/** A load balancer with these frontends, each with a rule for port 443. */
function balancer(id: string, names: string[]): LoadBalancer {
  return {
    id,
    etag: 'W/"1"',
    location: "westeurope",
    sku: { name: "Standard" },
    properties: {
      frontendIPConfigurations: names.map((name, at) => ({
        name,
        properties: { subnet: { id: subnetId }, privateIPAddress: `10.0.0.${at + 4}` },
      })),
      loadBalancingRules: names.map((name) => ({
        name: `${name}-TCP-443`,
        properties: { frontendIPConfiguration: { id: frontendId(id, name) } },
      })),
    },
  };
}

function on(names: string[], id = internalId): SeenBalancer {
  const observation: Observation<LoadBalancer> =
    names.length === 0 ? { state: "absent" } : there(balancer(id, names));
  return { id, kind: /kubernetes(-\d)?$/.test(id) ? "public" : "internal", observation };
}

function seen(over: Partial<Observed> = {}): Observed {
  const own = over.claim ?? claim();
  return {
    claim: own,
    held: true,
    deletedMsAgo: undefined,
    claims: [own],
    balancers: [on([])],
    machines: [],
    publicAddress: { id: addressId, observation: { state: "absent" } },
    usedFrontends: [],
    told: {},
    ground,
    ...over,
  };
}

/** What is on each load balancer after the steps, by name. */
function written(at: Observed): Record<string, (string | undefined)[] | "deleted"> {
  const after: ReturnType<typeof written> = {};
  for (const step of plan(at).steps) {
    const name = step.id.slice(step.id.lastIndexOf("/") + 1);
    if (step.do === "delete load balancer") after[name] = "deleted";
    if (step.do === "create load balancer" || step.do === "update load balancer")
      after[name] = (step.body.properties.frontendIPConfigurations ?? []).map((each) => each.name);
  }
  return after;
}

describe("a Service that wants a load balancer", () => {
  test("gets a finalizer first, and waits for others that come with it", () => {
    expect(plan(seen({ held: false }))).toMatchObject({
      steps: [],
      finalizer: "add",
      requeue: { afterMs: 2_000 },
    });
  });

  test("gets a frontend in the subnet of the cluster", () => {
    const made = plan(seen());
    expect(made.steps).toMatchObject([
      {
        do: "create load balancer",
        id: internalId,
        etag: undefined,
        body: {
          location: "westeurope",
          sku: { name: "Standard" },
          properties: {
            frontendIPConfigurations: [{ name: "a1", properties: { subnet: { id: subnetId } } }],
            loadBalancingRules: [
              { name: "a1-TCP-443", properties: { frontendPort: 443, enableFloatingIP: true } },
            ],
          },
        },
      },
    ]);
  });

  test("is told its address when the frontend is there, and then nothing is written", () => {
    const made = plan(seen({ balancers: [on(["a0", "a1"])] }));
    expect(made).toMatchObject({
      steps: [],
      status: { loadBalancer: { ingress: [{ ip: "10.0.0.5", ipMode: "VIP" }] } },
      requeue: "drift",
    });
  });

  test("is written in one go with all others that wait", () => {
    const others = ["a3", "a2"].map((frontend) => claim({ frontend }));
    expect(written(seen({ claims: [...others, claim()] }))).toEqual({
      "kubernetes-internal": ["a1", "a2", "a3"],
    });
  });

  test("changes the load balancer that was read, with its etag, and what is not of a Service stays", () => {
    const at = seen({ balancers: [on(["mine"])] });
    expect(plan(at).steps).toMatchObject([{ etag: 'W/"1"' }]);
    expect(written(at)).toEqual({ "kubernetes-internal": ["mine", "a1"] });
  });

  test("waits while a load balancer is being changed, and keeps its finalizer meanwhile", () => {
    const observation = { state: "changing", retryAfterMs: 7_000 } as const;
    expect(plan(seen({ balancers: [{ ...on([]), observation }] }))).toMatchObject({
      steps: [],
      finalizer: "add",
      requeue: { afterMs: 7_000 },
    });
  });

  test("goes to the next load balancer where one is full, and stays where it is", () => {
    const second = `${internalId}-2`;
    const full = [on(["a1", "a2", "a3"]), on([], second)];
    const four = ["a1", "a2", "a3", "a4"].map((frontend) => claim({ frontend }));
    const last = four[3] as Claim;
    expect(written(seen({ claim: last, claims: four, balancers: full }))).toEqual({
      "kubernetes-internal-2": ["a4"],
    });
    const room = [on(["a2", "a3"]), on(["a4"], second)];
    const at = seen({ claim: last, claims: four.slice(1), balancers: room });
    expect(plan(at).steps).toEqual([]);
  });

  test("gets another rule where its ports change", () => {
    const own = claim({ ports: [{ protocol: "UDP", port: 53 }] });
    const made = plan(seen({ claim: own, claims: [own], balancers: [on(["a1"])] }));
    expect(made.steps).toMatchObject([
      { body: { properties: { loadBalancingRules: [{ name: "a1-UDP-53" }] } } },
    ]);
  });

  test("gets a public address first, and then a frontend with it", () => {
    const own = claim({ wants: "public" });
    const balancers = [on([], `${group}/loadBalancers/kubernetes`)];
    expect(plan(seen({ claim: own, claims: [own], balancers })).steps).toMatchObject([
      { do: "create public address", id: addressId },
    ]);
    const publicAddress = {
      id: addressId,
      observation: there({ properties: { ipAddress: "20.1.1.1" } }),
    };
    const ready = { ...own, publicAddressId: addressId };
    expect(
      plan(seen({ claim: own, claims: [ready], balancers, publicAddress })).steps,
    ).toMatchObject([
      {
        body: {
          properties: {
            frontendIPConfigurations: [{ properties: { publicIPAddress: { id: addressId } } }],
          },
        },
      },
    ]);
    const done = [on(["a1"], `${group}/loadBalancers/kubernetes`)];
    expect(
      plan(seen({ claim: own, claims: [ready], balancers: done, publicAddress })),
    ).toMatchObject({ steps: [], status: { loadBalancer: { ingress: [{ ip: "20.1.1.1" }] } } });
  });

  test("leaves the public load balancer when it becomes internal, and gives its address back", () => {
    const kubernetes = `${group}/loadBalancers/kubernetes`;
    const publicAddress = {
      id: addressId,
      observation: there({ properties: { ipAddress: "20.1.1.1" } }),
    };
    expect(written(seen({ balancers: [on([]), on(["a1"], kubernetes)], publicAddress }))).toEqual({
      "kubernetes-internal": ["a1"],
      kubernetes: "deleted",
    });
    const moved = seen({ balancers: [on(["a1"]), on([], kubernetes)], publicAddress });
    expect(plan(moved).steps).toMatchObject([{ do: "delete public address" }]);
  });
});

describe("a Service that wants none any more", () => {
  const gone = claim({ wants: undefined });

  test.each([
    [500, { steps: [], requeue: { afterMs: 1_500 } }],
    [2_000, { steps: [{ do: "delete load balancer" }] }],
    [-90_000, { steps: [{ do: "delete load balancer" }] }],
  ])("waits for others that go with it, %i ms after it was deleted", (deletedMsAgo, planned) => {
    const balancers = [on(["a1"])];
    expect(plan(seen({ claim: gone, balancers, deletedMsAgo }))).toMatchObject(planned);
  });

  test("leaves the load balancer together with all others that go", () => {
    const claims = [gone, claim({ frontend: "a2", wants: undefined }), claim({ frontend: "a3" })];
    const balancers = [on(["a1", "a2", "a3"])];
    expect(written(seen({ claim: gone, claims, balancers }))).toEqual({
      "kubernetes-internal": ["a3"],
    });
  });

  test("takes the load balancer with it when it is the last", () => {
    const at = seen({ claim: gone, balancers: [on(["a1"])] });
    expect(written(at)).toEqual({ "kubernetes-internal": "deleted" });
  });

  test("waits while a link service uses its frontend, and holds nobody else up", () => {
    const usedFrontends = [frontendId(internalId, "a1").toUpperCase()];
    const balancers = [on(["a1"])];
    const claims = [gone, claim({ frontend: "a2" })];
    expect(plan(seen({ claim: gone, claims, balancers, usedFrontends }))).toMatchObject({
      steps: [],
      requeue: { afterMs: 15_000 },
    });
    const [, other] = claims;
    expect(written(seen({ claim: other, claims, balancers, usedFrontends }))).toEqual({
      "kubernetes-internal": ["a1", "a2"],
    });
  });

  test("is let go when nothing is left, and is told no address before", () => {
    const told = { ingress: [{ ip: "10.0.0.4" }] };
    expect(plan(seen({ claim: gone, told }))).toMatchObject({ status: { loadBalancer: {} } });
    expect(plan(seen({ claim: gone })).finalizer).toBe("remove");
  });
});

test("a Service that never had one is not touched", () => {
  const told = { ingress: [{ ip: "10.9.9.9" }] };
  expect(plan({ ...seen({ told }), claim: undefined })).toEqual({
    steps: [],
    conditions: [],
    status: { loadBalancer: told },
    requeue: "never",
  });
});

describe("what a Service asks for", () => {
  const made = (spec: object, metadata: object = {}) =>
    claimOf({
      metadata: { name: "s", uid: "0f1e2d3c-0000-4000-8000-00000000abcd", ...metadata },
      spec,
    } as Parameters<typeof claimOf>[0]);
  const ports = [{ port: 443 }, { port: 53, protocol: "UDP" }, { port: 9, protocol: "SCTP" }];

  test("goes by its type, its annotation and its ports", () => {
    const annotations = {
      "service.beta.kubernetes.io/azure-load-balancer-internal": "true",
    };
    expect(made({ type: "LoadBalancer", ports }, { annotations })).toMatchObject({
      frontend: "a0f1e2d3c00004000800000000000abc",
      wants: "internal",
      ports: [
        { protocol: "TCP", port: 443 },
        { protocol: "UDP", port: 53 },
      ],
    });
    expect(made({ type: "LoadBalancer", ports })?.wants).toBe("public");
  });

  test.each([
    ["another type", { type: "ClusterIP" }],
    ["the class of another provider", { type: "LoadBalancer", loadBalancerClass: "example.com/x" }],
  ])("is nothing with %s", (_what, spec) => {
    expect(made(spec)).toBeUndefined();
  });

  test("is nothing any more for one with a finalizer that is deleted, or has another type", () => {
    const finalizers = ["service.kubernetes.io/load-balancer-cleanup"];
    const deleted = { finalizers, deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(made({ type: "LoadBalancer" }, deleted)).toMatchObject({ wants: undefined });
    expect(made({ type: "ClusterIP" }, { finalizers })).toMatchObject({ wants: undefined });
  });
});

test("a load balancer is known by its name, and others are not taken for one", () => {
  expect(frontendName("0f1e2d3c-0000-4000-8000-00000000abcd")).toHaveLength(32);
  for (const internal of [true, false])
    for (const number of [1, 2, 12])
      expect(balancerNumber(internal, balancerName(internal, number))).toBe(number);
  expect(balancerNumber(true, "KUBERNETES-INTERNAL")).toBe(1);
  for (const name of ["kubernetes", "kubernetes-x", "kubernetes-internal-1", "mine", ""])
    expect(balancerNumber(true, name)).toBeUndefined();
});
