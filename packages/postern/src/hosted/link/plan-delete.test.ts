import { describe, expect, test } from "vitest";
import {
  absent,
  connection,
  doing,
  down,
  messageOf,
  otherEndpoint,
  ownEndpoint,
  reported,
  service,
  serviceId,
  subject,
  subnetId,
  there,
} from "../../../../../test/hosted/link-observed.ts";
import { conditions } from "../names.ts";
import { plan } from "./plan.ts";
import { planDelete } from "./plan-delete.ts";

const connected = (...list: Parameters<typeof connection>[]) => [
  {
    id: serviceId,
    observation: there(
      service({ privateEndpointConnections: list.map((each) => connection(...each)) }),
    ),
    isOwn: true,
  },
];

describe("a link that is being deleted", () => {
  test("without connections loses its service, with the etag that was observed", () => {
    const made = plan(down());
    expect(made.steps).toMatchObject([{ do: "delete link service", etag: 'W/"1"' }]);
    expect(reported(made)).toBe("False PLSDeleting");
    expect(made.finalizer).toBeUndefined();
  });

  test("withdraws the alias and keeps the id, which says where it was", () => {
    expect(plan(down()).status).toEqual({ privateLinkServiceID: serviceId });
  });

  test.each([
    ["Approved", "reject connection"],
    ["Pending", "reject connection"],
    ["Rejected", "delete connection"],
    ["Disconnected", "delete connection"],
  ] as const)("with an endpoint that is %s: %s", (status, step) => {
    expect(doing(plan(down({ services: connected([otherEndpoint, status]) })))).toEqual([step]);
  });

  test("removes connections only when all have heard that they are rejected", () => {
    const services = connected([otherEndpoint, "Rejected"], [ownEndpoint, "Approved"]);
    expect(doing(plan(down({ services })))).toEqual(["reject connection"]);
  });

  test("gives the endpoint feature its time to delete its own endpoint, in any case of the id", () => {
    const services = connected([ownEndpoint.toUpperCase(), "Approved"]);
    const waiting = plan(down({ services, endpointGraceMs: 90_000 }));
    expect(waiting).toMatchObject({ steps: [], requeue: { afterMs: 90_000 } });
    expect(doing(plan(down({ services, endpointGraceMs: 0 })))).toEqual(["reject connection"]);
  });

  test("does not wait for the endpoint feature with endpoints of others", () => {
    const services = connected([ownEndpoint, "Approved"], [otherEndpoint, "Approved"]);
    const made = plan(down({ services, endpointGraceMs: 90_000 }));
    expect(made.steps).toMatchObject([{ why: expect.stringContaining("of-somebody") }]);
    expect(made.steps).toHaveLength(1);
  });

  test("waits for the owners of other endpoints where the policy is refuse, and names them", () => {
    const refusing = subject({ foreignEndpoints: "refuse" });
    const services = connected([otherEndpoint, "Approved"]);
    const made = plan(down({ subject: refusing, services }));
    expect(made).toMatchObject({ steps: [], requeue: { afterMs: 60_000 } });
    expect(reported(made)).toBe("False ForeignEndpointsConnected");
    expect(messageOf(made)).toContain(otherEndpoint);
    // Its own endpoint is no reason to refuse.
    const own = connected([ownEndpoint, "Approved"]);
    expect(doing(plan(down({ subject: refusing, services: own })))).toEqual(["reject connection"]);
  });

  test("waits for what is under way", () => {
    const observation = { state: "changing", retryAfterMs: 7_000 } as const;
    const made = plan(down({ services: [{ id: serviceId, observation, isOwn: true }] }));
    expect(made).toMatchObject({ steps: [], requeue: { afterMs: 7_000 } });
  });

  test("has a failed deletion in its condition, and is tried again when Azure said", () => {
    const failure = { reason: "X", message: "m", requeueAfterMs: 600_000 };
    const observation = { state: "failed", failure } as const;
    const made = plan(down({ services: [{ id: serviceId, observation, isOwn: true }] }));
    expect(reported(made)).toBe("False PLSDeletionFailed");
    expect(made.requeue).toEqual({ afterMs: 600_000 });
  });

  test("leaves the service of another alone, and is released", () => {
    const services = [{ id: serviceId, observation: there(service()), isOwn: false }];
    const made = plan(
      down({ services, natOfService: undefined, subject: subject({ recordedSubnet: undefined }) }),
    );
    expect(made).toMatchObject({ steps: [], finalizer: "remove" });
  });

  test("notes its subnet first where nobody has: without the service nothing would show it", () => {
    const made = plan(down({ subject: subject({ recordedSubnet: undefined }) }));
    expect(made.steps).toMatchObject([{ do: "record NAT subnet", subnet: subnetId }]);
  });
});

describe("when the link service does not exist", () => {
  const services = [{ id: serviceId, observation: absent, isOwn: true }];
  const left = { services, natOfService: undefined };

  test("the last link in a NAT subnet deletes the subnet: it is not orphaned", () => {
    const nat = { is: "to be removed", subnet: subnetId } as const;
    const made = planDelete(down(left), nat);
    expect(made.steps).toMatchObject([
      { do: "delete NAT subnet", id: subnetId, failsAs: "NATSubnetDeletionFailed" },
    ]);
    expect(made.finalizer).toBeUndefined();
  });

  test("the finalizer is not removed while the subnet is being deleted, or could not be", () => {
    const deleting = planDelete(down(left), { is: "changing", retryAfterMs: 9_000 });
    expect(deleting).toMatchObject({ steps: [], requeue: { afterMs: 9_000 } });
    expect(deleting.finalizer).toBeUndefined();
    const failure = { reason: "AuthorizationFailed", message: "m" };
    const made = planDelete(down(left), { is: "failed", failure });
    expect(reported(made)).toBe("False NATSubnetDeletionFailed");
    expect(made.finalizer).toBeUndefined();
  });

  test("and nothing else is left, the object is released", () => {
    expect(plan(down({ ...left, subject: subject({ recordedSubnet: undefined }) }))).toEqual({
      steps: [],
      conditions: [],
      finalizer: "remove",
      requeue: "never",
    });
  });

  test("the record of its subnet is removed before the finalizer", () => {
    const made = plan(down(left));
    expect(made.steps).toMatchObject([
      { do: "release NAT subnet", link: { name: "private-router" } },
    ]);
    expect(made.finalizer).toBeUndefined();
  });
});

test("a deletion says nothing new of the load balancer", () => {
  const balancer = {
    type: conditions.loadBalancer,
    status: "True" as const,
    reason: "AzureSuccess",
    message: "m",
    observedGeneration: 1,
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const observed = down({ subject: subject({ conditions: [balancer] }) });
  expect(plan(observed).conditions).toContainEqual(balancer);
});
