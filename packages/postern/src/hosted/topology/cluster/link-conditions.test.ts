import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { describe, expect, test } from "vitest";
import {
  clusterOf,
  linkOf,
  observedOf,
  TopologyWorld,
} from "../../../../../../test/hosted/topology-world.ts";
import { statusChange } from "../../../kube/status.ts";
import { clusterAnnotation, conditions } from "../../names.ts";
import { plan } from "../plan.ts";

const fine = Object.fromEntries(
  Object.keys(conditions).map((key) => [key, ["True", "AzureSuccess"]]),
) as unknown as Parameters<typeof linkOf>[1];

/** The five conditions of a cluster that HyperShift looks after, as `status reason: message`. */
function collectedOn(
  links: ReturnType<typeof linkOf>[],
  shape: Parameters<typeof clusterOf>[0] = {},
) {
  const { conditions: planned } = plan(observedOf(clusterOf(shape), { hyperShift: true, links }));
  return Object.fromEntries(
    planned.map(({ type, status, reason, message }) => [type, `${status} ${reason}: ${message}`]),
  );
}

describe("the conditions of a cluster's links on the cluster", () => {
  test("are True only when every link says so", () => {
    const found = collectedOn([linkOf("private-router", fine)]);
    expect(Object.keys(found).sort()).toEqual(Object.values(conditions).sort());
    expect(found.AzurePrivateLinkServiceAvailable).toBe("True AzureSuccess: available is True");
  });

  test("keep the reason and the message of the one that says False", () => {
    const found = collectedOn([
      linkOf("private-router", { ...fine, dns: ["False", "ARecordCreationFailed"] }),
    ]);
    expect(found.AzurePrivateDNSAvailable).toBe("False ARecordCreationFailed: dns is False");
    expect(found.AzurePLSCreated).toMatch(/^True/);
  });

  test("name the link where there are two", () => {
    const found = collectedOn(
      [
        linkOf("oauth-openshift", { ...fine, link: ["False", "PLSCreationFailed"] }),
        linkOf("private-router", { ...fine, link: ["False", "NATSubnetCreationFailed"] }),
      ],
      { oauth: "LoadBalancer" },
    );
    expect(found.AzurePLSCreated).toBe(
      "False NATSubnetCreationFailed: private-router: link is False · oauth-openshift: link is False",
    );
  });

  test("that are Unknown on one link are Unknown, never good", () => {
    const unsure = linkOf("private-router", { ...fine, endpoint: ["Unknown", "Checking"] });
    expect(collectedOn([unsure]).AzurePrivateEndpointAvailable).toBe(
      "Unknown Checking: endpoint is Unknown",
    );
  });

  test("that one of two links does not have are Unknown, and not True too early", () => {
    const { available: _, ...rest } = fine;
    const links = [linkOf("private-router", fine), linkOf("oauth-openshift", rest)];
    const found = collectedOn(links, { oauth: "LoadBalancer" });
    expect(found.AzurePrivateLinkServiceAvailable).toBe(
      "Unknown StatusUnknown: oauth-openshift: nothing is known yet",
    );
  });

  test("are Unknown while a link that should be there is not", () => {
    const found = collectedOn([linkOf("private-router", fine)], { oauth: "LoadBalancer" });
    expect(found.AzurePrivateLinkServiceAvailable).toBe(
      "Unknown StatusUnknown: oauth-openshift: there is no private link yet",
    );
  });

  test("that were said of an earlier generation are not good any more", () => {
    const changed = linkOf("private-router", fine, { generation: 2 });
    expect(collectedOn([changed]).AzurePrivateLinkServiceAvailable).toMatch(
      /^Unknown StatusUnknown/,
    );
    const failing = linkOf("private-router", { available: ["False", "Broken"] }, { generation: 2 });
    expect(collectedOn([failing]).AzurePrivateLinkServiceAvailable).toMatch(/^False Broken/);
  });

  test("that HyperShift collects itself are left to it, or the two would write for ever", () => {
    const cluster = clusterOf();
    const found = {
      type: conditions.available,
      status: "True" as const,
      reason: "AzureSuccess",
      message: "All is well",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    cluster.status = { conditions: [found] };
    const links = [linkOf("private-router", { ...fine, available: ["False", "Broken"] })];
    const planned = (hyperShift: boolean) => {
      const observed = observedOf(cluster, { hyperShift, links });
      const own = { conditions: Object.values(conditions), fields: [] };
      const change = statusChange(
        cluster,
        own,
        { conditions: plan(observed).conditions, fields: {} },
        new Date(),
      );
      const list = (change?.conditions ?? []) as (typeof found)[];
      return list.find(({ type }) => type === conditions.available);
    };
    expect(planned(true)).toEqual({ ...found, observedGeneration: undefined });
    expect(planned(false)).toMatchObject({ status: "False", observedGeneration: 1 });
    // With no link HyperShift writes nothing: what it left is stale, and goes.
    expect(plan(observedOf(cluster, { hyperShift: true })).conditions).toEqual([]);
  });

  test("go when there is no link, and when the cluster is not private", () => {
    expect(collectedOn([])).toEqual({});
    expect(collectedOn([linkOf("private-router", fine)], { topology: "Public" })).toEqual({});
    const swift = { private: { type: "Swift", swift: { podNetworkInstance: "a" } } } as const;
    expect(collectedOn([linkOf("private-router", fine)], { azure: swift })).toEqual({});
  });

  test("never come from the links of another cluster in the same namespace", () => {
    const link = linkOf("private-router", fine, { annotations: { [clusterAnnotation]: "a/b" } });
    expect(collectedOn([link])).toEqual({});
  });

  test("without any link say why there is none, in the words of the control plane", () => {
    const world = new TopologyWorld(clusterOf());
    world.settle();
    const available = () =>
      plan({ ...world.see(), links: [] }).conditions.filter(
        ({ type }) => type === conditions.available,
      );
    expect(available()).toMatchObject([
      {
        status: "Unknown",
        reason: "StatusUnknown",
        message: expect.stringContaining("Service private-router has no address"),
      },
    ]);
    const plane = world.get<HostedControlPlane>("HostedControlPlane", "one");
    const reported = {
      type: conditions.available,
      status: "False" as const,
      reason: "ServiceHasNoIP",
      message: "why",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    if (plane) plane.status = { conditions: [reported] };
    expect(available()).toMatchObject([
      { status: "False", reason: "ServiceHasNoIP", message: "why" },
    ]);
  });
});
