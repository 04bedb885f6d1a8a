import { claimsIn } from "@postern/core/claims.ts";
import { describe, expect, test } from "vitest";
import { AzureModel, nowAfter, observed, otherID } from "../../../../../test/hosted/azure-model.ts";
import {
  base,
  internal,
  reachable,
  settle,
  short,
  steps,
} from "../../../../../test/hosted/endpoint-worlds.ts";
import { annotations, conditions } from "../names.ts";
import { plan } from "./plan.ts";

describe("a deletion", () => {
  test("begins with everything that Azure takes at once, endpoint included", () => {
    const { azure, world } = reachable();
    expect(steps(azure, { ...world, deletion: "object" })).toEqual([
      "delete private endpoint private-router-pe",
      "unlink network private-router-vnet-link",
      "unlink network private-router-basedomain-vnet-link",
    ]);
  });

  test.each(["object", "control plane", "orphan"] as const)(
    "leaves nothing and then lets go (%s)",
    (deletion) => {
      const { azure, world } = reachable();
      const end = settle(azure, { ...world, deletion });
      expect([...azure.resources.keys()]).toEqual([]);
      expect(plan(azure.observed(end))).toMatchObject({ steps: [], finalizer: "remove" });
    },
  );

  test("removes the finalizer at once where nothing was ever created: a deletion before the alias does not hang", () => {
    const world = observed({
      deletion: "control plane",
      link: { ...observed().link, alias: undefined },
    });
    expect(plan(new AzureModel().observed(world))).toMatchObject({
      steps: [],
      finalizer: "remove",
    });
  });

  test("does not say available to the last (law 5)", () => {
    const { world } = reachable();
    const first = plan(new AzureModel().observed({ ...world, deletion: "control plane" }));
    expect(first.finalizer).toBeUndefined();
    expect(first.conditions[0]).toMatchObject({ status: "False", reason: "Deleting" });
    expect(
      plan(new AzureModel().observed({ ...nowAfter(world, first), deletion: "control plane" }))
        .finalizer,
    ).toBe("remove");
  });

  test("finds what is owned without status and without the cluster's id: nothing is orphaned", () => {
    const { azure } = reachable();
    const world = observed({
      deletion: "orphan",
      self: { ...observed().self, clusterID: undefined },
    });
    settle(azure, world);
    expect([...azure.resources.keys()]).toEqual([]);
  });

  test("leaves a zone to the clusters that still use it, and removes only its own records and claim", () => {
    const { azure, world } = reachable();
    const zone = azure.at(base);
    const foreign = { [`postern_user_${otherID}`]: "their-plane" };
    azure.set(base, { ...zone, tags: { ...zone?.tags, ...foreign }, properties: {} });
    azure.set(`${base}/A/api-two`, { properties: { metadata: { postern_owner: `${otherID}/x` } } });
    const linkId = `${base}/virtualNetworkLinks/private-router-basedomain-vnet-link`;
    const link = azure.at(linkId);
    azure.set(linkId, {
      ...link,
      tags: { ...link?.tags, ...foreign },
      properties: link?.properties ?? {},
    });
    settle(azure, { ...world, deletion: "object" });
    expect([...azure.resources.keys()].sort()).toEqual(
      [base, `${base}/A/api-two`, linkId].map((id) => id.toLowerCase()).sort(),
    );
    expect(claimsIn(azure.at(base)?.tags)).toEqual([{ clusterID: otherID, uid: "their-plane" }]);
    expect(claimsIn(azure.at(linkId)?.tags)).toHaveLength(1);
  });

  test("deletes a link that lost its claims and has the name of another link object's", () => {
    const { azure, world } = reachable();
    const links = `${base}/virtualNetworkLinks`;
    const link = azure.at(`${links}/private-router-basedomain-vnet-link`);
    azure.resources.delete(`${links}/private-router-basedomain-vnet-link`.toLowerCase());
    // Made for the OAuth server of a cluster that shared the zone and was deleted; somebody has replaced its tags.
    azure.set(`${links}/oauth-openshift-basedomain-vnet-link`, {
      properties: link?.properties,
      tags: { team: "a" },
    });
    settle(azure, { ...world, deletion: "object" });
    expect([...azure.resources.keys()]).toEqual([]);
  });

  test("leaves a zone to a cluster that has only just claimed it", () => {
    const { azure, world } = reachable();
    const tags = { ...azure.at(base)?.tags, [`postern_user_${otherID}`]: "their-plane" };
    azure.set(base, { ...azure.at(base), tags, properties: {} });
    settle(azure, { ...world, deletion: "object" });
    expect([...azure.resources.keys()]).toEqual([base.toLowerCase()]);
    expect(claimsIn(azure.at(base)?.tags)).toEqual([{ clusterID: otherID, uid: "their-plane" }]);
  });

  test("waits with a zone until its link is deleted", () => {
    const { azure, world } = reachable();
    const now = azure.observed({ ...world, deletion: "object" });
    const zones = now.zones.map((zone) => ({
      ...zone,
      links: zone.links.map(({ id }) => ({
        id,
        observation: { state: "changing" as const, retryAfterMs: 9_000 },
      })),
    }));
    const planned = plan({ ...now, endpoints: [], zones });
    expect(planned).toMatchObject({ steps: [], requeue: { afterMs: 9_000 } });
    expect(planned.finalizer).toBeUndefined();
  });

  test("leaves a zone into which somebody has put something", () => {
    const { azure, world } = reachable();
    azure.set(`${base}/A/theirs`, { properties: {} });
    settle(azure, { ...world, deletion: "object" });
    expect([...azure.resources.keys()].sort()).toEqual(
      [base, `${base}/A/theirs`].map((id) => id.toLowerCase()),
    );
    expect(claimsIn(azure.at(base)?.tags)).toEqual([]);
  });

  test("does not remove the finalizer while the zones cannot be read", () => {
    const { azure, world } = reachable();
    const failure = { reason: "AuthorizationFailed", message: "no right", requeueAfterMs: 600_000 };
    const now = azure.observed({ ...world, deletion: "object" });
    const planned = plan({ ...now, endpoints: [], zones: [], zonesFailed: failure });
    expect(planned.finalizer).toBeUndefined();
    expect(planned.conditions[0]).toMatchObject({ status: "False", reason: "CleanupFailed" });
    expect(planned.conditions[0]?.message).toContain("no right");
    expect(planned.requeue).toEqual({ afterMs: 600_000 });
  });

  test("does not let a failure of names postpone the endpoint (§6.7)", () => {
    const { azure, world } = reachable();
    const now = azure.observed({ ...world, deletion: "object" });
    const failure = {
      reason: "ScopeLocked",
      message: "a lock forbids it",
      requeueAfterMs: 120_000,
    };
    const zones = now.zones.map((zone) => ({
      ...zone,
      observation: { state: "failed" as const, failure },
    }));
    const planned = plan({ ...now, zones });
    expect(planned.steps.map((step) => step.do)).toEqual(["delete private endpoint"]);
    expect(planned.conditions[0]).toMatchObject({ reason: "CleanupFailed" });
    expect(planned.finalizer).toBeUndefined();
  });

  test("continues while the cluster is paused", () => {
    const { azure, world } = reachable({});
    settle(azure, { ...world, deletion: "object", pause: { paused: true } });
    expect([...azure.resources.keys()]).toEqual([]);
  });

  test("names the annotation that abandons the resources when no credential works, and never orphans them by itself", () => {
    const noCredential = { reason: "IdentityMissing", message: "no identity" };
    const world = observed({ deletion: "orphan", noCredential });
    const planned = plan(world);
    expect(planned.finalizer).toBeUndefined();
    expect(planned.conditions[0]).toMatchObject({ status: "False", reason: "CleanupFailed" });
    expect(planned.conditions[0]?.message).toContain(`${annotations.abandon}: "true"`);
    const reported = plan({ ...world, abandoned: true });
    expect(reported.events).toMatchObject([{ type: "Warning", reason: "GuestResourcesAbandoned" }]);
    expect(reported.finalizer).toBeUndefined();
    expect(plan({ ...nowAfter(world, reported), abandoned: true }).finalizer).toBe("remove");
  });

  test("lists by id what remains in Azure, and waits until the HostedCluster lists what is abandoned", () => {
    const { world } = reachable();
    const noCredential = { reason: "IdentityMissing", message: "no identity" };
    const now = { ...world, endpoints: [], zones: [], deletion: "object" as const, noCredential };
    const [available] = plan(now).conditions;
    for (const id of [short, internal, base]) expect(available?.message).toContain(id);
    const abandoned = { ...now, abandoned: true, isOnCluster: false };
    const first = plan(abandoned);
    expect(first.events?.[0]?.note).toContain(`abandoned in Azure: ${short}, ${internal}, ${base}`);
    const waiting = plan(nowAfter(abandoned, first));
    expect(waiting.steps).toEqual([]);
    expect(nowAfter(abandoned, waiting).conditions).toEqual(nowAfter(abandoned, first).conditions);
    expect(waiting.finalizer).toBeUndefined();
    expect(plan({ ...nowAfter(abandoned, first), isOnCluster: true }).finalizer).toBe("remove");
  });

  test("reports a failure that should pass and does not", () => {
    const failure = { reason: "AzureBusy", message: "no answer", passing: true };
    const world = observed({ deletion: "object", endpointsFailed: failure, zonesFailed: failure });
    expect(plan(world).conditions[0]).toMatchObject({ reason: "Deleting" });
    expect(plan({ ...world, deletingMs: 15 * 60_000 }).conditions[0]).toMatchObject({
      reason: "CleanupFailed",
      message: expect.stringContaining("no answer"),
    });
  });

  test("what cannot be deleted though it can be read can be left behind too", () => {
    const { azure, world } = reachable();
    const failed = { type: conditions.dns, status: "False", reason: "CleanupFailed" } as const;
    const now = {
      ...world,
      deletion: "object" as const,
      conditions: [{ ...failed, message: "a lock forbids it", lastTransitionTime: "x" }],
    };
    const planned = plan(azure.observed(now));
    expect(planned.steps.length).toBeGreaterThan(0);
    expect(planned.conditions[0]?.message).toMatch(/a lock forbids it.*abandon/);
    const left = plan(azure.observed({ ...now, abandoned: true }));
    expect(left.steps).toEqual([]);
    expect(left.conditions[0]).toMatchObject({ reason: "GuestResourcesAbandoned" });
    const end = plan(azure.observed({ ...nowAfter(now, left), abandoned: true }));
    expect(end).toMatchObject({ steps: [], finalizer: "remove" });
  });

  test("takes the Services for external-dns away, and leaves those of others", () => {
    const label = { "hypershift.openshift.io/azure-pls-external-private-svc": "true" };
    const services = [
      { metadata: { name: "oauth-private-external", labels: label } },
      { metadata: { name: "kube-apiserver-private-external" } },
    ];
    const planned = plan(new AzureModel().observed(observed({ deletion: "object", services })));
    expect(planned.steps).toMatchObject([{ do: "delete Service", found: services[0] }]);
  });

  test("abandons nothing while the credential works", () => {
    const { azure, world } = reachable();
    settle(azure, { ...world, deletion: "orphan", abandoned: true });
    expect([...azure.resources.keys()]).toEqual([]);
  });
});

describe("a deletion without a known owner", () => {
  const orphaned = () => {
    const { azure, world } = reachable();
    const self = { ...world.self, controlPlaneUid: undefined };
    return { azure, world: { ...world, self, cluster: undefined, deletion: "object" } as const };
  };

  test("keeps the finalizer, and says so, while a zone may be the cluster's", () => {
    const { azure, world } = orphaned();
    const end = settle(azure, world);
    const planned = plan(azure.observed(end));
    expect(planned.finalizer).toBeUndefined();
    expect(planned.conditions[0]).toMatchObject({ status: "False", reason: "CleanupFailed" });
    expect(planned.conditions[0]?.message).toMatch(/the zone .* restore its ownerReferences/);
    expect(azure.at(base)).toBeDefined();
  });

  test("ends when its owner is known again, or when somebody gives the rest up", () => {
    const { azure, world } = orphaned();
    const reported = settle(azure, world);
    const given = nowAfter(
      { ...reported, abandoned: true },
      plan(azure.observed({ ...reported, abandoned: true })),
    );
    expect(plan(azure.observed(given))).toMatchObject({ steps: [], finalizer: "remove" });
    settle(azure, {
      ...reported,
      self: reachable().world.self,
      cluster: reachable().world.cluster,
    });
    expect([...azure.resources.keys()]).toEqual([]);
  });
});

test("a deletion names what Azure has not ended yet", () => {
  const { azure, world } = reachable();
  const observed = azure.observed({ ...world, deletion: "object" });
  const observation = { state: "changing", retryAfterMs: 10_000 } as const;
  const endpoints = observed.endpoints.slice(0, 1).map((each) => ({ ...each, observation }));
  const zones = observed.zones.map((zone) => ({
    ...zone,
    links: zone.links.map((link) => ({ ...link, observation })),
  }));
  const { conditions: reported, steps: begun } = plan({ ...observed, endpoints, zones });
  expect(begun).toEqual([]);
  expect(reported[0]).toMatchObject({ status: "False", reason: "Deleting" });
  expect(reported[0]?.message).toMatch(
    /waiting for Azure to finish its operation on .*private endpoint private-router-pe, zone link private-router-vnet-link/,
  );
});
