import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reasons as ofDns } from "postern/cluster-api/dns/reasons.ts";
import { reasons as ofEndpoints } from "postern/cluster-api/endpoints/claims/reasons.ts";
import { reasons as ofPausing } from "postern/cluster-api/pausing/reasons.ts";
import { reasons as ofPrivateLinks } from "postern/cluster-api/private-links/reasons.ts";
import { problemReasons } from "postern/cluster-api/provider-config/desired/desired.ts";
import { reasons as ofProviderConfig } from "postern/cluster-api/provider-config/reasons.ts";
import { reasons as ofEndpoint } from "postern/hosted/endpoint/reasons.ts";
import { reasons as ofLink } from "postern/hosted/link/reasons.ts";
import { conditions, success } from "postern/hosted/names.ts";
import {
  statusUnknown,
  topologyApplied,
  topologyReasons,
} from "postern/hosted/topology/reasons.ts";
import { withheldReason } from "postern/kube/step-policy.ts";
import { stepReasons } from "postern/kube/step-words.ts";
import { expect, test } from "vitest";

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/conditions.md"), "utf8");

/** The first cells of the tables in the part of the page under a heading. */
function listed(heading: string): string[] {
  const part = page.split(/^#{2,3} /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
  return [...part.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name ?? "").sort();
}

test.each([
  ["On an AzurePrivateLinkService", Object.values(conditions)],
  ["Any controller", [withheldReason]],
  ["link", Object.values(ofLink)],
  ["endpoint", Object.values(ofEndpoint)],
  ["On a HostedCluster", [success, statusUnknown, ...Object.values(topologyReasons)]],
  ["endpoints", Object.values(ofEndpoints)],
  ["private-links", Object.values(ofPrivateLinks)],
  ["dns", Object.values(ofDns)],
  ["On a KubeadmControlPlane", Object.values(ofPausing)],
  ["Events", Object.values(stepReasons)],
  ["On a Cluster", [...Object.values(ofProviderConfig), ...problemReasons]],
])("docs/reference/conditions.md lists what is under %s, and nothing else", (heading, known) => {
  expect(listed(heading)).toEqual([...new Set<string>(known)].sort());
});

test("docs/reference/conditions.md names the condition of the topology", () => {
  expect(page).toContain(`\`${topologyApplied}\``);
});
