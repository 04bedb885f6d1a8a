import { withConditions } from "@postern/core/conditions.ts";
import { ownerKey } from "@postern/core/ownership.ts";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import type { Observation } from "../../azure/gateway.ts";
import type { LoadBalancer } from "../../azure/gateways/load-balancers.ts";
import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import type { VirtualNetwork } from "../../azure/gateways/virtual-networks.ts";
import { newEndpoint } from "../../private-link/endpoint/desired.ts";
import { newLinkService } from "../../private-link/link-service/desired.ts";
import { conditions } from "../names.ts";
import type { Observed, ObservedInAzure, ObservedLinks, Subject } from "./observed.ts";
import { plan } from "./plan.ts";
import { reasons } from "./reasons.ts";
import type { DesiredPrivateEndpoint, DesiredPrivateLink, Problem } from "./spec/desired.ts";

const group = "/subscriptions/s/resourceGroups/g";
const provider = `${group}/providers/Microsoft.Network`;
const network = parseResourceId(`${provider}/virtualNetworks/v`);
const subnet = parseResourceId(`${network}/subnets/node`);
const other = parseResourceId(`${network}/subnets/other`);
const balancer = parseResourceId(`${provider}/loadBalancers/lb`);
const frontend = parseResourceId(`${balancer}/frontendIPConfigurations/fe`);
const tags = {
  "sigs.k8s.io_cluster-api-provider-azure_cluster_wc": "owned",
  postern_owner: "org/wc",
};

const link: DesiredPrivateLink = {
  name: "api",
  location: "westeurope",
  tags,
  frontends: [frontend],
  id: parseResourceId(`${provider}/privateLinkServices/api`),
  nat: [{ name: "node-natipconfig-1", subnet }],
  allowed: ["A"],
  autoApproved: ["A"],
  proxyProtocol: false,
};
const endpoint: DesiredPrivateEndpoint = {
  name: "pe",
  location: "westeurope",
  tags,
  subnet,
  manual: true,
  id: parseResourceId(`${provider}/privateEndpoints/pe`),
  connections: [{ name: "c", service: `${provider}/privateLinkServices/x`, groupIds: [] }],
  interfaceName: "",
  addresses: [],
  securityGroups: [],
};

const there = <T>(resource: T): Observation<T> => ({ state: "exists", resource });
const absent = { state: "absent" } as const;
const service = (over: object = {}, top: object = {}): PrivateLinkService => {
  const made = newLinkService(link);
  return { etag: "e", ...made, ...top, properties: { ...made.properties, ...over } };
};
const connected = (status: string, over: object = {}, top: object = {}): PrivateEndpoint => {
  const { properties, ...made } = newEndpoint(endpoint);
  const decided = properties.manualPrivateLinkServiceConnections?.map((each) => ({
    ...each,
    properties: { ...each.properties, privateLinkServiceConnectionState: { status } as never },
  }));
  return {
    etag: "e",
    ...made,
    ...top,
    properties: { ...properties, manualPrivateLinkServiceConnections: decided ?? [], ...over },
  };
};
const someBalancer: LoadBalancer = {
  properties: { frontendIPConfigurations: [{ id: frontend.toUpperCase(), properties: {} }] },
};
const someNetwork = (
  policies: "Enabled" | "Disabled",
  top: object = {},
  provisioningState = "Succeeded",
): VirtualNetwork => ({
  ...top,
  properties: {
    subnets: [subnet, other].map((id) => ({
      id,
      properties: { privateLinkServiceNetworkPolicies: policies, provisioningState },
    })),
  },
});

const subject: Subject = {
  owner: ownerKey("org", "wc"),
  cluster: "wc",
  scopes: ["links", "endpoints"],
  hasFinalizer: true,
  conditions: [],
  foreignEndpoints: "disconnect",
  graceMs: 0,
};

function links(
  observation: Observation<PrivateLinkService>,
  over: Partial<ObservedLinks> = {},
): Partial<ObservedInAzure> {
  const observed: ObservedLinks = {
    desired: [{ link, id: link.id, observation }],
    obsolete: [],
    balancers: [{ id: balancer, observation: there(someBalancer) }],
    networks: [{ id: network, observation: there(someNetwork("Disabled")), isInGroup: true }],
  };
  return { links: { ...observed, ...over } };
}

const endpoints = (observation: Observation<PrivateEndpoint>): Partial<ObservedInAzure> => ({
  endpoints: { desired: [{ endpoint, id: endpoint.id, observation }], obsolete: [] },
});

function observed(over: Partial<ObservedInAzure> = {}): ObservedInAzure {
  return {
    stage: "observed",
    subject,
    deleting: false,
    problems: [],
    links: { desired: [], obsolete: [], networks: [] },
    endpoints: { desired: [], obsolete: [] },
    ...over,
  };
}

/** What is told and done, in short. */
function short(given: Observed): { reported: string[]; does: string[] } {
  const { conditions: all, steps } = plan(given);
  return {
    reported: all.map(({ status, reason }) => `${status} ${reason}`),
    does: steps.map((each) => each.do),
  };
}

test("what only takes its time is reported as Info, what somebody must do something about as Error", () => {
  const severityOf = (given: Partial<ObservedInAzure>) =>
    plan(observed(given)).conditions.map(({ severity }) => severity);
  expect(severityOf(links({ state: "changing", retryAfterMs: 1 }))).toEqual(["Info"]);
  expect(severityOf(links(there(service({}, { tags: {} }))))).toEqual(["Error"]);
  expect(severityOf(links(there(service())))).toEqual([undefined]);
});

describe("a link service", () => {
  const failure = { reason: "X", message: "no" };
  test.each<[string, Partial<ObservedInAzure>, string, string[]]>([
    ["as wanted is left alone", links(there(service())), "True Realised", []],
    [
      "in other words for the same is left alone",
      links(there(service({ visibility: { subscriptions: ["a"] } }, { location: "West Europe" }))),
      "True Realised",
      [],
    ],
    ["that failed is told", links({ state: "failed", failure }), "False NotMade", []],
    [
      "that is being written is waited for",
      links({ state: "changing", retryAfterMs: 1 }),
      "False BeingMade",
      [],
    ],
    [
      "without a mark is another's",
      links(there(service({}, { tags: {} }))),
      "False OwnedByAnother",
      [],
    ],
    [
      "of another owner is another's",
      links(there(service({}, { tags: { ...tags, postern_owner: "org/wc1" } }))),
      "False OwnedByAnother",
      [],
    ],
    [
      "of CAPZ is taken over",
      links(
        there(
          service({}, { tags: { "sigs.k8s.io_cluster-api-provider-azure_cluster_wc": "owned" } }),
        ),
      ),
      "False BeingChanged",
      ["update link service"],
    ],
    [
      "of CAPZ for a cluster whose name begins the same is another's",
      links(
        there(
          service({}, { tags: { "sigs.k8s.io_cluster-api-provider-azure_cluster_wc1": "owned" } }),
        ),
      ),
      "False OwnedByAnother",
      [],
    ],
    [
      "with another frontend is replaced",
      links(there(service({ loadBalancerFrontendIpConfigurations: [{ id: `${frontend}2` }] }))),
      "False BeingReplaced",
      ["delete link service"],
    ],
    [
      "in another region is replaced",
      links(there(service({}, { location: "north" }))),
      "False BeingReplaced",
      ["delete link service"],
    ],
    [
      "in another subnet is replaced",
      links(
        there(
          service({
            ipConfigurations: [
              { name: "node-natipconfig-1", properties: { subnet: { id: other }, primary: true } },
            ],
          }),
        ),
      ),
      "False BeingReplaced",
      ["delete link service"],
    ],
    [
      "with other addresses is changed",
      links(
        there(
          service({
            ipConfigurations: [
              { name: "n", properties: { subnet: { id: subnet }, primary: true } },
            ],
          }),
        ),
      ),
      "False BeingChanged",
      ["update link service"],
    ],
    [
      "that others may see is changed",
      links(there(service({ visibility: { subscriptions: ["A", "B"] } }))),
      "False BeingChanged",
      ["update link service"],
    ],
    [
      "without lists is changed",
      links(there(service({ visibility: undefined, autoApproval: undefined }))),
      "False BeingChanged",
      ["update link service"],
    ],
    [
      "that approves others is changed",
      links(there(service({ autoApproval: { subscriptions: [] } }))),
      "False BeingChanged",
      ["update link service"],
    ],
    [
      "with the proxy protocol is changed",
      links(there(service({ enableProxyProtocol: true }))),
      "False BeingChanged",
      ["update link service"],
    ],
    [
      "without CAPZ's tag is changed",
      links(there(service({}, { tags: { postern_owner: "org/wc" } }))),
      "False BeingChanged",
      ["update link service"],
    ],
    [
      "that Azure gave up is written again",
      links(there(service({ provisioningState: "Failed" }))),
      "False BeingChanged",
      ["update link service"],
    ],
    ["that is absent is made", links(absent), "False BeingMade", ["create link service"]],
    [
      "without a load balancer waits",
      links(absent, { balancers: [{ id: balancer, observation: absent }] }),
      "False LoadBalancerMissing",
      [],
    ],
    [
      "behind a load balancer with as many links as Azure allows waits",
      links(absent, { fullBalancers: [balancer] }),
      "False ILBFull",
      [],
    ],
    [
      "without its frontend waits",
      links(absent, { balancers: [{ id: balancer, observation: there({ properties: {} }) }] }),
      "False LoadBalancerMissing",
      [],
    ],
    [
      "behind a failed load balancer waits",
      links(absent, {
        balancers: [
          {
            id: balancer,
            observation: there({
              properties: { ...someBalancer.properties, provisioningState: "Failed" },
            }),
          },
        ],
      }),
      "False LoadBalancerMissing",
      [],
    ],
    ["without its network waits", links(absent, { networks: [] }), "False NATSubnetUnfit", []],
    [
      "without its subnet waits",
      links(absent, {
        networks: [{ id: network, observation: there({ properties: {} }), isInGroup: true }],
      }),
      "False NATSubnetUnfit",
      [],
    ],
    [
      "in a closed subnet has it opened",
      links(absent, {
        networks: [{ id: network, observation: there(someNetwork("Enabled")), isInGroup: true }],
      }),
      "False NATSubnetBeingChanged",
      ["update NAT subnet"],
    ],
    [
      "in a closed subnet of CAPZ's network elsewhere has it opened",
      links(absent, {
        networks: [
          { id: network, observation: there(someNetwork("Enabled", { tags })), isInGroup: false },
        ],
      }),
      "False NATSubnetBeingChanged",
      ["update NAT subnet"],
    ],
    [
      "in a closed subnet of somebody else waits",
      links(absent, {
        networks: [{ id: network, observation: there(someNetwork("Enabled")), isInGroup: false }],
      }),
      "False NATSubnetUnfit",
      [],
    ],
    [
      "in a failed subnet has it written again",
      links(absent, {
        networks: [
          {
            id: network,
            observation: there(someNetwork("Disabled", {}, "Failed")),
            isInGroup: true,
          },
        ],
      }),
      "False NATSubnetBeingChanged",
      ["update NAT subnet"],
    ],
    [
      "in a failed subnet of somebody else waits",
      links(absent, {
        networks: [
          {
            id: network,
            observation: there(someNetwork("Disabled", {}, "Failed")),
            isInGroup: false,
          },
        ],
      }),
      "False NATSubnetUnfit",
      [],
    ],
    [
      "that is not asked for goes",
      {
        links: {
          desired: [],
          obsolete: [{ id: link.id, observation: there(service()) }],
          networks: [],
        },
      },
      "False BeingRemoved",
      ["delete link service"],
    ],
  ])("%s", (_what, over, reported, does) => {
    expect(short(observed(over))).toEqual({ reported: [reported], does });
  });

  test("keeps what others have set when it is changed", () => {
    const found = service(
      { fqdns: ["a.example"], enableProxyProtocol: true },
      { tags: { ...tags, team: "a" } },
    );
    const [step] = plan(observed(links(there(found)))).steps;
    expect(step).toMatchObject({
      etag: "e",
      body: {
        tags: { team: "a" },
        properties: { fqdns: ["a.example"], enableProxyProtocol: false },
      },
    });
  });

  test("that was ready stays so while it is changed in place", () => {
    const present = {
      type: conditions.privateLinks,
      status: "True",
      reason: reasons.ready,
      message: "1 private link is as asked for",
    } as const;
    const over = {
      ...links(there(service({ enableProxyProtocol: true }))),
      subject: { ...subject, conditions: [{ ...present, sinceMs: 0 }] },
    };
    expect(plan(observed(over)).conditions).toEqual([present]);
  });

  test("that was ready is not while its last write has failed", () => {
    const present = { status: "True", reason: reasons.ready, message: "", sinceMs: 0 } as const;
    const given = { ...subject, conditions: [{ type: conditions.privateLinks, ...present }] };
    const over = { ...links(there(service({ provisioningState: "Failed" }))), subject: given };
    expect(plan(observed(over)).conditions).toMatchObject([
      { status: "False", reason: "BeingChanged" },
    ]);
  });

  test("opens one subnet of a network at a time", () => {
    const networks = [{ id: network, observation: there(someNetwork("Enabled")), isInGroup: true }];
    const id = parseResourceId(`${link.id}2`);
    const second = { ...link, id, nat: [{ name: "n", subnet: other }] };
    const desired = [link, second].map((each) => ({
      link: each,
      id: each.id,
      observation: absent,
    }));
    const { links: one } = links(absent, { networks, desired });
    expect(short(observed({ links: one as ObservedLinks })).does).toEqual(["update NAT subnet"]);
  });
});

describe("a private endpoint", () => {
  const elsewhere = {
    privateLinkServiceId: "/x",
    privateLinkServiceConnectionState: { status: "Approved" },
  };
  test.each<[string, Observation<PrivateEndpoint>, string, string[]]>([
    ["that is approved is ready", there(connected("Approved")), "True Realised", []],
    ["that is absent is made", absent, "False BeingMade", ["create private endpoint"]],
    ["that waits is told", there(connected("Pending")), "False ApprovalPending", []],
    ["that was rejected is told", there(connected("Rejected")), "False ConnectionRejected", []],
    [
      "that lost its connection is replaced",
      there(connected("Disconnected")),
      "False BeingReplaced",
      ["delete private endpoint"],
    ],
    [
      "in another subnet is replaced",
      there(connected("Approved", { subnet: { id: other } })),
      "False BeingReplaced",
      ["delete private endpoint"],
    ],
    [
      "to another service is replaced",
      there(
        connected("Approved", {
          manualPrivateLinkServiceConnections: [{ name: "c", properties: elsewhere }],
        }),
      ),
      "False BeingReplaced",
      ["delete private endpoint"],
    ],
    [
      "without a mark is another's",
      there(connected("Approved", {}, { tags: {} })),
      "False OwnedByAnother",
      [],
    ],
    [
      "in other groups is changed",
      there(connected("Approved", { applicationSecurityGroups: [{ id: "/a" }] })),
      "False BeingChanged",
      ["update private endpoint"],
    ],
    [
      "with other tags is changed, and says that it waits",
      there(connected("Pending", {}, { tags: { postern_owner: "org/wc" } })),
      "False ApprovalPending",
      ["update private endpoint"],
    ],
  ])("%s", (_what, observation, reported, does) => {
    expect(short(observed(endpoints(observation)))).toEqual({ reported: [reported], does });
  });

  test.each([
    ["Approved", "True Realised", []],
    ["Pending", "False BeingReplaced", ["delete private endpoint"]],
  ])(
    "that was asked for without approval and is %s is %s where it should wait for one",
    (status, reported, does) => {
      const { manualPrivateLinkServiceConnections: manual = [] } = connected(status).properties;
      const lists = {
        privateLinkServiceConnections: manual,
        manualPrivateLinkServiceConnections: [],
      };
      const found = connected(status, lists);
      expect(short(observed(endpoints(there(found))))).toEqual({ reported: [reported], does });
    },
  );

  test("is one of many that are being made: they are reported as one, however many are left", () => {
    const many = (count: number) => {
      const desired = Array.from({ length: count }, (_, n) => ({
        endpoint: { ...endpoint, name: `pe${n}` },
        observation: absent,
        id: parseResourceId(`${endpoint.id}${n}`),
      }));
      return plan(observed({ endpoints: { desired, obsolete: [] } })).conditions;
    };
    expect(many(200)).toEqual(many(2));
    expect(many(2)[0]).toMatchObject({ reason: reasons.creating });
  });

  test("that waits longer is looked at more seldom", () => {
    const after = (sinceMs: number) => {
      const present = {
        type: conditions.privateEndpoints,
        status: "False",
        reason: reasons.approvalPending,
        message: "",
        sinceMs,
      } as const;
      return plan(
        observed({
          ...endpoints(there(connected("Pending"))),
          subject: { ...subject, conditions: [present] },
        }),
      ).requeue;
    };
    expect([0, 4 * 60_000, 24 * 3_600_000].map(after)).toEqual([
      { afterMs: 30_000 },
      { afterMs: 60_000 },
      { afterMs: 300_000 },
    ]);
  });
});

describe("an AzureCluster", () => {
  const present = {
    type: conditions.privateLinks,
    status: "True",
    reason: reasons.ready,
    message: "m",
  } as const;
  const withCondition = { ...subject, conditions: [{ ...present, sinceMs: 0 }] };
  const wrong: Problem = { scope: "links", reason: reasons.invalid, message: "no" };

  test("that is paused stays as it is", () => {
    expect(plan({ stage: "paused", subject: withCondition })).toMatchObject({
      steps: [],
      conditions: [present],
      requeue: "never",
    });
    expect(plan({ stage: "paused", subject: withCondition }).finalizer).toBeUndefined();
  });

  test("that asks for nothing any more loses its condition, and then the finalizer", () => {
    expect(plan(observed({ subject: withCondition }))).toMatchObject({
      conditions: [],
      requeue: { afterMs: 0 },
    });
    expect(plan(observed({ subject: withCondition })).finalizer).toBeUndefined();
    expect(plan(observed())).toMatchObject({ conditions: [], finalizer: "remove" });
  });

  test("of which nothing is left keeps the finalizer until its last message is written", () => {
    const problems: Problem[] = [{ ...wrong, message: "no · the link has no name · add one" }];
    const first = plan(observed({ problems }));
    expect(first.finalizer).toBeUndefined();
    const written = withConditions([], first.conditions, [], new Date(0));
    const reported = { ...subject, conditions: written.map((each) => ({ ...each, sinceMs: 0 })) };
    expect(plan(observed({ problems, subject: reported })).finalizer).toBe("remove");
  });

  test("of which something cannot be read has nothing removed, and keeps its finalizer", () => {
    const obsolete = [{ id: link.id, observation: there(service()) }];
    const planned = plan(
      observed({ problems: [wrong], links: { desired: [], obsolete, networks: [] } }),
    );
    expect(planned.steps).toEqual([]);
    expect(planned.conditions[0]?.reason).toBe(reasons.invalid);
    expect(plan({ stage: "idle", subject, problems: [wrong] }).finalizer).toBeUndefined();
  });

  test("tells what a person must do before what only takes its time", () => {
    const planned = plan(observed({ ...links(absent), problems: [wrong] }));
    expect(planned.conditions[0]).toMatchObject({ reason: reasons.invalid });
    expect(planned.conditions[0]?.message).toMatch(/^no · private link api is being created/);
    expect(planned.steps).toHaveLength(1);
  });

  test("that goes gives up its endpoints first, then its links, then itself", () => {
    const obsoleteEndpoints = {
      desired: [],
      obsolete: [{ id: endpoint.id, observation: there(connected("Approved")) }],
    };
    const obsoleteLinks = {
      desired: [],
      obsolete: [{ id: link.id, observation: there(service()) }],
      networks: [],
    };
    const deletion = { deleting: true, subject: withCondition };
    expect(
      short(observed({ ...deletion, links: obsoleteLinks, endpoints: obsoleteEndpoints })).does,
    ).toEqual(["delete private endpoint"]);
    expect(short(observed({ ...deletion, links: obsoleteLinks })).does).toEqual([
      "delete link service",
    ]);
    expect(plan(observed(deletion))).toMatchObject({ steps: [], finalizer: "remove" });
  });

  test("of which one side is another's is reported in no condition of theirs", () => {
    const obsoleteEndpoints = {
      desired: [],
      obsolete: [{ id: endpoint.id, observation: there(connected("Approved")) }],
    };
    const ours = { ...subject, scopes: ["links" as const] };
    const planned = plan(observed({ deleting: true, subject: ours, endpoints: obsoleteEndpoints }));
    expect(planned.steps[0]?.condition).toBeUndefined();
    expect(planned.conditions).toEqual([]);
  });

  test("for which Azure cannot be asked is told so on the sides that are ours", () => {
    const failure = { reason: "X", message: "no right", requeueAfterMs: 7 };
    const ours = { ...subject, scopes: ["endpoints" as const] };
    expect(plan({ stage: "unread", subject: ours, failure })).toMatchObject({
      conditions: [
        { type: conditions.privateEndpoints, reason: reasons.notReady, message: "no right" },
      ],
      requeue: { afterMs: 7 },
    });
  });
});

describe("a link service with endpoints, when it goes", () => {
  const withEndpoint = (status: string) =>
    service({
      privateEndpointConnections: [
        {
          id: `${link.id}/privateEndpointConnections/c`,
          properties: {
            privateEndpoint: { id: "/them/pe" },
            privateLinkServiceConnectionState: { status },
          },
        },
      ],
    });
  const observeDeleted = (status: string, over: Partial<Subject> = {}) =>
    short(
      observed({
        deleting: true,
        subject: { ...subject, ...over },
        links: {
          desired: [],
          obsolete: [{ id: link.id, observation: there(withEndpoint(status)) }],
          networks: [],
        },
      }),
    );

  test("rejects them, then removes them", () => {
    expect(observeDeleted("Approved").does).toEqual(["reject connection"]);
    expect(observeDeleted("Rejected").does).toEqual(["delete connection"]);
  });

  test("gives the management cluster its time to delete them", () => {
    const given = { reported: ["False BeingRemoved"], does: [] };
    expect(observeDeleted("Approved", { graceMs: 5000 })).toEqual(given);
    expect(observeDeleted("Approved", { graceMs: 5000, foreignEndpoints: "refuse" })).toEqual(
      given,
    );
  });

  test("waits for their owners where it must not cut them off", () => {
    expect(observeDeleted("Approved", { foreignEndpoints: "refuse" })).toEqual({
      reported: ["False ForeignEndpointsConnected"],
      does: [],
    });
  });
});
