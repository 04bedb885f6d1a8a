import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Definition } from "@postern/core/kinds/definition.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { expect, test } from "vitest";
import { json, serve } from "../../../../test/loopback.ts";
import { KubeClient } from "../kube/client.ts";
import { gatherKube } from "./gather.ts";

const all = [hostedCluster, hostedControlPlane, azurePrivateLinkService, azureCluster];
const link = { metadata: { name: "private-router", namespace: "clusters-one" } };

/** What is missed on an API server that serves only these kinds; those in `hasObjects` have an object. */
async function missed(
  served: readonly Definition[],
  { management, hasObjects = [] }: { management?: string; hasObjects?: readonly Definition[] } = {},
): Promise<string[]> {
  const at = (path: string, { group, plural }: Definition) =>
    path.includes(`/${group}/`) && path.includes(`/${plural}`);
  const { url } = await serve(({ url: path }, response) => {
    if (!served.some((kind) => at(path, kind)))
      return json(response, 404, { kind: "Status", message: "not found" });
    const items = hasObjects.some((kind) => at(path, kind)) ? [link] : [];
    json(response, 200, { metadata: { resourceVersion: "1" }, items });
  });
  const proof = async () => ({});
  const kube = new KubeClient({ server: new URL(url), namespace: "", source: "the test", proof });
  const signal = AbortSignal.timeout(20_000);
  const unread: Parameters<typeof gatherKube>[1] = [];
  await gatherKube({ kube, signal, management }, unread);
  return unread.map(
    ({ what, remedy }) => `${what.split(".")[0]}: ${remedy?.split(" ").slice(0, 3).join(" ")}`,
  );
}

test.each<[string, readonly Definition[], Parameters<typeof missed>[1], string[]]>([
  ["everything is served", all, {}, []],
  ["nothing is served", [], {}, ["azureprivatelinkservices: Install it: kubectl"]],
  [
    "the kind of Postern is not served beside hosted clusters",
    [hostedCluster, hostedControlPlane, azureCluster],
    {},
    ["azureprivatelinkservices: Install it: kubectl"],
  ],
  ["only clusters of Cluster API are served", [azureCluster], {}, []],
  [
    "hosted clusters are not served, and there are links",
    [hostedControlPlane, azurePrivateLinkService, azureCluster],
    { hasObjects: [azurePrivateLinkService] },
    ["hostedclusters: Install a release"],
  ],
  [
    "control planes are not served beside hosted clusters",
    [hostedCluster, azurePrivateLinkService],
    {},
    ["hostedcontrolplanes: Install a release"],
  ],
  [
    "clusters of Cluster API are not served, and nobody expects them",
    [hostedCluster, hostedControlPlane, azurePrivateLinkService],
    {},
    [],
  ],
  [
    "clusters of Cluster API are not served, and the operator is set up for them",
    [hostedCluster, hostedControlPlane, azurePrivateLinkService],
    { management: "org/mc" },
    ["azureclusters: Install a release"],
  ],
])("where %s", async (_what, served, given, expected) => {
  expect(await missed(served, given)).toEqual(expected);
});
