import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { parse } from "yaml";
import { testOnReal } from "../../setup/differences.ts";
import { hostedClusterObject } from "./objects.ts";
import { wholeChain } from "./whole-chain.ts";
import { describeHosted } from "./world.ts";

const role = join(import.meta.dirname, "../../../manifests/rbac/hosted.yaml");

describeHosted("the rights in Kubernetes", (start) => {
  testOnReal(
    "no-rbac",
    "are enough for a HostedCluster from its birth to its end",
    async () => {
      const world = await start({ features: wholeChain, user: "alice", stopped: true });
      const rbac = "/apis/rbac.authorization.k8s.io/v1";
      const made = parse(await readFile(role, "utf8")) as { metadata: { name: string } };
      await world.cluster.request("POST", `${rbac}/clusterroles`, made);
      await world.cluster.request("POST", `${rbac}/clusterrolebindings`, {
        metadata: { name: "alice" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", ...made.metadata },
        subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "alice" }],
      });
      // The stand-in for the cloud provider is no part of Postern, and its rights are not in the role.
      await grantServiceStatus(world.cluster.request);
      await world.start();
      await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
      const cluster = await world.make(hostedClusterObject("clusters", "one"));
      const now = () => world.get("HostedCluster", "clusters", "one");
      await world.until("it is not available", async () => {
        const said = world.condition(await now(), "AzurePrivateLinkServiceAvailable");
        return said === "True AzureSuccess";
      });
      await world.remove(cluster);
      await world.until("it is not gone", async () => (await now()) === undefined);
      const refused = await world.cluster.audit(
        ({ user, responseStatus }) => user.username === "alice" && responseStatus?.code === 403,
      );
      expect(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
    },
    90_000,
  );
});

async function grantServiceStatus(
  request: (method: string, path: string, body: unknown) => Promise<unknown>,
): Promise<void> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const rules = [{ apiGroups: [""], resources: ["services/status"], verbs: ["patch"] }];
  await request("POST", `${rbac}/clusterroles`, { metadata: { name: "cloud" }, rules });
  await request("POST", `${rbac}/clusterrolebindings`, {
    metadata: { name: "cloud" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cloud" },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "alice" }],
  });
}
