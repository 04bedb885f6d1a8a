import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reasons as ofDns } from "../../src/capi/dns/reasons.ts";
import { reasons as ofEndpoints } from "../../src/capi/endpoints/reasons.ts";
import { reasons as ofPausing } from "../../src/capi/pausing/plan.ts";
import { reasons as ofProviderConfig } from "../../src/capi/provider-config/plan.ts";
import { troubles } from "../../src/capi/provider-config/wanted.ts";
import { reasons as ofRealise } from "../../src/capi/realise/reasons.ts";
import { reasons as ofEndpoint } from "../../src/hosted/endpoint/reasons.ts";
import { reasons as ofLink } from "../../src/hosted/link/reasons.ts";
import { conditions, success } from "../../src/hosted/names.ts";
import {
  statusUnknown,
  topologyApplied,
  topologyReasons,
} from "../../src/hosted/topology/reasons.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/conditions.md"), "utf8");

/** The first cells of the tables in the part of the page under a heading. */
function listed(heading: string): string[] {
  const part = page.split(/^#{2,3} /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
  return [...part.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name ?? "").sort();
}

test.each([
  ["On an AzurePrivateLinkService", Object.values(conditions)],
  ["link", Object.values(ofLink)],
  ["endpoint", Object.values(ofEndpoint)],
  ["On a HostedCluster", [success, statusUnknown, ...Object.values(topologyReasons)]],
  ["endpoints", Object.values(ofEndpoints)],
  ["realise", Object.values(ofRealise)],
  ["dns", Object.values(ofDns)],
  ["On a KubeadmControlPlane", Object.values(ofPausing)],
  ["On a Cluster", [...Object.values(ofProviderConfig), ...troubles]],
])("docs/reference/conditions.md lists what is under %s, and nothing else", (heading, known) => {
  expect(listed(heading)).toEqual([...new Set<string>(known)].sort());
});

test("docs/reference/conditions.md names the condition of the topology", () => {
  expect(page).toContain(`\`${topologyApplied}\``);
});
