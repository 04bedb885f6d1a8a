import { describe, expect, test } from "vitest";
import {
  allowsHost,
  allowsIdentity,
  allowsName,
  allowsResourceGroup,
  allowsSubscription,
  defaultPolicy,
  openPolicy,
  tenantPolicy,
} from "./tenant-policy.ts";

const subscription = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const group = `/subscriptions/${subscription}/resourceGroups/blue`;

const policy = tenantPolicy([
  {
    namespace: "blue",
    domains: ["blue.example.com"],
    subscriptions: [subscription.toUpperCase()],
    resourceGroups: [`/subscriptions/${subscription}/resourceGroups/Blue*`],
    identities: ["11111111-1111-4111-8111-111111111111", "blue/*"],
  },
  { namespace: "team-*", domains: ["*.teams.example.com"] },
]);

describe("the rules of a namespace", () => {
  test("are those of the first entry that matches it", () => {
    expect(policy.rulesOf("team-red").domains).toEqual(["*.teams.example.com"]);
  });

  test("allow nothing where no entry matches", () => {
    const rules = policy.rulesOf("green");
    expect(allowsHost(rules, "blue.example.com")).toBe(false);
    expect(allowsSubscription(rules, subscription)).toBe(false);
    expect(allowsResourceGroup(rules, group)).toBe(false);
    expect(allowsIdentity(rules, "blue/one")).toBe(false);
  });

  test("leave a kind open whose list is absent", () => {
    const rules = policy.rulesOf("team-red");
    expect(allowsSubscription(rules, subscription)).toBe(true);
    expect(allowsResourceGroup(rules, group)).toBe(true);
    expect(allowsIdentity(rules, "anybody")).toBe(true);
  });
});

test.each([
  ["blue.example.com", true],
  ["api-one.BLUE.example.com.", true],
  ["notblue.example.com", false],
  ["example.com", false],
  ["blue.example.com.evil.net", false],
  ["console.mgmt.example.com,x.blue.example.com", false],
  ["console.mgmt.example.com x.blue.example.com", false],
  ["*.blue.example.com", false],
  [".blue.example.com", false],
])("hostname %s is allowed: %s", (host, allowed) => {
  expect(allowsHost(policy.rulesOf("blue"), host)).toBe(allowed);
});

test("a wildcard domain is the domain and all below it", () => {
  expect(allowsHost(policy.rulesOf("team-red"), "a.teams.example.com")).toBe(true);
  expect(allowsHost(policy.rulesOf("team-red"), "a.example.com")).toBe(false);
});

test("ids compare without case", () => {
  const rules = policy.rulesOf("blue");
  expect(allowsSubscription(rules, subscription)).toBe(true);
  expect(allowsResourceGroup(rules, group.toUpperCase())).toBe(true);
  expect(allowsResourceGroup(rules, `/subscriptions/${subscription}/resourceGroups/red`)).toBe(
    false,
  );
  expect(allowsIdentity(rules, "blue/one")).toBe(true);
  expect(allowsIdentity(rules, "red/one")).toBe(false);
});

test("of two named tenants the one with the longer name has the namespace", () => {
  const both = tenantPolicy([{ namespace: "a" }, { namespace: "a-b" }]);
  expect(both.reservedFor("a-b-c", "a")).toBe("a-b");
  expect(both.reservedFor("a-b-c", "a-b")).toBeUndefined();
  expect(both.reservedFor("a-b-c", "x")).toBe("a-b");
});

test("the namespaces of a named tenant's control planes are reserved for it", () => {
  expect(policy.reservedFor("blue-one", "blue-o")).toBe("blue");
  expect(policy.reservedFor("blue-one", "blue")).toBeUndefined();
  expect(policy.reservedFor("bluesky-one", "bluesky")).toBeUndefined();
  expect(defaultPolicy.reservedFor("blue-one", "blue-o")).toBeUndefined();
});

test("a cluster of Cluster API may have any name where no domains are listed", () => {
  expect(allowsName({}, "two.example.net")).toBe(true);
  expect(allowsName({ domains: ["two.example.net"] }, "two.example.net")).toBe(true);
  expect(allowsName({ domains: [] }, "two.example.net")).toBe(false);
});

test("without a policy no hostname is allowed and the rest is", () => {
  const rules = defaultPolicy.rulesOf("any");
  expect(allowsHost(rules, "api.example.com")).toBe(false);
  expect(allowsSubscription(rules, subscription)).toBe(true);
  expect(allowsHost(openPolicy.rulesOf("any"), "api.example.com")).toBe(true);
});
