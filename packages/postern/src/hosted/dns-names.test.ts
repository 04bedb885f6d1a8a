import { expect, test } from "vitest";
import { clusterOf, published, type Shape } from "../../../../test/hosted/topology-world.ts";
import { whyNamesUnusable } from "./dns-names.ts";

const dns = (baseDomain: string): Shape => ({ spec: { dns: { baseDomain }, services: [] } });
const named = (name: string): Shape => ({ ...dns("example.com"), metadata: { name } });
/** The hostname of the OAuth server lies in another domain than the cluster's. */
const beside = (domain: string): Shape => ({
  spec: { services: [published("OAuthServer", "named Route", `oauth-one.${domain}`)] },
});

test.each<[string, Shape, RegExp]>([
  [
    "a base domain with a dot at its end",
    dns("example.com."),
    /spec.dns.baseDomain ends with a dot .* remove the dot/,
  ],
  [
    "a hostname with a dot at its end",
    { spec: { services: [published("APIServer", "named Route", "api-one.example.com.")] } },
    /hostname of APIServer ends with a dot/,
  ],
  ["a name that makes a label too long", named("x".repeat(58)), /more than 63 .* shorter name/],
  ["a base domain with a long label", dns(`${"x".repeat(64)}.com`), /more than 63 characters/],
  ["a base domain of one label beside the cluster's", beside("internal"), /2 to 34 labels/],
  [
    "a base domain of 35 labels beside the cluster's",
    beside(`${"a.".repeat(34)}com`),
    /2 to 34 labels/,
  ],
  [
    "a base domain of 34 labels above the cluster's, where zones have one more",
    dns(`${"a.".repeat(33)}com`),
    /2 to 34 labels/,
  ],
  ["a base domain with an empty label", dns("example..com"), /single dots/],
  ["a long base domain", dns(`${`${"x".repeat(60)}.`.repeat(4)}com`), /more than 253/],
])("%s cannot be used, and the message says what to do", (_, shape, message) => {
  expect(whyNamesUnusable(clusterOf(shape))).toMatch(message);
});

test.each<[string, Shape]>([
  ["the longest name", named("x".repeat(57))],
  ["a cluster without a base domain", { spec: { services: [] } }],
  ["a base domain of one label above the cluster's", dns("Internal")],
  ["a base domain of 34 labels beside the cluster's", beside(`${"a.".repeat(33)}com`)],
  [
    "a base domain of one label where no zone is created",
    { ...beside("internal"), metadata: { annotations: { "postern.io/private-dns": "none" } } },
  ],
])("%s can be used", (_, shape) => {
  expect(whyNamesUnusable(clusterOf(shape))).toBeUndefined();
});
