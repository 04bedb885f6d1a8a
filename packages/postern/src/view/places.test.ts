import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { expect, test } from "vitest";
import { unreadIn } from "./gather.ts";
import { unreadOf } from "./places.ts";
import type { World } from "./world.ts";

const cluster = (name: string, subscriptionID: string) =>
  ({
    metadata: { namespace: "clusters", name },
    spec: { platform: { type: "Azure", azure: { subscriptionID, resourceGroup: name } } },
  }) as HostedCluster;
const group = (subscription: string, name: string) =>
  `/subscriptions/${subscription}/resourcegroups/${name}`;
const kinds = { what: "hostedcontrolplanes", why: "no", type: "hostedcontrolplanes" };
const own = unreadIn("networks", group("s", "Blue"), "no");
const zone = `${group("s", "blue")}/providers/Microsoft.Network/privateDnsZones/z`;
const inOwn = unreadIn("records", zone, "no");
const similar = unreadIn("networks", group("s", "blue2"), "no");
const foreign = unreadIn("networks", group("t", "nosuch"), "no");
const world: Pick<World, "kube" | "unread"> = {
  kube: {
    hostedClusters: [cluster("blue", "s"), cluster("blue2", "s"), cluster("nosuch", "t")],
    controlPlanes: [],
    links: [],
    azureClusters: [],
  },
  unread: [kinds, own, inOwn, similar, foreign],
};

test("what could not be read concerns a cluster where its own objects name the place", () => {
  expect(unreadOf("clusters/blue", world, false)).toEqual([kinds, own, inOwn]);
  expect(unreadOf("clusters/nosuch", world, false)).toEqual([kinds, foreign]);
});

test("what could not be read elsewhere concerns a cluster while something of it is unknown", () => {
  expect(unreadOf("clusters/blue", world, true)).toEqual(world.unread);
});
