import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { describe, expect, test } from "vitest";
import {
  clusterOf,
  published,
  type Shape,
  TopologyWorld,
} from "../../../../../../test/hosted/topology-world.ts";
import type { Observed } from "../observed.ts";
import { plan } from "../plan.ts";
import { check } from "./check.ts";

function problemOf(cluster: HostedCluster) {
  const checked = check(cluster);
  return checked.ok ? checked.warning : checked.problem;
}

describe("a cluster that the schema would refuse is refused here too, with the remedy", () => {
  const withAuthentication = (azureAuthenticationConfig: object): Shape => ({
    azure: { azureAuthenticationConfig } as NonNullable<Shape["azure"]>,
  });
  test.each<[string, Shape, string, RegExp]>([
    [
      "both spellings at once",
      { azure: { endpointAccess: { type: "Private" } } },
      "TwoSpellings",
      /keep topology and private/,
    ],
    [
      "a private topology without its block",
      { topology: "none", azure: { topology: "Private" } },
      "PrivateTypeMissing",
      /set it to PrivateLink/,
    ],
    [
      "the block with a public topology",
      { topology: "Public", azure: { private: { type: "PrivateLink" } } },
      "PrivateWithPublicTopology",
      /remove it, or set topology/,
    ],
    [
      "settings of the other type",
      {
        azure: { private: { type: "PrivateLink", swift: { podNetworkInstance: "a" } } },
      },
      "PrivateTypeMismatch",
      /remove it, or change the type/,
    ],
    [
      "workload identities without the one that makes the endpoint",
      withAuthentication({
        azureAuthenticationConfigType: "WorkloadIdentities",
        workloadIdentities: {},
      }),
      "IdentityMissing",
      /add it with its clientID/,
    ],
    [
      "Konnectivity by load balancer",
      { spec: { services: [published("Konnectivity", "LoadBalancer")] } },
      "PublishingStrategyNotSupported",
      /Konnectivity .* must be Route/,
    ],
    [
      "Ignition by load balancer",
      { spec: { services: [published("Ignition", "LoadBalancer")] } },
      "PublishingStrategyNotSupported",
      /Ignition .* must be Route/,
    ],
    [
      "the OAuth server by load balancer on a managed service",
      {
        ...withAuthentication({
          azureAuthenticationConfigType: "ManagedIdentities",
          managedIdentities: {},
        }),
        spec: { services: [published("OAuthServer", "LoadBalancer")] },
      },
      "PublishingStrategyNotSupported",
      /OAuthServer .* must be Route ·/,
    ],
    [
      "the API server by node port",
      { spec: { services: [published("APIServer", "NodePort")] } },
      "PublishingStrategyNotSupported",
      /APIServer .* Route or LoadBalancer/,
    ],
    [
      "a private link in a cloud that has none",
      { azure: { cloud: "AzureStackCloud" } },
      "CloudNotSupported",
      /create the cluster in another cloud/,
    ],
  ])("%s", (_, shape, reason, remedy) => {
    const cluster = clusterOf(shape);
    if (shape.spec?.services && cluster.spec.platform.azure && shape.azure)
      Object.assign(cluster.spec.platform.azure, shape.azure);
    expect(check(cluster).ok).toBe(false);
    expect(problemOf(cluster)).toMatchObject({ reason, message: expect.stringMatching(remedy) });
  });

  test("no Azure block on platform Azure", () => {
    const cluster = clusterOf({ spec: { platform: { type: "Azure" } } });
    expect(problemOf(cluster)?.reason).toBe("AzureBlockMissing");
  });
});

test("a private link with all defaults is valid, although HyperShift's schema cannot express it", () => {
  const cluster = clusterOf({ azure: { private: { type: "PrivateLink" } } });
  expect(problemOf(cluster)).toBeUndefined();
  expect(check(cluster)).toMatchObject({ ok: true, access: { type: "PrivateLink" } });
});

test.each(["Private", "PublicAndPrivate"] as const)(
  "an API server by load balancer in a %s cluster gets a warning: workers cannot reach its port through the endpoint",
  (topology) => {
    const checked = check(clusterOf({ topology, api: "LoadBalancer" }));
    expect(checked).toMatchObject({
      ok: true,
      warning: {
        reason: "APIServerNotBehindLink",
        message: expect.stringMatching(/create the cluster with APIServer published as Route/),
      },
    });
  },
);

test.each(["Private", "PublicAndPrivate"] as const)(
  "a %s cluster that does not say how it is published has its API server behind the link",
  (topology) => {
    const { services: _, ...spec } = clusterOf({ topology }).spec;
    const checked = check({ ...clusterOf({ topology }), spec });
    expect(checked).toMatchObject({ ok: true, publishing: { apiServer: { type: "Route" } } });
    expect(checked).not.toHaveProperty("warning");
  },
);

test("names that no zone takes keep a cluster from being created, and stop nothing of one that exists", () => {
  const shape: Shape = { spec: { dns: { baseDomain: "example.com." }, services: [] } };
  const world = new TopologyWorld(clusterOf(shape));
  world.settle();
  expect(world.names("HostedControlPlane")).toEqual([]);
  const applied = (observed: Observed) =>
    plan(observed).conditions.find(({ type }) => type === "TopologyApplied");
  expect(applied(world.see())).toMatchObject({ status: "False", reason: "NameUnusable" });

  const existing = new TopologyWorld(clusterOf());
  existing.settle();
  Object.assign(existing.cluster.spec, shape.spec);
  existing.settle();
  expect(existing.names("HostedControlPlane")).toEqual(["one"]);
  expect(existing.names("Service")).toContain("private-router");
  expect(applied(existing.see())).toMatchObject({ status: "False", reason: "NameUnusable" });
});

test("the documents' spelling is read as well", () => {
  const cluster = clusterOf({ topology: "none", azure: { endpointAccess: { type: "Private" } } });
  expect(check(cluster)).toMatchObject({ ok: true, access: { topology: "Private" } });
});
