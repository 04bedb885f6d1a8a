import { claimsIn } from "@postern/core/claims.ts";
import { childId, parseResourceId, type ResourceId } from "@postern/core/resource-id.ts";
import { expect, test } from "vitest";
import type { VirtualNetworkLink } from "../../azure/gateways/private-dns.ts";
import { type LinkPolicy, planLinks } from "./plan.ts";

const group = "/subscriptions/22222222-2222-4222-8222-222222222222/resourceGroups/one";
const zone = parseResourceId(`${group}/providers/Microsoft.Network/privateDnsZones/one.test`);
const network = parseResourceId(`${group}/providers/Microsoft.Network/virtualNetworks/one`);
const elsewhere = parseResourceId(`${group}/providers/Microsoft.Network/virtualNetworks/two`);
const id = (name: string) => childId(zone, "virtualNetworkLinks", name);
const wordsOf = (reason: string) => ({ reason, message: reason });

const policy: LinkPolicy = {
  user: {
    claim: { clusterID: "us", uid: "1" },
    claimIn: (tags) => claimsIn(tags).find(({ clusterID }) => clusterID === "us"),
  },
  networks: [network],
  tags: { note: "ours" },
  idsFor: () => [id("first"), id("second")],
  isAdoptable: () => false,
  isServed: false,
  report: {
    zone: "the zone",
    creating: wordsOf("Creating"),
    changing: wordsOf("Changing"),
    serves: "serves us",
    unresolved: () => wordsOf("Unresolved"),
    failed: (_, repairing) => wordsOf(repairing ? "Repairing" : "Failed"),
    refused: () => wordsOf("Refused"),
    taken: (_, names) => wordsOf(`Taken: ${names}`),
  },
};

function found(
  name: string,
  to: ResourceId,
  claims: readonly string[],
  state: VirtualNetworkLink["properties"] = {},
) {
  const tags = Object.fromEntries(claims.map((each) => [`postern_user_${each}`, "1"]));
  const properties = { virtualNetwork: { id: to }, ...state };
  return {
    id: id(name),
    observation: { state: "exists" as const, resource: { tags, properties } },
  };
}

const failed = { provisioningState: "Failed" };

test.each([
  ["none: created under the first name", [], ["link network first"], ["Creating"]],
  [
    "none, and the first name is taken: created under the second",
    [found("first", elsewhere, [])],
    ["link network second"],
    ["Creating"],
  ],
  [
    "none, and all names are taken: reported",
    [found("first", elsewhere, []), found("second", elsewhere, [])],
    [],
    ["Taken: first and second"],
  ],
  ["ours: good", [found("first", network, ["us"])], [], []],
  ["another's: claimed", [found("x", network, ["them"])], ["claim network link x"], []],
  ["nobody's: used as it is", [found("x", network, [])], [], []],
  [
    "ours, and Azure failed to write it: written again",
    [found("first", network, ["us"], failed)],
    ["update network link first"],
    ["Repairing"],
  ],
  [
    "nobody's, and Azure failed to write it: reported",
    [found("x", network, [], failed)],
    [],
    ["Failed"],
  ],
  [
    "ours, and it does not resolve yet: waited for",
    [found("first", network, ["us"], { virtualNetworkLinkState: "InProgress" })],
    [],
    ["Unresolved"],
  ],
  [
    "of ours to another network: deleted, or given up where others use it",
    [
      found("first", network, ["us"]),
      found("x", elsewhere, ["us"]),
      found("y", elsewhere, ["us", "them"]),
    ],
    ["unlink network x", "release network link y"],
    [],
  ],
])("a link to the network %s", (_what, links, steps, problems) => {
  const part = planLinks({ id: zone, links }, policy);
  expect(part.steps.map((step) => `${step.do} ${step.id.split("/").at(-1)}`)).toEqual(steps);
  expect(part.problems.map(({ reason }) => reason)).toEqual(problems);
});

test("a link that is being changed may be the one that serves: no second one is created", () => {
  const links = [{ id: id("x"), observation: { state: "changing" as const, retryAfterMs: 7_000 } }];
  expect(planLinks({ id: zone, links }, { ...policy, isServed: true })).toEqual({
    steps: [],
    problems: [wordsOf("Changing")],
    requeueMs: 7_000,
  });
});
