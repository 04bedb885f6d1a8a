import { idKey, resourceGroupId } from "@postern/core/resource-id.ts";
import { expect, test } from "vitest";
import { fakeArm, refuse } from "../../../../test/azure/fake-arm.ts";
import {
  clusterID,
  cluster as clusterOf,
  guestGroup,
  ids,
  link,
  managementGroup,
} from "../../../../test/cli/one-world.ts";
import { json } from "../../../../test/loopback.ts";
import { annotations } from "../hosted/names.ts";
import { findLeftovers } from "./leftovers.ts";

interface Resource {
  id: string;
  tags?: Record<string, string>;
  properties?: object;
}

const another = "aaaaaaaa-2c1b-4c55-9d0a-0c8f5d3a7e11";
const links = [link()];
const cluster = clusterOf({ infraID: "one-x1" });

/** What is left of the cluster in an Azure that has these resources; lists whose path matches are refused. */
async function leftIn(all: readonly Resource[], refused = /^$/, deleted = { cluster, links }) {
  const { arm } = await fakeArm(({ url }, response) => {
    const path = decodeURIComponent(url.replace(/\?.*/, ""));
    if (refused.test(path)) return refuse(response, 403, "AuthorizationFailed");
    const collection = idKey(path).replace(/\/all$/, "");
    const value = all
      .filter(({ id }) => {
        const rest = idKey(id).slice(collection.length + 1);
        const isRecord = /\/privatednszones\/[^/]+\/(a|aaaa)\//.test(idKey(id));
        if (/\/privatednszones\/[^/]+$/.test(collection) || /\/(all)$/i.test(path))
          return isRecord && idKey(id).startsWith(`${collection}/`);
        return idKey(id).startsWith(`${collection}/`) && !rest.includes("/");
      })
      .map((each) => ({ properties: {}, name: each.id.split("/").at(-1), ...each }));
    json(response, 200, { value });
  });
  const { leftovers, unread } = await findLeftovers(arm, deleted, resourceGroupId("m", "mc"));
  return { found: leftovers.map(({ by, what, id }) => `${by}: ${what} ${id}`), unread };
}

const service = `${managementGroup}/privateLinkServices/pls-${clusterID}`;
const oauth = `${managementGroup}/privateLinkServices/pls-oauth-openshift-${clusterID}`;
const endpoint = `${guestGroup}/privateEndpoints/private-router-pe-${clusterID}`;

test("a cluster that left nothing has no leftovers", async () => {
  expect(await leftIn([{ id: ids.guest }, { id: ids.balancer }])).toEqual({
    found: [],
    unread: [],
  });
});

test("what lost its tags is found under the computed names of the cluster", async () => {
  const tags = { team: "red" };
  const nat = { id: `${ids.home}/subnets/one-x1-pls-nat`, name: "one-x1-pls-nat" };
  const found = [service, oauth, endpoint, ids.endpoint, ids.zone].map((id) => ({ id, tags }));
  const networks = [{ id: ids.home, properties: { subnets: [nat, { id: ids.nat }] } }];
  const left = await leftIn([...found, ...networks]);
  expect(left.found.sort()).toEqual(
    [
      `name: link service ${service}`,
      `name: link service ${oauth}`,
      `name: endpoint ${endpoint}`,
      `name: endpoint ${ids.endpoint}`,
      `name: zone ${ids.zone}`,
      `name: NAT subnet ${nat.id}`,
    ].sort(),
  );
});

test("what carries the tags of the cluster is found under any name", async () => {
  const owner = { postern_owner: `${clusterID.toUpperCase()}/u-link` };
  const claim = { [`postern_user_${clusterID}`]: "u-plane" };
  const odd = `${managementGroup}/privateLinkServices/odd`;
  const base = `${guestGroup}/privateDnsZones/example.com`;
  const left = await leftIn([
    { id: odd, tags: owner },
    { id: base, tags: claim },
    { id: ids.endpoint, tags: { "kubernetes.io_cluster_one": "owned" } },
  ]);
  expect(left.found.sort()).toEqual(
    [`tag: link service ${odd}`, `tag: zone ${base}`, `tag: endpoint ${ids.endpoint}`].sort(),
  );
});

test.each([
  ["an endpoint of a cluster that shares the group", { postern_owner: `${another}/u` }],
  ["an endpoint of a HyperShift cluster in the group", { "kubernetes.io_cluster_two": "owned" }],
])("%s is not a leftover", async (_what, tags) => {
  expect((await leftIn([{ id: ids.endpoint, tags }])).found).toEqual([]);
});

test("a zone that the cluster was given is not a leftover", async () => {
  const given = {
    ...cluster,
    metadata: { ...cluster.metadata, annotations: { [annotations.internalZone]: ids.zone } },
  };
  expect((await leftIn([{ id: ids.zone }], /^$/, { cluster: given, links })).found).toEqual([]);
});

test("what could not be searched is said, and the rest is searched", async () => {
  const { found, unread } = await leftIn([{ id: service }, { id: endpoint }], /privateEndpoints$/);
  expect(found).toEqual([`name: link service ${service}`]);
  expect(unread.map(({ what }) => what)).toContain(`endpoints in ${guestGroup.split("/prov")[0]}`);
});
