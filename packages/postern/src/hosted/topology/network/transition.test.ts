import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import { describe, test } from "vitest";
import {
  clusterOf,
  type Shape,
  TopologyWorld,
} from "../../../../../../test/hosted/topology-world.ts";
import { fc } from "../../../../../../test/setup/random.ts";
import { isAvailable } from "../cluster/link-conditions.ts";

/** Whether the API server can be reached by one way or the other. */
function isReachable(world: TopologyWorld): boolean {
  const hasAddress = (name: string) =>
    (world.get<Service>("Service", name)?.status?.loadBalancer?.ingress ?? []).length > 0;
  const route = world.get("Route", "kube-apiserver");
  const byOwnRouter =
    route?.metadata.labels?.["hypershift.openshift.io/hosted-control-plane"] !== undefined;
  const publicly =
    hasAddress("kube-apiserverlb") || (route && (!byOwnRouter || hasAddress("router")));
  const link = world.get<AzurePrivateLinkService>("AzurePrivateLinkService", "private-router");
  const privately =
    hasAddress("private-router") &&
    world.names("Route").includes("kube-apiserver-internal") &&
    link !== undefined &&
    isAvailable(link);
  return Boolean(publicly || privately);
}

/** What happens around the controller. */
const happening = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("addresses", "links", "pass", "settle") },
  fc.constantFrom("links fail", "Public", "PublicAndPrivate", "Private"),
  fc.record({ killedAfter: fc.nat(6) }),
  fc.record({
    drop: fc.constantFrom("private-router", "router", "kube-apiserverlb", "oauth-openshift"),
  }),
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

const shape: fc.Arbitrary<Shape> = fc.record({
  topology: fc.constantFrom("Public", "PublicAndPrivate", "Private"),
  api: fc.constantFrom("Route", "named Route", "LoadBalancer"),
  oauth: fc.constantFrom("Route", "named Route", "LoadBalancer"),
});

function happen(world: TopologyWorld, what: Happening, between?: () => void): void {
  if (typeof what === "object" && "drop" in what) world.drop("Service", what.drop);
  else if (typeof what === "object") world.reconcile(between, what.killedAfter);
  else if (what === "addresses") world.giveAddresses();
  else if (what === "links") world.setLinks(true);
  else if (what === "links fail") world.setLinks(false);
  else if (what === "pass") world.reconcile(between);
  else if (what === "settle") world.settle(between);
  else {
    // Between public and not so the schema of today refuses it; it holds all the same.
    const { azure } = world.cluster.spec.platform;
    if (!azure) return;
    azure.topology = what;
    if (what === "Public") delete azure.private;
    else azure.private = { type: "PrivateLink" };
  }
}

describe("whatever happens to a cluster, and wherever the process is killed", () => {
  test("no step of a plan takes away the last way to the API server", () => {
    void fc.assert(
      fc.property(shape, fc.array(happening, { maxLength: 25 }), (given, happenings) => {
        const world = new TopologyWorld(clusterOf(given));
        for (const what of happenings) {
          let reachable = isReachable(world);
          happen(world, what, () => {
            const still = isReachable(world);
            if (reachable && !still)
              throw new Error(`cut off by: ${JSON.stringify(world.taken.at(-1), undefined, 1)}`);
            reachable = still;
          });
        }
      }),
      { numRuns: 500 },
    );
  });

  test("it comes to rest, and at rest has nothing left to do", () => {
    void fc.assert(
      fc.property(shape, fc.array(happening, { maxLength: 25 }), (given, happenings) => {
        const world = new TopologyWorld(clusterOf(given));
        for (const what of happenings) happen(world, what);
        world.settle();
        if (world.reconcile()) throw new Error("a plan at rest is not empty");
      }),
      { numRuns: 300 },
    );
  });

  test("what it ends with depends on the topology and not on the way there", () => {
    void fc.assert(
      fc.property(shape, fc.array(happening, { maxLength: 25 }), (given, happenings) => {
        const world = new TopologyWorld(clusterOf(given));
        for (const what of happenings) happen(world, what);
        const fresh = new TopologyWorld(world.cluster);
        for (const each of [world, fresh])
          for (let i = 0; i < 3; i++) {
            each.settle();
            each.giveAddresses();
            each.setLinks(true);
          }
        world.settle();
        const apiByLink =
          world.cluster.spec.services?.[0]?.servicePublishingStrategy.type === "Route";
        for (const kind of apiByLink ? ["Service", "Route"] : ["Route"]) {
          const [is, should] = [world.names(kind).join(), fresh.names(kind).join()];
          if (apiByLink && is !== should) throw new Error(`${kind}: ${is} and not ${should}`);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("once it is deleted nothing is left that we made", () => {
    void fc.assert(
      fc.property(shape, fc.array(happening, { maxLength: 25 }), (given, happenings) => {
        const world = new TopologyWorld(clusterOf(given));
        for (const what of happenings) happen(world, what);
        world.cluster.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
        for (let i = 0; i < 6; i++) {
          world.settle();
          world.finishDeletions();
        }
        const left = ["HostedControlPlane", "AzurePrivateLinkService", "Service", "Route"]
          .flatMap((kind) => world.names(kind).map((name) => `${kind} ${name}`))
          .join(", ");
        if (left !== "") throw new Error(`left behind: ${left}`);
        if (world.namespace && !world.namespace.metadata.deletionTimestamp)
          throw new Error("the namespace was forgotten");
        if (world.cluster.metadata.finalizers?.length) throw new Error("the cluster is still held");
      }),
      { numRuns: 300 },
    );
  });
});
