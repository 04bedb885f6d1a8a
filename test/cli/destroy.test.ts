import { apiVersions } from "postern/azure/gateways/api-versions.ts";
import { describe, expect, test } from "vitest";
import { hostedClusters } from "../local/running.ts";
import { guests, useCommands } from "./commands.ts";

const on = useCommands();
const slow = 240_000;
const network = "providers/Microsoft.Network";

interface Link {
  status: { privateLinkServiceID: string; privateEndpointID: string };
}
const pathOf = (name: string) =>
  `/apis/hypershift.openshift.io/v1beta1/namespaces/clusters-${name}/azureprivatelinkservices/private-router`;
const linkOf = async (name: string) => (await on.local.kube<Link>("GET", pathOf(name))).body;
const clusterIDOf = async (name: string) => {
  const { body } = await on.local.kube<{ spec: { clusterID: string } }>(
    "GET",
    `${hostedClusters}/${name}`,
  );
  return body.spec.clusterID;
};
const read = (id: string) => on.local.azure(id, apiVersions.network);
const isThere = async (id: string) => (await read(id)).status === 200;

describe("cluster destroy", () => {
  test(
    "reports no success while an endpoint whose tags were replaced is still there",
    async () => {
      const { privateEndpointID: id } = (await linkOf("blue")).status;
      // `az network private-endpoint update --tags team=red` replaces all tags.
      await on.change(id, { ...(await read(id)).body, tags: { team: "red" } });
      // The operator notices, and either restores the tags or creates another endpoint.
      const labels = { changed: "true" };
      await on.local.kube("PATCH", pathOf("blue"), { metadata: { labels } });
      const isNoticed = async () => {
        const { body } = await read(id);
        const { tags = {} } = body as unknown as { tags?: Record<string, string> };
        return "postern_owner" in tags || (await linkOf("blue")).status.privateEndpointID !== id;
      };
      await expect.poll(isNoticed, { timeout: 60_000 }).toBe(true);
      const destroyed = await on.run("cluster", "destroy", "blue");
      const isLeft = await isThere(id);
      expect(destroyed).toMatchObject({ exitCode: isLeft ? 3 : 0, stderr: "" });
      if (!isLeft) return;
      expect(destroyed.stdout).toContain(id);
      expect((await on.run("orphans")).stdout).toContain(id);
    },
    slow,
  );

  test(
    "names what is left under the names and tags of the cluster, and orphans deletes it only where it is named",
    async () => {
      const clusterID = await clusterIDOf("green");
      const { status } = await linkOf("green");
      const inGreen = `${guests}/green/${network}`;
      const [byName, innocent] = [`extra-pe-${clusterID}`, "shop"].map(
        (name) => `${inGreen}/privateEndpoints/${name}`,
      ) as [string, string];
      for (const id of [byName, innocent])
        await on.change(id, {
          location: "westeurope",
          properties: {
            subnet: { id: `${inGreen}/virtualNetworks/green/subnets/workers` },
            manualPrivateLinkServiceConnections: [
              {
                name: "extra",
                properties: { privateLinkServiceId: status.privateLinkServiceID },
              },
            ],
          },
        });
      const byTag = `${inGreen}/privateDnsZones/left.example.com`;
      const tags = { postern_owner: `${clusterID}/gone` };
      await on.change(byTag, { location: "global", tags });
      const destroyed = await on.run("cluster", "destroy", "green");
      expect(destroyed).toMatchObject({ exitCode: 3, stderr: "" });
      expect(destroyed.stdout).toContain(byName);
      expect(destroyed.stdout).toContain(byTag);
      expect(destroyed.stdout).not.toContain(innocent);

      const where = ["--subscription", "bbbbbbbb-0000-4000-8000-000000000000"];
      const deleteAll = ["orphans", "--delete", "--cluster", clusterID, ...where];
      const found = await on.run(...deleteAll);
      expect(found.exitCode).toBe(3);
      expect(found.stdout).toMatch(new RegExp(`by name: .*endpoint +${byName}`, "s"));
      expect(await isThere(byName)).toBe(true);
      const refused = await on.run(...deleteAll, "--resource", innocent);
      expect(refused).toMatchObject({ exitCode: 64 });
      const deleted = await on.run(...deleteAll, "--resource", byName);
      expect(deleted.stdout).toContain(`Deleting endpoint ${byName}`);
      expect([await isThere(byName), await isThere(innocent)]).toEqual([false, true]);
    },
    slow,
  );
});
