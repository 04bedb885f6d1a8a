import { UsageError } from "@postern/core/process/usage-error.ts";
import { expect, test } from "vitest";
import { settingsFrom } from "./install-settings.ts";

const id = "00000000-0000-4000-8000-000000000001";
const good = {
  image: { repository: "registry.example.com/postern" },
  azure: { subscriptionId: id, resourceGroup: "management", clientId: id },
};

function violations(given: object): string {
  try {
    settingsFrom(given);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return "";
}

test("settings that are given stand beside the defaults of all others", () => {
  const settings = settingsFrom({ ...good, resources: { limits: { memory: "1Gi" } } });
  expect(settings.replicas).toBe(2);
  expect(settings.resources).toEqual({
    requests: { cpu: "50m", memory: "160Mi" },
    limits: { memory: "1Gi" },
  });
});

test("null removes a default, as it does with Helm", () => {
  const settings = settingsFrom({ ...good, resources: { limits: null } });
  expect(settings.resources).toEqual({ requests: { cpu: "50m", memory: "160Mi" } });
});

test("a typo, a wrong form, a wrong type and a wrong choice are reported together", () => {
  const message = violations({
    ...good,
    azure: { ...good.azure, subscriptoinId: id, clientId: "me" },
    replicas: "two",
    logLevel: "loud",
    networkpolicy: {},
  });
  expect(message).toContain(
    "azure.subscriptoinId is not a setting: did you mean azure.subscriptionId?",
  );
  expect(message).toContain("azure.clientId must be an id such as 0000");
  expect(message).toContain("replicas must be integer");
  expect(message).toContain("logLevel must be one of debug, info, warn, error");
  expect(message).toContain("networkpolicy is not a setting: did you mean networkPolicy?");
  expect(message).toMatch(/^5 settings are invalid: \(1\)/);
});

test.each<[string, object, string]>([
  ["nothing to serve", { hosted: { enabled: false } }, "set hosted.enabled or clusterApi.enabled"],
  ["no credential", { azure: { ...good.azure, clientId: "" } }, "no credential for Azure"],
  [
    "two credentials",
    { azure: { ...good.azure, credentialsSecret: { name: "azure" } } },
    "are mutually exclusive",
  ],
  [
    "an identity without a subscription",
    { azure: { ...good.azure, subscriptionId: "" } },
    "azure.clientId needs azure.subscriptionId",
  ],
  [
    "no resource group",
    { azure: { ...good.azure, resourceGroup: "" } },
    "hosted control planes need azure.resourceGroup",
  ],
  [
    "Cluster API without a management cluster",
    { clusterApi: { enabled: true } },
    "Cluster API needs clusterApi.managementCluster.name",
  ],
  [
    "a base domain without Cluster API",
    { clusterApi: { baseDomain: "example.com", baseDomainResourceGroup: "dns" } },
    "need clusterApi.enabled",
  ],
  [
    "control planes of one process",
    { hosted: { controlPlanes: [{ namespace: "clusters-one" }] } },
    "hosted.controlPlanes needs splitRoles",
  ],
  [
    "tags that are none",
    { hosted: { azureTags: "team" } },
    "hosted.azureTags must be at most 5 tags, such as team=blue,cost-center=42",
  ],
  [
    "a tag that says whose a resource is",
    { hosted: { azureTags: "team=blue,postern_owner=a/b" } },
    "names that begin with postern are reserved",
  ],
])("%s is rejected", (_name, over, message) => {
  expect(violations({ ...good, ...over })).toContain(message);
});

test("every rule that is violated is reported at once", () => {
  const message = violations({
    image: good.image,
    azure: { clientId: id, credentialsSecret: { name: "azure" } },
    clusterApi: { baseDomain: "example.com" },
  });
  expect(message).toMatch(/^5 settings are invalid/);
});
