import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { expect, test } from "vitest";
import { privateLinksOf } from "./requested-links.ts";

function cluster(privateLinks: unknown, annotation?: string): AzureCluster {
  const annotations = annotation === undefined ? {} : { "postern.io/private-links": annotation };
  return {
    metadata: { name: "a", annotations },
    spec: { location: "westeurope", networkSpec: { apiServerLB: { privateLinks } } },
  } as unknown as AzureCluster;
}

test.each([
  ["those of the load balancer, without nulls", cluster([null, { name: "a" }]), ["a"]],
  ["those of the annotation where there are none", cluster(null, '[{"name":"b"}]'), ["b"]],
  [
    "those of the load balancer before the annotation",
    cluster([{ name: "a" }], '[{"name":"b"}]'),
    ["a"],
  ],
  ["none where neither says any", cluster(undefined), []],
  ["none where there is no load balancer", { metadata: {}, spec: {} } as AzureCluster, []],
])("the links of a cluster are %s", (_what, given, names) => {
  expect(privateLinksOf(given).links.map(({ name }) => name)).toEqual(names);
  expect(privateLinksOf(given).problem).toBeUndefined();
});

test.each(["{", "{}", "7"])(
  "an annotation that is no list is a problem and not a crash: %s",
  (text) => {
    const { links, problem } = privateLinksOf(cluster([], text));
    expect(links).toEqual([]);
    expect(problem).toContain("annotation postern.io/private-links is ");
  },
);

test.each([
  ["an annotation that is too long to be parsed", cluster([], `[${" ".repeat(20_000)}]`)],
  ["too many links", cluster(Array.from({ length: 65 }, (_, at) => ({ name: `l${at}` })))],
  [
    "too many subscriptions",
    cluster([{ name: "a", allowedSubscriptions: Array.from({ length: 1_001 }, String) }]),
  ],
])("%s is a problem, and nothing of it is used", (_what, given) => {
  const { links, admitted, problem } = privateLinksOf(given);
  expect([links, admitted]).toEqual([[], []]);
  expect(problem?.split(" · ")).toHaveLength(3);
});
