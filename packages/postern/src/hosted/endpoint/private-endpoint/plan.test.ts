import { parseResourceId } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import {
  AzureModel,
  clusterID,
  clusterNetwork,
  nowAfter,
  observed,
  otherID,
} from "../../../../../../test/hosted/azure-model.ts";
import {
  changeEndpoint,
  connection,
  internal,
  message,
  reachable,
  reported,
  settle,
  short,
  steps,
} from "../../../../../../test/hosted/endpoint-worlds.ts";
import type { PrivateEndpoint } from "../../../azure/gateways/private-endpoints.ts";
import { conditions } from "../../names.ts";
import type { Observed } from "../observed.ts";
import { plan } from "../plan.ts";

describe("approval", () => {
  const pending = (sinceMs: number, over: Partial<Observed> = {}) => {
    const azure = new AzureModel();
    azure.state = "Pending";
    const world = settle(azure, observed(over));
    return plan(azure.observed({ ...world, endpointSinceMs: sinceMs }));
  };

  test("is waited for, ever longer up to five minutes", () => {
    const waits = [0, 30_000, 60_000, 120_000, 290_000, 600_000].map(
      (since) => pending(since).requeue,
    );
    expect(waits).toEqual(
      [30_000, 30_000, 60_000, 120_000, 290_000, 300_000].map((afterMs) => ({ afterMs })),
    );
  });

  test("is reported by one event at first and by a warning with the remedy after 15 minutes", () => {
    const azure = new AzureModel();
    azure.state = "Pending";
    let world = observed();
    const events: string[] = [];
    for (const endpointSinceMs of [0, 0, 0, 0, 60_000, 600_000, 900_000, 1_200_000]) {
      const planned = plan(azure.observed({ ...world, endpointSinceMs }));
      for (const step of planned.steps) azure.apply(step);
      for (const { reason, type } of planned.events ?? []) events.push(`${type} ${reason}`);
      world = nowAfter(world, planned);
    }
    expect(events).toEqual([
      "Normal PrivateEndpointConnectionNotApproved",
      "Warning PrivateEndpointApprovalOverdue",
    ]);
    expect(reported(world, conditions.endpoint)).toBe("False PrivateEndpointApprovalOverdue");
    expect(message(world, conditions.endpoint)).toMatch(/Approve it: az network/);
  });

  test("that was rejected is reported, with whom to agree and what to delete", () => {
    const { azure, world } = reachable();
    connection(azure, "Rejected");
    const now = settle(azure, world);
    expect(reported(now, conditions.endpoint)).toBe("False PrivateEndpointConnectionRejected");
    expect(message(now)).toMatch(
      /^Connection rejected by the owner of .*\. Ask them to accept it, then delete private endpoint \/subscriptions\//,
    );
  });

  test("counts as Approved in whatever case Azure writes it", () => {
    const azure = new AzureModel();
    azure.state = "APPROVED";
    expect(reported(settle(azure, observed()))).toBe("True AzureSuccess");
  });

  test.each(["", "Strange"])("in an unknown state (%j) is none", (state) => {
    const azure = new AzureModel();
    azure.state = state;
    expect(reported(settle(azure, observed()))).toBe("False PrivateEndpointConnectionNotApproved");
  });

  test("without an address does not make the endpoint available", () => {
    const azure = new AzureModel();
    azure.addresses = [];
    const now = settle(azure, observed());
    expect(reported(now)).toBe("False PrivateEndpointAddressPending");
    expect(azure.at(`${internal}/A/api`)).toBeUndefined();
  });
});

describe("an endpoint that is there", () => {
  test.each([
    [
      "points to another alias",
      {
        manualPrivateLinkServiceConnections: [
          {
            name: "x",
            properties: { privateLinkServiceId: "old.0.westeurope.azure.privatelinkservice" },
          },
        ],
      },
    ],
    ["is in another subnet", { subnet: { id: `${clusterNetwork}/subnets/other` } }],
  ])("and %s is recreated, and not awaited for ever", (_what, change) => {
    const { azure, world } = reachable();
    changeEndpoint(azure, change);
    expect(steps(azure, world)).toContain("delete private endpoint private-router-pe");
    expect(reported(settle(azure, world))).toBe("True AzureSuccess");
    expect(azure.at<PrivateEndpoint>(short)?.properties.subnet?.id).toBe(
      `${clusterNetwork}/subnets/workers`,
    );
  });

  test.each(["Disconnected", "removed"])("and is %s is recreated, and not awaited", (state) => {
    const { azure, world } = reachable();
    connection(azure, state);
    const planned = plan(azure.observed(world));
    expect(planned.steps.map((step) => step.do)).toEqual(["delete private endpoint"]);
    expect(planned.conditions[1]?.reason).toBe("PrivateEndpointReplacing");
    expect(reported(settle(azure, world))).toBe("True AzureSuccess");
  });

  test("is left alone while there is no alias, unless it is disconnected for good", () => {
    const { azure, world } = reachable();
    const noAlias = { ...world, link: { ...world.link, alias: undefined } };
    connection(azure, "Rejected");
    expect(steps(azure, noAlias)).toEqual([]);
    connection(azure, "Disconnected");
    expect(plan(azure.observed(noAlias)).steps.map((step) => step.do)).toEqual([
      "delete private endpoint",
    ]);
  });

  test("gets missing tags back, and keeps those of others", () => {
    const { azure, world } = reachable();
    const found = azure.at<PrivateEndpoint>(short);
    const { postern_owner = "" } = found?.tags ?? {};
    azure.set(short, {
      ...found,
      tags: { postern_owner, cost: "42" },
      properties: found?.properties ?? {},
    });
    settle(azure, world);
    expect(azure.at(short)?.tags).toMatchObject({
      cost: "42",
      "kubernetes.io_cluster_one": "owned",
      "hypershift.openshift.io_resource-type": "private-endpoint",
    });
  });

  test("and belongs to another cluster of the same resource group is not adopted: the longer name is used", () => {
    const azure = new AzureModel();
    const foreign = { tags: { postern_owner: `${otherID}/x` }, properties: {} };
    azure.set(short, foreign);
    const world = settle(azure, observed());
    expect(azure.at(short)).toMatchObject(foreign);
    expect(world.status.privateEndpointID).toBe(`${short}-${clusterID}`);
    expect(reported(world)).toBe("True AzureSuccess");
  });

  test("under both names for others is reported, and the others are not named", () => {
    const azure = new AzureModel();
    azure.set(short, { tags: { postern_owner: `${otherID}/x` }, properties: {} });
    azure.set(`${short}-${clusterID}`, { properties: {} });
    const world = settle(azure, observed());
    expect(reported(world, conditions.endpoint)).toBe("False OwnedByAnother");
    expect(message(world, conditions.endpoint)).toContain("another cluster");
    expect(message(world, conditions.endpoint)).not.toContain(otherID);
  });

  test("by HyperShift, and published, is taken over", () => {
    const azure = new AzureModel();
    const { world: like, azure: old } = reachable();
    const found = old.at<PrivateEndpoint>(short);
    azure.set(short, {
      ...found,
      tags: { "hypershift.openshift.io_resource-type": "private-endpoint" },
      properties: found?.properties ?? {},
    });
    const world = settle(
      azure,
      observed({ status: { privateEndpointID: like.status.privateEndpointID ?? "" } }),
    );
    expect(azure.at(short)?.tags?.postern_owner).toBe(`${clusterID}/link-uid`);
    expect(reported(world)).toBe("True AzureSuccess");
  });

  test("with a name that is longer than Azure allows for endpoints is reported, and not sent", () => {
    const name = "a".repeat(62);
    const world = observed({ object: { ...observed().object, name } });
    expect(plan(new AzureModel().observed(world)).conditions[1]?.reason).toBe("NameTooLong");
  });

  test("remains as reported while its creation is tried again after a failure", () => {
    const failure = { reason: "X", message: "no room in the subnet", requeueAfterMs: 120_000 };
    const id = parseResourceId(short);
    const failed = plan(
      observed({ endpoints: [{ id, observation: { state: "failed", failure } }] }),
    );
    expect(failed.requeue).toEqual({ afterMs: 120_000 });
    const requeue = plan(new AzureModel().observed(nowAfter(observed(), failed)));
    expect(requeue.steps.map((step) => step.do)).toContain("create private endpoint");
    expect(requeue.conditions[1]).toMatchObject({
      reason: "PrivateEndpointCreationFailed",
      message: "No room in the subnet.",
    });
  });

  test("that cannot be read is a condition with HyperShift's reason, and the DNS records are written all the same", () => {
    const endpointsFailed = {
      reason: "AuthorizationFailed",
      message: "no right",
      requeueAfterMs: 600_000,
    };
    const planned = plan({ ...new AzureModel().observed(observed()), endpointsFailed });
    expect(planned.conditions[1]).toMatchObject({
      reason: "PrivateEndpointGetFailed",
      message: "no right",
    });
    expect(planned.steps.map((step) => step.do)).toEqual(["create DNS zone", "create DNS zone"]);
    expect(planned.requeue).toEqual({ afterMs: 600_000 });
  });
});

test("an endpoint that an object of the cluster left is adopted as it is, and reported", () => {
  const { azure, world } = reachable();
  const made = { ...world, self: { ...world.self, uid: "made-anew" }, status: {}, conditions: [] };
  const observed = azure.observed(made);
  expect(plan(observed).steps.filter(({ on }) => on === "endpoint")).toMatchObject([
    { do: "create private endpoint", id: expect.stringContaining("private-router-pe-") },
  ]);
  const endpoints = observed.endpoints.map((each) =>
    each.observation.state === "exists" ? { ...each, left: true } : each,
  );
  const planned = plan({ ...observed, endpoints });
  expect(planned.steps.filter(({ on }) => on === "endpoint")).toMatchObject([
    {
      do: "adopt private endpoint",
      name: "private-router-pe",
      id: short,
      event: true,
      body: { tags: { postern_owner: expect.stringMatching(/\/made-anew$/) } },
    },
  ]);
  expect(planned.status).toMatchObject({ privateEndpointID: short });
});

test.each(["Failed", "Canceled"])(
  "an endpoint that is %s is written again",
  (provisioningState) => {
    const { azure, world } = reachable();
    changeEndpoint(azure, { provisioningState });
    const before = azure.at<PrivateEndpoint>(short);
    const planned = plan(azure.observed(world));
    expect(planned.steps).toMatchObject([{ do: "update private endpoint", etag: before?.etag }]);
    const reason = "PrivateEndpointCreationFailed";
    expect(planned.conditions).toContainEqual(
      expect.objectContaining({ type: conditions.endpoint, status: "False", reason }),
    );
    expect(reported(settle(azure, world))).toBe("True AzureSuccess");
    expect(azure.at<PrivateEndpoint>(short)?.tags).toEqual(before?.tags);
  },
);
