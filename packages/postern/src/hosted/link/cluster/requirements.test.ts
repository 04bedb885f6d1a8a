import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { expect, test } from "vitest";
import { clusterID, hostedSubscription } from "../../../../../../test/hosted/link-observed.ts";
import { clusterAnnotation } from "../../names.ts";
import { known } from "./requirements.ts";
import type { Belonging } from "./verified-cluster.ts";

const now = new Date("2026-01-01T00:00:00Z");
const network = `/subscriptions/${hostedSubscription}/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v`;

function link(over: { annotation?: string | undefined; name?: string; spec?: object } = {}) {
  const { annotation = "clusters/one", name = "private-router" } = over;
  const annotations =
    "annotation" in over && over.annotation === undefined
      ? {}
      : { [clusterAnnotation]: annotation };
  return {
    metadata: { name, annotations },
    spec: { loadBalancerIP: "10.0.0.4", guestSubnetID: `${network}/subnets/s`, ...over.spec },
  } as unknown as AzurePrivateLinkService;
}

function cluster(spec: object = {}) {
  return {
    metadata: { namespace: "clusters", name: "one" },
    spec: { clusterID, infraID: "one-infra", ...spec },
  } as unknown as HostedCluster;
}

/** A verified link of a cluster, whose Service has the address. */
function of(cluster: HostedCluster | undefined, over: Partial<Belonging> = {}): Belonging {
  return {
    cluster,
    unverified: undefined,
    notAllowed: undefined,
    service: {
      metadata: { name: "private-router" },
      status: { loadBalancer: { ingress: [{ ip: "10.0.0.4" }] } },
    },
    sharesClusterID: false,
    ...over,
  };
}

test.each<[string, AzurePrivateLinkService, HostedCluster | undefined, string]>([
  ["no annotation", link({ annotation: undefined }), cluster(), "InvalidClusterAnnotation"],
  [
    "an annotation without a slash",
    link({ annotation: "one" }),
    cluster(),
    "InvalidClusterAnnotation",
  ],
  ["an empty namespace", link({ annotation: "/one" }), cluster(), "InvalidClusterAnnotation"],
  ["an empty name", link({ annotation: "clusters/" }), cluster(), "InvalidClusterAnnotation"],
  ["three parts", link({ annotation: "a/b/c" }), cluster(), "InvalidClusterAnnotation"],
  ["no HostedCluster", link(), undefined, "HostedClusterNotFound"],
  [
    "a HostedCluster without clusterID",
    link(),
    cluster({ clusterID: undefined }),
    "ClusterIDMissing",
  ],
  ["a name that is too long for Azure", link({ name: "x".repeat(60) }), cluster(), "NameTooLong"],
  [
    "a subnet id that is not one",
    link({ spec: { guestSubnetID: network } }),
    cluster(),
    "InvalidGuestSubnet",
  ],
  [
    "no load balancer address yet",
    link({ spec: { loadBalancerIP: undefined } }),
    cluster(),
    "LoadBalancerIPMissing",
  ],
])("%s is reported with a remedy, and not by an error", (_name, object, named, reason) => {
  const found = known(object, of(named), now);
  expect(found).toMatchObject({ is: "stopped", reason });
  if (found.is === "stopped") expect(found.message.split(" · ")).toHaveLength(3);
});

test.each<[string, Partial<Belonging>, string]>([
  ["a control plane that is not verified", { unverified: "a · b · c" }, "ControlPlaneNotVerified"],
  ["what the policy forbids", { notAllowed: "a · b · c" }, "NotAllowedByPolicy"],
  ["no Service of its name", { service: undefined }, "LoadBalancerIPNotVerified"],
  [
    "a Service with another address",
    {
      service: {
        metadata: { name: "private-router" },
        status: { loadBalancer: { ingress: [{ ip: "10.0.0.5" }, { hostname: "x" }] } },
      },
    },
    "LoadBalancerIPNotVerified",
  ],
])("%s stops the link", (_name, over, reason) => {
  const found = known(link(), of(cluster(), over), now);
  expect(found).toMatchObject({ is: "stopped", reason });
  if (found.is === "stopped") expect(found.message.split(" · ")).toHaveLength(3);
});

test.each([
  ["true", { is: "paused", pause: { paused: true } }],
  ["2026-01-01T00:01:00Z", { is: "paused", pause: { paused: true, untilMs: 60_000 } }],
  ["2025-01-01T00:00:00Z", { is: "desired" }],
  ["false", { is: "desired" }],
  ["nonsense", { is: "desired", warning: expect.stringContaining('is "nonsense" · set it') }],
])("pausedUntil %s", (pausedUntil, desired) => {
  expect(known(link(), of(cluster({ pausedUntil })), now)).toMatchObject(desired);
});

test("the service is named after the link and the cluster", () => {
  const named = (name: string) => known(link({ name }), of(cluster()), now);
  expect(named("private-router")).toMatchObject({ serviceName: `pls-${clusterID}` });
  expect(named("oauth-openshift")).toMatchObject({
    serviceName: `pls-oauth-openshift-${clusterID}`,
  });
});
