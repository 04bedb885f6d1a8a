import { parseResourceId } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import {
  absent,
  alias,
  balancerId,
  clusterID,
  connection,
  doing,
  fresh,
  frontendId,
  hostedSubscription,
  messageOf,
  otherEndpoint,
  present,
  reported,
  service,
  serviceId,
  subject,
  subnetId,
  there,
  up,
} from "../../../../../test/hosted/link-observed.ts";
import { conditions } from "../names.ts";
import { plan, planUp, reasons } from "./plan.ts";

const failure = {
  reason: "AuthorizationFailed",
  message: "cannot · lacks a right · give it",
  requeueAfterMs: 600_000,
};
const other = "44444444-4444-4444-8444-444444444444";

function stopped(
  known: Parameters<typeof plan>[0] & { stage: "stopped" } extends { known: infer K } ? K : never,
) {
  return plan({ stage: "stopped", subject: subject(), known });
}

describe("a link of which nothing can be made", () => {
  test("says why, without a step and without asking again by itself", () => {
    const made = stopped({ is: "stopped", reason: reasons.clusterNotFound, message: "gone" });
    expect(reported(made)).toBe("False HostedClusterNotFound");
    expect(made).toMatchObject({ steps: [], requeue: "never" });
  });

  test("does not change the published status meanwhile", () => {
    const fields = { privateLinkServiceID: serviceId, privateLinkServiceAlias: alias };
    const known = { is: "stopped", reason: reasons.clusterNotFound, message: "gone" } as const;
    expect(plan({ stage: "stopped", subject: subject({ fields }), known }).status).toEqual(fields);
  });

  test("is left as it was while paused, and reconciled when the pause ends", () => {
    const before = present("True", reasons.success);
    const known = { is: "paused", pause: { paused: true, untilMs: 5_000 } } as const;
    const made = plan({ stage: "stopped", subject: subject({ conditions: [before] }), known });
    expect(made).toMatchObject({ steps: [], conditions: [before], requeue: { afterMs: 5_000 } });
    expect(made.finalizer).toBeUndefined();
  });

  test("says that it is paused where it has said nothing yet", () => {
    const made = stopped({ is: "paused", pause: { paused: true } });
    expect(reported(made)).toBe("False Paused");
    expect(made.requeue).toBe("never");
  });
});

test("a link service that cannot be read keeps what was published, and the condition has the failure", () => {
  const { subject: published } = up();
  const made = plan({ stage: "unread", subject: published, failure });
  expect(made).toMatchObject({
    steps: [],
    requeue: { afterMs: 600_000 },
    status: published.fields,
  });
  expect(reported(made)).toBe("False AzureError");
  expect(made.finalizer).toBeUndefined();
});

describe("a link service that is not there", () => {
  test("is created in the load balancer's region and not the cluster's, on its frontend, for the hosted cluster", () => {
    const observed = fresh();
    if (observed.frontend.is === "found") observed.frontend.frontend.location = "northeurope";
    const made = plan(observed);
    expect(doing(made)).toEqual(["create link service"]);
    expect(made.finalizer).toBe("add");
    expect(made.steps[0]).toMatchObject({
      id: serviceId,
      failsAs: "PLSCreationFailed",
      body: {
        location: "northeurope",
        tags: {
          "kubernetes.io_cluster_one": "owned",
          "hypershift.openshift.io_resource-type": "private-link-service",
          postern_owner: `${clusterID}/uid-1`,
        },
        properties: {
          loadBalancerFrontendIpConfigurations: [{ id: frontendId }],
          ipConfigurations: [
            {
              name: "pls-nat-ip",
              properties: {
                subnet: { id: subnetId },
                primary: true,
                privateIPAllocationMethod: "Dynamic",
                privateIPAddressVersion: "IPv4",
              },
            },
          ],
          visibility: { subscriptions: [hostedSubscription] },
          autoApproval: { subscriptions: [hostedSubscription] },
          enableProxyProtocol: false,
        },
      },
    });
    expect(reported(made)).toBe("False PLSCreating");
    expect(reported(made, conditions.loadBalancer)).toBe("True AzureSuccess");
    expect(made.status).toEqual({ internalLoadBalancerID: balancerId });
  });

  test("was deleted by somebody: it is made again, and its alias is withdrawn at once", () => {
    const made = plan(fresh({ subject: up().subject }));
    expect(doing(made)).toEqual(["create link service"]);
    expect(made.steps[0]?.why).toContain("deleted");
    expect(made.status).toEqual({ internalLoadBalancerID: balancerId });
  });

  test.each(["exists", "absent"] as const)(
    "reports a failed load balancer on both conditions while its service is %s",
    (is) => {
      const { frontend } = up();
      if (frontend.is !== "found") throw new Error("no frontend");
      const failed = { is: "found", frontend: { ...frontend.frontend, failed: "Failed" } } as const;
      const given = is === "exists" ? there(service()) : ({ state: "absent" } as const);
      const made = plan(up({ service: given, frontend: failed }));
      expect(made.steps).toEqual([]);
      expect([reported(made), reported(made, conditions.loadBalancer)]).toEqual([
        "False ILBFailed",
        "False ILBFailed",
      ]);
      expect(made.requeue).toEqual({ afterMs: 30_000 });
    },
  );

  test("waits for its load balancer, and both conditions have that: it does not wait silently", () => {
    const made = plan(fresh({ frontend: { is: "missing" } }));
    expect(made).toMatchObject({ steps: [], requeue: { afterMs: 30_000 } });
    expect([reported(made), reported(made, conditions.loadBalancer)]).toEqual([
      "False ILBNotFound",
      "False ILBNotFound",
    ]);
    expect(messageOf(made)).toContain("10.0.0.4");
    expect(made.status).toEqual({});
  });

  test("is not tried before a load balancer of the SKU Basic", () => {
    const observed = fresh();
    if (observed.frontend.is === "found") observed.frontend.frontend.sku = "Basic";
    const made = plan(observed);
    expect(doing(made)).toEqual([]);
    expect(reported(made, conditions.loadBalancer)).toBe("False ILBUnsupported");
    expect(messageOf(made)).toContain("Standard");
  });

  test("is not tried in front of a load balancer with backend pools of IP addresses", () => {
    const observed = fresh();
    if (observed.frontend.is === "found") observed.frontend.frontend.isIpBased = true;
    const planned = plan(observed);
    expect(doing(planned)).toEqual([]);
    expect(reported(planned, conditions.loadBalancer)).toBe("False ILBUnsupported");
    expect(messageOf(planned)).toContain("nodeIPConfiguration");
  });

  test("has the failed list of load balancers in its condition, and is requeued when Azure said", () => {
    const made = plan(fresh({ frontend: { is: "failed", failure } }));
    expect(reported(made)).toBe("False ILBLookupFailed");
    expect(reported(made, conditions.loadBalancer)).toBe("False ILBLookupFailed");
    expect(made.requeue).toEqual({ afterMs: 600_000 });
  });

  test("with a failed last write is reported with HyperShift's reason", () => {
    const made = plan(fresh({ service: { state: "failed", failure } }));
    expect(reported(made)).toBe("False PLSCreationFailed");
    expect(made).toMatchObject({ steps: [], requeue: { afterMs: 600_000 } });
  });

  test("with a last write that can never succeed is not tried again by itself", () => {
    const terminal = { ...failure, terminal: true };
    expect(plan(fresh({ service: { state: "failed", failure: terminal } })).requeue).toBe("never");
  });
});

describe("its NAT subnet", () => {
  const subnet = { id: subnetId, prefix: "10.0.64.0/24" };

  test("is noted on the object before it is made", () => {
    const observed = fresh({ subject: subject({ recordedSubnet: undefined }) });
    expect(planUp(observed, { is: "to be made", subnet }).steps).toMatchObject([
      { do: "record NAT subnet", subnet: subnetId },
    ]);
    const noted = planUp(fresh(), { is: "to be made", subnet });
    expect(noted.steps).toMatchObject([
      { do: "create NAT subnet", ...subnet, failsAs: "NATSubnetCreationFailed" },
    ]);
    expect(reported(noted)).toBe("False NATSubnetCreating");
  });

  test("is noted together with the service that uses it", () => {
    const made = plan(fresh({ subject: subject({ recordedSubnet: undefined }) }));
    expect(doing(made)).toEqual(["record NAT subnet", "create link service"]);
  });

  test("is not noted where it was given, or was there before us", () => {
    const nat = { is: "exists", subnet: subnetId, isOwn: false } as const;
    const made = planUp(fresh({ subject: subject({ recordedSubnet: undefined }) }), nat);
    expect(doing(made)).toEqual(["create link service"]);
  });

  test("gets a successor before it is full", () => {
    const spare = { id: parseResourceId(`${subnetId}1`), prefix: "10.0.65.0/24" };
    const made = planUp(fresh(), { is: "exists", subnet: subnetId, isOwn: true, spare });
    expect(doing(made)).toEqual(["create link service", "create NAT subnet"]);
  });

  test.each([
    [
      "is being made",
      { is: "changing", retryAfterMs: 4_000 },
      "False NATSubnetCreating",
      { afterMs: 4_000 },
    ],
    ["cannot be used", { is: "unfit", message: "m" }, "False NATSubnetUnfit", { afterMs: 60_000 }],
    [
      "could not be made",
      { is: "failed", failure },
      "False NATSubnetCreationFailed",
      { afterMs: 600_000 },
    ],
  ] as const)("that %s holds the service up", (_name, nat, condition, requeue) => {
    const made = planUp(fresh(), nat);
    expect(made).toMatchObject({ steps: [], requeue });
    expect(reported(made)).toBe(condition);
  });

  test("with a name that is longer than Azure allows for subnets is reported, and not sent", () => {
    const long = parseResourceId(
      `${subnetId.slice(0, subnetId.lastIndexOf("/"))}/${"x".repeat(81)}`,
    );
    const made = planUp(fresh(), {
      is: "to be made",
      subnet: { id: long, prefix: "10.0.0.0/24" },
    });
    expect(reported(made)).toBe("False NameTooLong");
    expect(made.steps).toEqual([]);
  });
});

describe("a link service that is there", () => {
  test("and as wanted is published, and nothing is done", () => {
    const made = plan(up());
    expect(made).toMatchObject({ steps: [], requeue: "drift" });
    expect(reported(made)).toBe("True AzureSuccess");
    expect(made.status).toEqual({
      internalLoadBalancerID: balancerId,
      privateLinkServiceID: serviceId,
      privateLinkServiceAlias: alias,
    });
  });

  test("is not updated for another case or order of subscriptions and ids", () => {
    const subscriptions = [
      other.toUpperCase(),
      hostedSubscription.toUpperCase(),
      hostedSubscription,
    ];
    const found = service({
      visibility: { subscriptions },
      autoApproval: { subscriptions: subscriptions.toReversed() },
      loadBalancerFrontendIpConfigurations: [{ id: frontendId.toUpperCase() }],
    });
    found.id = serviceId
      .replace("resourceGroups", "resourcegroups")
      .replace("privateLinkServices", "privatelinkservices");
    found.location = "West Europe";
    const made = plan(up({ service: there(found), allowed: [hostedSubscription, other] }));
    expect(doing(made)).toEqual([]);
    // The schema of the status takes one spelling only.
    expect(made.status?.privateLinkServiceID).toBe(serviceId);
  });

  test.each([
    ["visibility lacks an allowed subscription", { visibility: { subscriptions: [] } }],
    ["visibility has one too many", { visibility: { subscriptions: [hostedSubscription, other] } }],
    ["approval lacks a subscription", { autoApproval: { subscriptions: [] } }],
    ["proxy protocol was switched on", { enableProxyProtocol: true }],
    [
      "a NAT address was added",
      {
        ipConfigurations: [
          ...(service().properties.ipConfigurations ?? []),
          { name: "more", properties: { subnet: { id: subnetId }, primary: false } },
        ],
      },
    ],
    [
      "its NAT address was made static",
      {
        ipConfigurations: [
          {
            name: "pls-nat-ip",
            properties: {
              subnet: { id: subnetId },
              primary: true,
              privateIPAllocationMethod: "Static" as const,
              privateIPAddress: "10.0.64.9",
            },
          },
        ],
      },
    ],
    ["its last operation failed", { provisioningState: "Failed" }],
  ])("is changed in place with its etag where %s", (_name, over) => {
    const found = service({ ...over, fqdns: ["kept.example.com"] });
    const made = plan(up({ service: there(found) }));
    expect(doing(made)).toEqual(["update link service"]);
    const [step] = made.steps;
    if (step?.on !== "link service" || step.verb !== "change") throw new Error("no change");
    expect(step).toMatchObject({ etag: 'W/"1"', failsAs: "PLSUpdateFailed" });
    expect(step.body.properties).toEqual({
      ...service().properties,
      alias: undefined,
      provisioningState: undefined,
      fqdns: ["kept.example.com"],
    });
    expect(made.status?.privateLinkServiceAlias).toBe(alias);
  });

  test("that was ready is not while its last write has failed", () => {
    const given = subject({ conditions: [present("True", reasons.success)] });
    const failed = there(service({ provisioningState: "Failed" }));
    expect(reported(plan(up({ subject: given, service: failed })))).toBe("False PLSUpdating");
  });

  test("gets our tags back and keeps those of others", () => {
    const found = service(
      {},
      { tags: { ...service().tags, "hypershift.openshift.io_resource-type": "x", team: "a" } },
    );
    const [step] = plan(up({ service: there(found) })).steps;
    expect(step).toMatchObject({ body: { tags: { ...service().tags, team: "a" } } });
  });

  test("remains available while it is changed in place", () => {
    const before = present("True", reasons.success);
    const fields = { privateLinkServiceID: serviceId, privateLinkServiceAlias: alias };
    const observed = { subject: subject({ conditions: [before], fields }) };
    const changing = { state: "changing", retryAfterMs: 3_000 } as const;
    const made = plan(up({ ...observed, service: changing }));
    expect(made.conditions).toContainEqual(before);
    expect(made).toMatchObject({ steps: [], requeue: { afterMs: 3_000 }, status: fields });
    const found = service({ enableProxyProtocol: true });
    expect(plan(up({ ...observed, service: there(found) })).conditions).toContainEqual(before);
  });

  test("is recreated where the load balancer's frontend is another, and its old id and alias leave the status", () => {
    const found = service({ loadBalancerFrontendIpConfigurations: [{ id: `${frontendId}-old` }] });
    const made = plan(up({ service: there(found) }));
    expect(doing(made)).toEqual(["delete link service"]);
    expect(reported(made)).toBe("False PLSReplacing");
    expect(made.status).toEqual({ internalLoadBalancerID: balancerId });
  });

  describe("while its Service is being deleted", () => {
    const released = { frontend: { is: "released" } } as const;

    test("is deleted, and the plan announces the outage", () => {
      const made = plan(up(released));
      expect(doing(made)).toEqual(["delete link service"]);
      expect(made.steps[0]?.why).toContain("the cluster cannot be reached until the next Service");
      expect(reported(made)).toBe("False ServiceDeleting");
      expect(made.status).toEqual({ internalLoadBalancerID: undefined });
    });

    test("is freed of its connections first, and never against the policy", () => {
      const found = service({
        privateEndpointConnections: [connection(otherEndpoint, "Approved")],
      });
      const world = { ...released, service: there(found) };
      expect(doing(plan(up(world)))).toEqual(["reject connection"]);
      const made = plan(up({ ...world, subject: subject({ foreignEndpoints: "refuse" }) }));
      expect(made.steps).toEqual([]);
      expect(reported(made)).toBe("False ForeignEndpointsConnected");
    });

    test.each([
      ["is not created", absent],
      ["is awaited while Azure deletes it", { state: "changing", retryAfterMs: 1_000 } as const],
    ])("%s", (_name, observation) => {
      const made = plan(up({ ...released, service: observation }));
      expect(made.steps).toEqual([]);
      expect(reported(made)).toBe("False ServiceDeleting");
    });

    test("is left alone where it is another's", () => {
      const made = plan(up({ ...released, owner: { is: "another", described: "somebody" } }));
      expect(made.steps).toEqual([]);
    });
  });

  test.each([
    ["it is in another region", service({}, { location: "eastus" }), undefined],
    ["another NAT subnet is asked for", service(), `${subnetId}-given`],
  ])("is recreated where %s", (_name, found, natSubnetID) => {
    expect(doing(plan(up({ service: there(found), natSubnetID })))).toEqual([
      "delete link service",
    ]);
  });

  test("is freed of its connections before it is recreated, and never against the policy", () => {
    const found = service({
      loadBalancerFrontendIpConfigurations: [{ id: `${frontendId}-old` }],
      privateEndpointConnections: [connection(otherEndpoint, "Approved")],
    });
    expect(doing(plan(up({ service: there(found) })))).toEqual(["reject connection"]);
    const refusing = subject({ foreignEndpoints: "refuse" });
    const made = plan(up({ subject: refusing, service: there(found) }));
    expect(made.steps).toEqual([]);
    expect(reported(made)).toBe("False ForeignEndpointsConnected");
  });

  test("is left alone where it is another's, who is not named", () => {
    const found = service({}, { tags: { postern_owner: "other-cluster/uid-2" } });
    const made = plan(up({ subject: subject(), service: there(found) }));
    expect(made.steps).toEqual([]);
    expect(reported(made)).toBe("False OwnedByAnother");
    expect(messageOf(made)).toContain("another cluster");
    expect(messageOf(made)).not.toContain("other-cluster");
    expect(made.status).toEqual({ internalLoadBalancerID: balancerId });
  });

  test("is ready although spec.pausedUntil cannot be read, and says so", () => {
    const { known } = up();
    const made = plan(up({ known: { ...known, warning: "it is not paused" } }));
    expect(reported(made)).toBe("True AzureSuccess");
    expect(messageOf(made)).toContain("ready, but it is not paused");
    expect(made.events).toMatchObject([
      { reason: "PLSReady" },
      { reason: "PausedUntilUnreadable", note: "it is not paused", type: "Warning" },
    ]);
    expect(plan(up()).events).toHaveLength(1);
  });

  test("of an object of the cluster that does not exist any more is adopted, and nothing else of it changes", () => {
    const tags = { team: "blue", postern_owner: `${clusterID}/uid-0` };
    const found = service({ enableProxyProtocol: true }, { tags });
    const made = plan(up({ subject: subject(), service: there(found), owner: { is: "left" } }));
    expect(reported(made)).toBe("False PLSUpdating");
    expect(made.steps).toMatchObject([
      {
        do: "adopt link service",
        etag: 'W/"1"',
        event: true,
        body: {
          tags: { team: "blue", postern_owner: `${clusterID}/uid-1` },
          properties: { enableProxyProtocol: true },
        },
      },
    ]);
    const still = plan(up({ subject: subject(), service: there(found) }));
    expect(reported(still)).toBe("False OwnedByAnother");
  });

  test("of HyperShift is taken over where the status names it, and only there", () => {
    const { postern_owner: _ours, ...tags } = service().tags ?? {};
    const found = there(service({}, { tags }));
    const [step] = plan(up({ service: found })).steps;
    expect(step).toMatchObject({
      do: "update link service",
      body: { tags: { postern_owner: `${clusterID}/uid-1` } },
    });
    const unnamed = plan(up({ subject: subject(), service: found }));
    expect(reported(unnamed)).toBe("False OwnedByAnother");
    expect(messageOf(unnamed)).toContain("another hosted cluster of HyperShift");
    const others = there(service({}, { tags: { "kubernetes.io_cluster_two": "owned" } }));
    expect(reported(plan(up({ service: others })))).toBe("False OwnedByAnother");
  });

  test("without its tags is still the object's, and gets them back", () => {
    const [step] = plan(up({ service: there(service({}, { tags: { x: "y" } })) })).steps;
    expect(step).toMatchObject({
      do: "update link service",
      body: { tags: { x: "y", postern_owner: `${clusterID}/uid-1` } },
    });
  });

  test("is not called created while the address of its load balancer is not found", () => {
    const made = plan(up({ frontend: { is: "missing" } }));
    expect(made.steps).toEqual([]);
    expect(reported(made)).toBe("False ILBNotFound");
    expect(made.status?.privateLinkServiceAlias).toBe(alias);
  });

  test("remains available while load balancers cannot be listed, and the other condition says so", () => {
    const before = present("True", reasons.success);
    const fields = {
      internalLoadBalancerID: balancerId,
      privateLinkServiceID: serviceId,
      privateLinkServiceAlias: alias,
    };
    const observed = up({
      subject: subject({ conditions: [before], fields }),
      frontend: { is: "failed", failure },
    });
    const made = plan(observed);
    expect(made.conditions).toContainEqual(before);
    expect(reported(made, conditions.loadBalancer)).toBe("False ILBLookupFailed");
    expect(made.status).toEqual(fields);
  });

  test("without an alias is not called created", () => {
    const { alias: _none, ...rest } = service().properties;
    const made = plan(
      up({ subject: subject(), service: there({ ...service(), properties: rest }) }),
    );
    expect(reported(made)).toBe("False AzureError");
    expect(made.requeue).toBe("soon");
  });

  test("in an owned subnet that is not noted gets the note back", () => {
    const made = plan(up({ subject: subject({ recordedSubnet: undefined }) }));
    expect(doing(made)).toEqual(["record NAT subnet"]);
    expect(reported(made)).toBe("True AzureSuccess");
  });

  test("with a failed change keeps its alias, and is reported with HyperShift's reason", () => {
    const made = plan(up({ service: { state: "failed", failure } }));
    expect(reported(made)).toBe("False PLSUpdateFailed");
    expect(made.status?.privateLinkServiceAlias).toBe(alias);
  });
});

test("no plan has two steps that write the same resource, and no message has a time or a request id", () => {
  const plans = [
    up(),
    fresh(),
    up({ service: absent }),
    fresh({ frontend: { is: "missing" } }),
  ].map(plan);
  for (const { steps, conditions: all } of plans) {
    const ids = steps.flatMap((step) => ("id" in step ? [step.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
    for (const { message } of all) expect(message).not.toMatch(/\d{4}-\d\d-\d\dT|request/);
  }
});
