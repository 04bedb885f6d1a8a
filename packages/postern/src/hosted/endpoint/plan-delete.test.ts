import { claimsIn } from "@postern/core/claims.ts";
import { describe, expect, test } from "vitest";
import { nowAfter, observed, otherID, PaperGuest } from "../../../../../test/hosted/paper-guest.ts";
import {
  base,
  internal,
  reachable,
  settle,
  short,
  steps,
} from "../../../../../test/hosted/paper-links.ts";
import { annotations, conditions } from "../names.ts";
import { plan } from "./plan.ts";

describe("going", () => {
  test("begins with everything that Azure takes at once, endpoint included", () => {
    const { guest, world } = reachable();
    expect(steps(guest, { ...world, deletion: "object" })).toEqual([
      "remove endpoint private-router-pe",
      "remove link private-router-vnet-link",
      "remove link private-router-basedomain-vnet-link",
    ]);
  });

  test.each(["object", "control plane", "orphan"] as const)(
    "leaves nothing and then lets go (%s)",
    (deletion) => {
      const { guest, world } = reachable();
      const end = settle(guest, { ...world, deletion });
      expect([...guest.resources.keys()]).toEqual([]);
      expect(plan(guest.observed(end))).toMatchObject({ steps: [], finalizer: "remove" });
    },
  );

  test("removes the finalizer at once where nothing was ever created: a deletion before the alias does not hang", () => {
    const world = observed({
      deletion: "control plane",
      link: { ...observed().link, alias: undefined },
    });
    expect(plan(new PaperGuest().observed(world))).toMatchObject({
      steps: [],
      finalizer: "remove",
    });
  });

  test("does not say available to the last (law 5)", () => {
    const { world } = reachable();
    const first = plan(new PaperGuest().observed({ ...world, deletion: "control plane" }));
    expect(first.finalizer).toBeUndefined();
    expect(first.conditions[0]).toMatchObject({ status: "False", reason: "Deleting" });
    expect(
      plan(new PaperGuest().observed({ ...nowAfter(world, first), deletion: "control plane" }))
        .finalizer,
    ).toBe("remove");
  });

  test("finds what is ours without status and without the cluster's id: nothing is orphaned", () => {
    const { guest } = reachable();
    const world = observed({
      deletion: "orphan",
      self: { ...observed().self, clusterID: undefined },
    });
    settle(guest, world);
    expect([...guest.resources.keys()]).toEqual([]);
  });

  test("leaves a zone to the clusters that still use it, and removes only its own records and claim", () => {
    const { guest, world } = reachable();
    const zone = guest.at(base);
    const theirs = { [`postern_user_${otherID}`]: "their-plane" };
    guest.set(base, { ...zone, tags: { ...zone?.tags, ...theirs }, properties: {} });
    guest.set(`${base}/A/api-two`, { properties: { metadata: { postern_owner: `${otherID}/x` } } });
    const linkId = `${base}/virtualNetworkLinks/private-router-basedomain-vnet-link`;
    const link = guest.at(linkId);
    guest.set(linkId, {
      ...link,
      tags: { ...link?.tags, ...theirs },
      properties: link?.properties ?? {},
    });
    settle(guest, { ...world, deletion: "object" });
    expect([...guest.resources.keys()].sort()).toEqual(
      [base, `${base}/A/api-two`, linkId].map((id) => id.toLowerCase()).sort(),
    );
    expect(claimsIn(guest.at(base)?.tags)).toEqual([{ clusterID: otherID, uid: "their-plane" }]);
    expect(claimsIn(guest.at(linkId)?.tags)).toHaveLength(1);
  });

  test("takes a link away that lost its claims and has the name of another link object's", () => {
    const { guest, world } = reachable();
    const links = `${base}/virtualNetworkLinks`;
    const link = guest.at(`${links}/private-router-basedomain-vnet-link`);
    guest.resources.delete(`${links}/private-router-basedomain-vnet-link`.toLowerCase());
    // Made for the OAuth server of a cluster that shared the zone and has gone; somebody has replaced its tags.
    guest.set(`${links}/oauth-openshift-basedomain-vnet-link`, {
      properties: link?.properties,
      tags: { team: "a" },
    });
    settle(guest, { ...world, deletion: "object" });
    expect([...guest.resources.keys()]).toEqual([]);
  });

  test("leaves a zone to a cluster that has only just claimed it", () => {
    const { guest, world } = reachable();
    const tags = { ...guest.at(base)?.tags, [`postern_user_${otherID}`]: "their-plane" };
    guest.set(base, { ...guest.at(base), tags, properties: {} });
    settle(guest, { ...world, deletion: "object" });
    expect([...guest.resources.keys()]).toEqual([base.toLowerCase()]);
    expect(claimsIn(guest.at(base)?.tags)).toEqual([{ clusterID: otherID, uid: "their-plane" }]);
  });

  test("waits with a zone until its link is gone", () => {
    const { guest, world } = reachable();
    const now = guest.observed({ ...world, deletion: "object" });
    const zones = now.zones.map((zone) => ({
      ...zone,
      links: zone.links.map(({ id }) => ({
        id,
        look: { state: "changing" as const, retryAfterMs: 9_000 },
      })),
    }));
    const planned = plan({ ...now, endpoints: [], zones });
    expect(planned).toMatchObject({ steps: [], requeue: { afterMs: 9_000 } });
    expect(planned.finalizer).toBeUndefined();
  });

  test("leaves a zone into which somebody has put something", () => {
    const { guest, world } = reachable();
    guest.set(`${base}/A/theirs`, { properties: {} });
    settle(guest, { ...world, deletion: "object" });
    expect([...guest.resources.keys()].sort()).toEqual(
      [base, `${base}/A/theirs`].map((id) => id.toLowerCase()),
    );
    expect(claimsIn(guest.at(base)?.tags)).toEqual([]);
  });

  test("does not let go while the zones cannot be looked at", () => {
    const { guest, world } = reachable();
    const failure = { reason: "AuthorizationFailed", message: "no right", requeueAfterMs: 600_000 };
    const now = guest.observed({ ...world, deletion: "object" });
    const planned = plan({ ...now, endpoints: [], zones: [], zonesFailed: failure });
    expect(planned.finalizer).toBeUndefined();
    expect(planned.conditions[0]).toMatchObject({ status: "False", reason: "CleanupFailed" });
    expect(planned.conditions[0]?.message).toContain("no right");
    expect(planned.requeue).toEqual({ afterMs: 600_000 });
  });

  test("does not let a failure of names postpone the endpoint (§6.7)", () => {
    const { guest, world } = reachable();
    const now = guest.observed({ ...world, deletion: "object" });
    const failure = {
      reason: "ScopeLocked",
      message: "a lock forbids it",
      requeueAfterMs: 120_000,
    };
    const zones = now.zones.map((zone) => ({
      ...zone,
      look: { state: "failed" as const, failure },
    }));
    const planned = plan({ ...now, zones });
    expect(planned.steps.map((step) => step.do)).toEqual(["remove endpoint"]);
    expect(planned.conditions[0]).toMatchObject({ reason: "CleanupFailed" });
    expect(planned.finalizer).toBeUndefined();
  });

  test("goes on while the cluster is paused", () => {
    const { guest, world } = reachable({});
    settle(guest, { ...world, deletion: "object", pause: { paused: true } });
    expect([...guest.resources.keys()]).toEqual([]);
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
    expect(waiting).toMatchObject({ steps: [], conditions: first.conditions });
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
    const { guest, world } = reachable();
    const failed = { type: conditions.dns, status: "False", reason: "CleanupFailed" } as const;
    const now = {
      ...world,
      deletion: "object" as const,
      conditions: [{ ...failed, message: "a lock forbids it", lastTransitionTime: "x" }],
    };
    const planned = plan(guest.observed(now));
    expect(planned.steps.length).toBeGreaterThan(0);
    expect(planned.conditions[0]?.message).toMatch(/a lock forbids it.*abandon/);
    const left = plan(guest.observed({ ...now, abandoned: true }));
    expect(left.steps).toEqual([]);
    expect(left.conditions[0]).toMatchObject({ reason: "GuestResourcesAbandoned" });
    const end = plan(guest.observed({ ...nowAfter(now, left), abandoned: true }));
    expect(end).toMatchObject({ steps: [], finalizer: "remove" });
  });

  test("takes the Services for external-dns away, and leaves those of others", () => {
    const label = { "hypershift.openshift.io/azure-pls-external-private-svc": "true" };
    const services = [
      { metadata: { name: "oauth-private-external", labels: label } },
      { metadata: { name: "kube-apiserver-private-external" } },
    ];
    const planned = plan(new PaperGuest().observed(observed({ deletion: "object", services })));
    expect(planned.steps).toMatchObject([{ do: "remove service", found: services[0] }]);
  });

  test("abandons nothing while the credential works", () => {
    const { guest, world } = reachable();
    settle(guest, { ...world, deletion: "orphan", abandoned: true });
    expect([...guest.resources.keys()]).toEqual([]);
  });
});

describe("going without a known owner", () => {
  const orphaned = () => {
    const { guest, world } = reachable();
    const self = { ...world.self, controlPlaneUid: undefined };
    return { guest, world: { ...world, self, cluster: undefined, deletion: "object" } as const };
  };

  test("is held, and says so, while a zone may be the cluster's", () => {
    const { guest, world } = orphaned();
    const end = settle(guest, world);
    const planned = plan(guest.observed(end));
    expect(planned.finalizer).toBeUndefined();
    expect(planned.conditions[0]).toMatchObject({ status: "False", reason: "CleanupFailed" });
    expect(planned.conditions[0]?.message).toMatch(/the zone .* ownerReferences back/);
    expect(guest.at(base)).toBeDefined();
  });

  test("ends when its owner is known again, or when somebody gives the rest up", () => {
    const { guest, world } = orphaned();
    const reported = settle(guest, world);
    const given = nowAfter(
      { ...reported, abandoned: true },
      plan(guest.observed({ ...reported, abandoned: true })),
    );
    expect(plan(guest.observed(given))).toMatchObject({ steps: [], finalizer: "remove" });
    settle(guest, {
      ...reported,
      self: reachable().world.self,
      cluster: reachable().world.cluster,
    });
    expect([...guest.resources.keys()]).toEqual([]);
  });
});

test("going names what Azure has not ended yet", () => {
  const { guest, world } = reachable();
  const looked = guest.observed({ ...world, deletion: "object" });
  const look = { state: "changing", retryAfterMs: 10_000 } as const;
  const endpoints = looked.endpoints.slice(0, 1).map((each) => ({ ...each, look }));
  const zones = looked.zones.map((zone) => ({
    ...zone,
    links: zone.links.map((link) => ({ ...link, look })),
  }));
  const { conditions: reported, steps: begun } = plan({ ...looked, endpoints, zones });
  expect(begun).toEqual([]);
  expect(reported[0]).toMatchObject({ status: "False", reason: "Deleting" });
  expect(reported[0]?.message).toMatch(
    /waits for .*private endpoint private-router-pe, zone link private-router-vnet-link/,
  );
});
