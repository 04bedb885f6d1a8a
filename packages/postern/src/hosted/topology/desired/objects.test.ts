import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { Route } from "@postern/core/kinds/route.ts";
import { describe, expect, test } from "vitest";
import {
  clusterOf,
  type Shape,
  TopologyWorld,
} from "../../../../../../test/hosted/topology-world.ts";

const internal = "service.beta.kubernetes.io/azure-load-balancer-internal";
const externalDns = "external-dns.alpha.kubernetes.io/hostname";

/** A cluster of which everything has been made. */
function madeOf(shape: Shape): TopologyWorld {
  const world = new TopologyWorld(clusterOf(shape));
  world.settle();
  return world;
}

/** The Services of a cluster, each as `type:port→target`. */
function services(world: TopologyWorld): Record<string, string> {
  return Object.fromEntries(
    world.names("Service").map((name) => {
      const { spec, metadata } = world.get<Service>("Service", name) ?? { metadata: { name } };
      const [port] = spec?.ports ?? [];
      const scope = metadata.annotations?.[internal] === "true" ? "internal" : "public";
      const type = spec?.type === "LoadBalancer" ? scope : spec?.type;
      return [name, `${type} ${port?.port}→${port?.targetPort}`];
    }),
  );
}

const inCluster = {
  "kube-apiserver": "ClusterIP 6443→client",
  "oauth-openshift": "ClusterIP 443→6443",
};

describe("the Services of a topology", () => {
  test.each<[string, Shape, Record<string, string>]>([
    [
      "Public with the API server by a named Route",
      { topology: "Public" },
      { ...inCluster, router: "public 443→https" },
    ],
    ["Public with a Route without a name", { topology: "Public", api: "Route" }, inCluster],
    [
      "Public by load balancers",
      { topology: "Public", api: "LoadBalancer", oauth: "LoadBalancer" },
      {
        "kube-apiserver": "ClusterIP 6443→client",
        "kube-apiserverlb": "public 7443→client",
        "oauth-openshift": "public 443→6443",
      },
    ],
    [
      "a cluster that says nothing is Public",
      { topology: "none" },
      { ...inCluster, router: "public 443→https" },
    ],
    [
      "PublicAndPrivate with the API server by a named Route",
      { topology: "PublicAndPrivate" },
      { ...inCluster, router: "public 443→https", "private-router": "internal 443→https" },
    ],
    [
      "PublicAndPrivate with a Route without a name",
      { topology: "PublicAndPrivate", api: "Route" },
      { ...inCluster, "private-router": "internal 443→https" },
    ],
    [
      "PublicAndPrivate by load balancers, the OAuth server public as well as internal",
      { topology: "PublicAndPrivate", api: "LoadBalancer", oauth: "LoadBalancer" },
      {
        "kube-apiserver": "ClusterIP 6443→client",
        "kube-apiserverlb": "public 7443→client",
        "kube-apiserver-private": "internal 7443→client",
        "oauth-openshift": "internal 443→6443",
        "oauth-openshift-public": "public 443→6443",
        "private-router": "internal 443→https",
      },
    ],
    ["Private", {}, { ...inCluster, "private-router": "internal 443→https" }],
    [
      "Private by load balancers",
      { api: "LoadBalancer", oauth: "LoadBalancer" },
      {
        "kube-apiserver": "ClusterIP 6443→client",
        "kube-apiserver-private": "internal 7443→client",
        "oauth-openshift": "internal 443→6443",
        "private-router": "internal 443→https",
      },
    ],
  ])("%s", (_, shape, expected) => {
    expect(services(madeOf(shape))).toEqual(expected);
  });

  test("belong to the control plane, and the router's select its pods", () => {
    const world = madeOf({});
    const plane = world.get<HostedControlPlane>("HostedControlPlane", "one");
    const router = world.get<Service>("Service", "private-router");
    expect(router?.metadata.ownerReferences).toMatchObject([
      { kind: "HostedControlPlane", name: "one", uid: plane?.metadata.uid },
    ]);
    expect(router?.metadata.labels).toEqual({ "postern.io/made-by": "topology" });
    expect(router?.spec?.selector).toEqual({ app: "private-router" });
  });

  test("only the public ones are limited to the allowed ranges and have public names", () => {
    const allowedCIDRBlocks = ["203.0.113.0/24"];
    const world = madeOf({
      topology: "PublicAndPrivate",
      api: "LoadBalancer",
      oauth: "LoadBalancer",
      spec: { networking: { apiServer: { allowedCIDRBlocks } } },
    });
    const limited = world
      .names("Service")
      .filter((name) => world.get<Service>("Service", name)?.spec?.loadBalancerSourceRanges);
    const named = world
      .names("Service")
      .filter((name) => world.get("Service", name)?.metadata.annotations?.[externalDns]);
    expect(limited).toEqual(["kube-apiserverlb", "oauth-openshift-public"]);
    expect(named).toEqual(["kube-apiserverlb", "oauth-openshift-public"]);
  });

  test("the OAuth server of a Private cluster has its hostname as on a Public one", () => {
    for (const topology of ["Public", "Private"] as const) {
      const service = madeOf({ topology, oauth: "LoadBalancer" }).get("Service", "oauth-openshift");
      expect(service?.metadata.annotations?.[externalDns]).toBe("oauth-one.example.com");
    }
  });
});

describe("the Routes of a topology", () => {
  const workers = ["ignition-server", "konnectivity-server"];
  test.each<[string, Shape, string[]]>([
    ["Public", { topology: "Public" }, ["kube-apiserver", "kube-apiserver-internal", "oauth"]],
    [
      "Public by load balancers",
      { topology: "Public", api: "LoadBalancer", oauth: "LoadBalancer" },
      [],
    ],
    [
      "PublicAndPrivate",
      { topology: "PublicAndPrivate" },
      ["kube-apiserver", "kube-apiserver-internal", "oauth", "oauth-internal"],
    ],
    [
      "Private with names",
      { oauth: "named Route" },
      ["kube-apiserver-internal", "kube-apiserver-private", "oauth-internal", "oauth-private"],
    ],
    ["Private without names", { api: "Route" }, ["kube-apiserver-internal", "oauth-internal"]],
    ["Private by load balancers", { api: "LoadBalancer", oauth: "LoadBalancer" }, []],
  ])("%s", (_, shape, expected) => {
    expect(madeOf(shape).names("Route")).toEqual([...expected, ...workers].sort());
  });

  const at = (world: TopologyWorld, name: string) => world.get<Route>("Route", name);

  test("have names in the internal zone where workers ask for them", () => {
    const world = madeOf({});
    expect(at(world, "kube-apiserver-internal")?.spec.host).toBe("api.one.hypershift.local");
    expect(at(world, "oauth-internal")?.spec.host).toBe("oauth.apps.one.hypershift.local");
    expect(at(world, "konnectivity-server")?.spec.host).toBe(
      "konnectivity-server.apps.one.hypershift.local",
    );
    expect(at(world, "ignition-server")?.spec).toMatchObject({
      host: "ignition-server.apps.one.hypershift.local",
      tls: { termination: "passthrough" },
    });
  });

  test("of a Public cluster are the management cluster's where the API server has no name", () => {
    const world = madeOf({ topology: "Public", api: "Route" });
    const own = "hypershift.openshift.io/hosted-control-plane";
    expect(at(world, "konnectivity-server")?.spec).not.toHaveProperty("host");
    expect(at(world, "oauth")?.metadata.labels).not.toHaveProperty([own]);
    const named = madeOf({ topology: "Public" });
    expect(at(named, "oauth")?.metadata.labels?.[own]).toBe("clusters-one");
  });

  test("that carry a public name on the private side are labelled so", () => {
    const route = at(madeOf({}), "kube-apiserver-private");
    expect(route?.metadata.labels).toMatchObject({
      "hypershift.openshift.io/internal-route": "true",
      "hypershift.openshift.io/route-visibility": "private",
    });
    expect(route?.spec.host).toBe("api-one.example.com");
    expect(route?.metadata.annotations ?? {}).not.toHaveProperty([externalDns]);
  });
});
