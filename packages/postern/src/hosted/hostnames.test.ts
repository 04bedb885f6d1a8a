import type { KubeObject } from "@postern/core/kind.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { tenantPolicy } from "@postern/core/tenant-policy.ts";
import { describe, expect, test } from "vitest";
import { hostnameOwner, hostnamesOf, publishedHostnames } from "./hostnames.ts";

const hostname = "api.example.com";

const cluster = (key: string, createdIn: number): HostedCluster => {
  const [namespace = "", name = ""] = key.split("/");
  const route = { type: "Route", route: { hostname: "API.example.com." } };
  return {
    metadata: { namespace, name, uid: key, creationTimestamp: `${createdIn}-01-01T00:00:00Z` },
    spec: { services: [{ service: "APIServer", servicePublishingStrategy: route }] },
  } as unknown as HostedCluster;
};

const published = (namespace: string, hosts: string): KubeObject => ({
  metadata: {
    namespace,
    name: "any",
    annotations: { "external-dns.alpha.kubernetes.io/hostname": hosts },
  },
});

const cacheOf = <T extends KubeObject>(all: T[], valuesOf: (object: T) => string[]) => ({
  byIndex: (_name: string, value: string) => all.filter((each) => valuesOf(each).includes(value)),
});

function holder(clusters: HostedCluster[], objects: KubeObject[] = [], policy?: string[]) {
  const found = hostnameOwner(
    hostname,
    {
      clusters: cacheOf(clusters, hostnamesOf),
      published: [cacheOf(objects, publishedHostnames)],
    },
    policy && tenantPolicy(policy.map((namespace) => ({ namespace, domains: ["*"] }))),
  );
  return found && `${found.metadata.namespace}/${found.metadata.name}`;
}

describe("a hostname that two clusters ask for", () => {
  const old = cluster("evil/old", 2024);
  const blue = cluster("blue/one", 2025);

  test("belongs to the older one", () => expect(holder([blue, old])).toBe("evil/old"));
  test("belongs to the one that publishes it", () =>
    expect(holder([old, blue], [published("blue-one", "x.test, api.example.com")])).toBe(
      "blue/one",
    ));
  test("does not belong to one that publishes it in another namespace than its control plane's", () =>
    expect(holder([blue, old], [published("blue", hostname)])).toBe("evil/old"));
  test("belongs to the one that the policy allows it", () =>
    expect(holder([old, blue], [published("evil-old", hostname)], ["blue"])).toBe("blue/one"));
});

test("a hostname that nobody asks for belongs to nobody", () =>
  expect(holder([], [published("blue-one", hostname)])).toBeUndefined());
