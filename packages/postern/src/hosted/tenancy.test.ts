import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { describe, expect, test } from "vitest";
import { clusterAnnotation } from "./names.ts";
import { isMisplaced, type Registered, whyUnverified as whyNot } from "./tenancy.ts";

const whyUnverified = (controlPlane: HostedControlPlane, beside: HostedControlPlane[]) =>
  whyNot(controlPlane, { controlPlanes: { byIndex: () => beside } });

function plane(key: string, cluster?: string, creationTimestamp = "2026-01-01T00:00:00Z") {
  const [namespace = "", name = ""] = key.split("/");
  const annotations = cluster === undefined ? {} : { [clusterAnnotation]: cluster };
  const metadata = { namespace, name, uid: `uid of ${key}`, creationTimestamp, annotations };
  return { metadata, spec: { platform: { type: "Azure" } } } as HostedControlPlane;
}

describe("a control plane", () => {
  test.each([
    ["of its HostedCluster", plane("a-b/b", "a/b")],
    ["whose cluster has a dot in its name", plane("a-b-c/b.c", "a/b.c")],
  ])("%s is verified", (_what, controlPlane) => {
    expect(whyUnverified(controlPlane, [controlPlane])).toBeUndefined();
  });

  test.each([
    ["without an annotation", plane("a-b/b"), /annotation/],
    ["with an annotation that is no key", plane("a-b/b", "a/b/c"), /annotation/],
    ["in another namespace", plane("evil/b", "a/b"), /in namespace a-b/],
    ["of another name", plane("a-b/c", "a/b"), /is b in namespace a-b/],
    ["in a reserved namespace", plane("kube-system/system", "kube/system"), /reserved/],
  ])("%s is not verified", (_what, controlPlane, why) => {
    expect(whyUnverified(controlPlane, [controlPlane])).toMatch(why);
  });

  test("is not verified beside an older one that belongs there too", () => {
    const older = plane("a-b-c/c", "a-b/c");
    const newer = plane("a-b-c/b-c", "a/b-c", "2026-01-02T00:00:00Z");
    expect(whyUnverified(older, [newer, older])).toBeUndefined();
    expect(whyUnverified(newer, [newer, older])).toMatch(/belongs to HostedControlPlane c/);
  });

  test("is verified beside an older one that does not belong there", () => {
    const forged = plane("a-b/x", "evil/x", "2020-01-01T00:00:00Z");
    const own = plane("a-b/b", "a/b");
    expect(whyUnverified(own, [forged, own])).toBeUndefined();
  });
});

describe("a control plane in a namespace that somebody called like that of another's", () => {
  function registered(
    clusters: string[],
    over: { namespace?: string; createsControlPlanes?: boolean } = {},
  ): Registered {
    const annotations = over.namespace ? { [clusterAnnotation]: over.namespace } : {};
    return {
      controlPlanes: { byIndex: () => [] },
      outside: {
        clusters: { get: (key) => (clusters.includes(key) ? ({} as never) : undefined) },
        namespaces: { get: (name) => ({ metadata: { name, annotations } }) },
        createsControlPlanes: () => over.createsControlPlanes ?? false,
      },
    };
  }
  const evil = plane("blue-evil/evil", "blue/evil");

  test("attack: a control plane without its HostedCluster uses what another namespace may", () => {
    expect(whyNot(evil, registered([]))).toBe("HostedCluster blue/evil does not exist");
  });

  test("attack: a control plane in a namespace that was not created for it replaces the real one", () => {
    const createsControlPlanes = true;
    expect(whyNot(evil, registered(["blue/evil"], { createsControlPlanes }))).toMatch(
      /was not created for HostedCluster blue.evil/,
    );
    const another = { namespace: "evil/evil" };
    expect(whyNot(evil, registered(["blue/evil"], another))).toMatch(/was not created/);
    const own = { namespace: "blue/evil", createsControlPlanes };
    expect(whyNot(evil, registered(["blue/evil"], own))).toBeUndefined();
  });

  test("is verified where HyperShift creates namespaces, which it does not annotate", () => {
    expect(whyNot(evil, registered(["blue/evil"]))).toBeUndefined();
  });

  test("is verified without a HostedCluster while it is being deleted", () => {
    const metadata = { ...evil.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(whyNot({ ...evil, metadata }, registered([]))).toBeUndefined();
  });
});

test("attack: an object in another namespace names a cluster, and no command takes it for that cluster's", () => {
  expect(isMisplaced(plane("evil/b", "a/b"))).toBe(true);
  expect(isMisplaced(plane("a-b/b", "a/b"))).toBe(false);
  expect(isMisplaced(plane("evil/b"))).toBe(false);
});
