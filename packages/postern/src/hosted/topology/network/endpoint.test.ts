import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { Route } from "@postern/core/kinds/route.ts";
import { describe, expect, test } from "vitest";
import {
  clusterOf,
  type Shape,
  TopologyWorld,
} from "../../../../../../test/hosted/topology-world.ts";
import { plan } from "../plan.ts";

/** A cluster whose load balancers have addresses, and whose public Route has a hostname. */
function served(shape: Shape, ingress: object = { ip: "10.0.0.4" }): TopologyWorld {
  const world = new TopologyWorld(clusterOf(shape));
  world.settle();
  for (const name of world.names("Service")) {
    const service = world.get<Service>("Service", name);
    if (service?.spec?.type === "LoadBalancer")
      service.status = { loadBalancer: { ingress: [ingress] } };
  }
  const route = world.get<Route>("Route", "kube-apiserver");
  if (route) route.status = { ingress: [{ host: "given.apps.example.org" }] };
  world.settle();
  return world;
}

/** What the cluster and its control plane publish; the two are the same. */
function published(world: TopologyWorld): string | undefined {
  const plane = world.get<HostedControlPlane>("HostedControlPlane", "one");
  expect(plane?.status?.controlPlaneEndpoint).toEqual(world.cluster.status?.controlPlaneEndpoint);
  const endpoint = world.cluster.status?.controlPlaneEndpoint;
  return endpoint && `${endpoint.host}:${endpoint.port}`;
}

describe("the endpoint of the API server", () => {
  test.each<[string, Shape, string]>([
    ["Private by a named Route", {}, "api-one.example.com:443"],
    ["Private by a Route without a name", { api: "Route" }, "10.0.0.4:443"],
    ["Private by LoadBalancer", { api: "LoadBalancer" }, "10.0.0.4:7443"],
    [
      "PublicAndPrivate by a named Route",
      { topology: "PublicAndPrivate" },
      "api-one.example.com:443",
    ],
    [
      "PublicAndPrivate by a Route without a name",
      { topology: "PublicAndPrivate", api: "Route" },
      "given.apps.example.org:443",
    ],
    [
      "Public by a Route without a name",
      { topology: "Public", api: "Route" },
      "given.apps.example.org:443",
    ],
    [
      "Public by LoadBalancer",
      { topology: "Public", api: "LoadBalancer" },
      "api-one.example.com:7443",
    ],
  ])("%s", (_, shape, expected) => {
    expect(published(served(shape))).toBe(expected);
  });

  test("is the hostname of the router's load balancer rather than its address", () => {
    const world = served({ api: "Route" }, { hostname: "router.example.net", ip: "10.0.0.4" });
    expect(published(world)).toBe("router.example.net:443");
  });

  test("is not published before anything serves it, and stays when its Service loses its address", () => {
    const world = new TopologyWorld(clusterOf());
    world.settle();
    expect(published(world)).toBeUndefined();
    world.giveAddresses();
    world.settle();
    const router = world.get<Service>("Service", "private-router");
    if (router) router.status = {};
    world.settle();
    expect(published(world)).toBe("api-one.example.com:443");
  });

  test("follows the topology, and the topology is applied while it is written", () => {
    const world = served({ api: "Route" });
    const router = world.get<Service>("Service", "private-router");
    if (router) router.status = { loadBalancer: { ingress: [{ ip: "10.0.0.9" }] } };
    const { conditions, steps } = plan(world.see());
    expect(steps.map(({ kind }) => kind)).toEqual(["HostedControlPlane", "HostedCluster"]);
    expect(conditions.find(({ type }) => type === "TopologyApplied")?.status).toBe("True");
    world.settle();
    expect(published(world)).toBe("10.0.0.9:443");
  });

  test("is never a hostname that another cluster has", () => {
    const world = served({});
    delete world.cluster.status;
    const steps = plan({ ...world.see(), taken: ["api-one.example.com"] }).steps;
    expect(steps.filter((step) => step.verb === "change" && step.subresource)).toEqual([]);
  });

  test("is left to HyperShift where that is installed", () => {
    const { controlPlaneEndpoint: _, ...status } = served({}).cluster.status ?? {};
    const world = served({});
    world.cluster.status = status;
    expect(plan({ ...world.see(), hyperShift: true })).toMatchObject({ steps: [] });
  });

  test("attack: a host that no status takes is not published", () => {
    const world = served({ api: "Route" }, { hostname: "x".repeat(300) });
    expect(published(world)).toBeUndefined();
  });
});
