import type { HealthCondition } from "@postern/core/health.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { expect, test } from "vitest";
import {
  address,
  balancer,
  cluster,
  clusterID,
  endpointOf,
  ids,
  link,
  type Over,
  oneWorld,
  service,
  zoneOf,
} from "../../../../../test/cli/one-world.ts";
import { conditions } from "../../hosted/names.ts";
import { contradictedClusters } from "../contradictions.ts";
import { unreadIn } from "../gather.ts";
import { pictureOf } from "../picture.ts";
import { unservedKind } from "../unserved-kinds.ts";
import type { World } from "../world.ts";

const observedAt = "2026-03-01T12:00:00Z";
const minuteAgo = "2026-03-01T11:59:00Z";

type Reported = [type: string, status: HealthCondition["status"], reason: string, message?: string];

/** A world in which the cluster and its link have these conditions. */
function world(reported: readonly Reported[], over: Over = {}, more: Partial<World> = {}): World {
  const all = reported.map(([type, status, reason, message = reason]) => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime: minuteAgo,
  }));
  const hosted = { ...cluster(), status: { conditions: all } } as never;
  const made = oneWorld({
    ...over,
    kube: {
      hostedClusters: [hosted],
      links: [link({ status: { conditions: all } })],
      ...over.kube,
    },
  });
  return { ...made, observedAt, ...more };
}

const success = Object.values(conditions).map((type): Reported => [type, "True", "AzureSuccess"]);
const creating: Reported[] = [
  [conditions.available, "False", "PrivateEndpointCreating", "the endpoint is being created"],
  [conditions.endpoint, "False", "PrivateEndpointCreating", "the endpoint is being created"],
];
const without = { azure: { endpoints: [], interfaces: [], zones: [] } };
const endpoint = (status: string) => ({
  azure: endpointOf({ id: ids.endpoint, subnet: ids.workers, address, status }),
});
const provisioned = (provisioningState: string) => ({
  azure: { linkServices: [service({ provisioningState })] },
});
const deletedEndpoint = () => {
  const { endpoints, interfaces } = endpointOf({
    id: ids.endpoint,
    subnet: ids.workers,
    address,
  });
  const [made] = endpoints;
  const properties = { ...made?.properties, provisioningState: "Deleting" };
  return { azure: { endpoints: [{ ...made, properties }] as typeof endpoints, interfaces } };
};
const metadata = { postern_owner: `${clusterID}/u-link` };
const createdEndpoint = () => {
  const { endpoints, interfaces } = endpointOf({ id: ids.endpoint, subnet: ids.workers, address });
  const [made] = endpoints;
  const properties = { ...made?.properties, provisioningState: "Updating" };
  return { azure: { endpoints: [{ ...made, properties }] as typeof endpoints, interfaces } };
};
const records = (api: string, apps: string) => {
  const zone = zoneOf(ids.zone, [ids.guest], { api, "*.apps": apps });
  const own = zone.records.map((each) => ({
    ...each,
    properties: { ...each.properties, metadata },
  }));
  return { azure: { zones: [{ ...zone, records: own }] } } as Over;
};
const unreadable: Over = {
  azure: { ...without.azure, linkServices: [], loadBalancers: [] },
  unread: ["load balancers", "link services", "endpoints", "private zones"].map((what) =>
    unreadIn(what, "/subscriptions/g", "no right"),
  ),
};
const forbidden = "cannot read privateLinkServices · the client lacks the action · grant the role";

test.each<[string, World, string, RegExp | undefined]>([
  ["is as its conditions say", world(success), "Healthy", undefined],
  // Picture 1: the endpoint is deleted, and every condition is True.
  [
    "has lost its endpoint, and its conditions do not say so yet",
    world(success, without),
    "Unavailable",
    /^Private endpoint private-router-pe does not exist in Azure\. .*creates what it owns again/,
  ],
  [
    "has an endpoint that somebody deletes",
    world(success, deletedEndpoint()),
    "Unavailable",
    /private-router-pe is being deleted in Azure\. Postern recreates it/,
  ],
  [
    "has an endpoint that is created again, and its conditions are those of the old one",
    world(success, createdEndpoint()),
    "Progressing",
    /private-router-pe is being created or updated in Azure/,
  ],
  // Picture 2: the connection is rejected, and every condition is True.
  [
    "has a rejected connection",
    world(success, endpoint("Rejected")),
    "Unavailable",
    /^The owner of the link service rejected the connection .*then delete the private endpoint/,
  ],
  [
    "has a rejected connection, which its conditions take for a creation",
    world(creating, endpoint("Rejected")),
    "Unavailable",
    /rejected the connection/,
  ],
  [
    "has an ended connection",
    world(success, endpoint("Disconnected")),
    "Unavailable",
    /ended the connection/,
  ],
  // Picture 3: a 403 beside a deletion that waits.
  [
    "waits for a deletion, while a read is forbidden",
    world([
      [conditions.available, "False", "Deleting", "waiting for the deletion of zone a"],
      [conditions.link, "False", "AzureError", forbidden],
    ]),
    "Unavailable",
    /^Cannot read privateLinkServices\. The client lacks the action\. Grant the role\.$/,
  ],
  [
    "is available, while a read is forbidden",
    world([
      ...success.filter(([type]) => type !== conditions.link),
      [conditions.link, "False", "AzureError", forbidden],
    ]),
    "Degraded",
    /^Cannot read privateLinkServices/,
  ],
  [
    "is reported as failed only because the operator may not read Azure, which shows that it serves",
    world([
      ...success.filter(([type]) => type !== conditions.link && type !== conditions.available),
      [conditions.link, "False", "AzureError", forbidden],
      [conditions.available, "False", "AzureError", forbidden],
    ]),
    "Degraded",
    /^Cannot read privateLinkServices\. The client lacks the action\. Grant the role\.$/,
  ],
  [
    "is reported as failed only because the operator may not list load balancers",
    world([
      [conditions.loadBalancer, "False", "ILBLookupFailed", forbidden],
      [conditions.available, "False", "ILBLookupFailed", forbidden],
    ]),
    "Degraded",
    /^Cannot read/,
  ],
  [
    "has lost its endpoint, while the operator may not read Azure",
    world([[conditions.available, "False", "AzureError", forbidden]], without),
    "Unavailable",
    /^Cannot read/,
  ],
  // Picture 4: it is being created, and nothing of it exists.
  ["is being created", world(creating, without), "Progressing", /endpoint is being created/],
  [
    "is being created, and no machine is behind its load balancer yet",
    world(creating, {
      azure: {
        ...without.azure,
        loadBalancers: [balancer({ properties: { backendAddressPools: [] } })],
      },
    }),
    "Progressing",
    /being created/,
  ],
  [
    "has a link service that is updated",
    world(success, provisioned("Updating")),
    "Healthy",
    undefined,
  ],
  [
    "has a link service that failed",
    world(success, provisioned("Failed")),
    "Unavailable",
    /^Link service pls-one failed in Azure: provisioning state Failed/,
  ],
  [
    "has lost every machine behind its load balancer",
    world(success, {
      azure: {
        loadBalancers: [
          balancer({
            properties: {
              backendAddressPools: [
                {
                  id: `${ids.balancer}/backendAddressPools/kubernetes`,
                  name: "kubernetes",
                  properties: {},
                },
              ],
            },
          }),
        ],
      },
    }),
    "Unavailable",
    /^Backend pool kubernetes has no machines/,
  ],
  [
    "waits for an approval although it was available",
    world(success, endpoint("Pending")),
    "Unavailable",
    /waits for approval .*postern approve clusters\/one$/,
  ],
  [
    "has one wrong record of several",
    world(success, records("192.168.0.99", address)),
    "Degraded",
    /^DNS record api\.one\.hypershift\.local: .*192\.168\.0\.99/,
  ],
  [
    "has only wrong records",
    world(success, records("192.168.0.99", "192.168.0.98")),
    "Unavailable",
    /^DNS record/,
  ],
  [
    "has a zone that is not linked to its network",
    world(success, { azure: { zones: [zoneOf(ids.zone, [ids.home], { api: address })] } }),
    "Unavailable",
    /^Private DNS zone one\.hypershift\.local: the zone is not linked/,
  ],
  // Nothing but its conditions is known, and they are as new as the operator.
  [
    "lies where Azure cannot be read, and has an operator",
    world(success, unreadable, { operator: { state: "leads", holder: "pod-1" } }),
    "Healthy",
    undefined,
  ],
  [
    "lies where Azure cannot be read, and of which nobody knows whether it has an operator",
    world(success, unreadable),
    "Unknown",
    /^Load balancer \S+ could not be read in Azure, and it is not known.* out of date\. .*postern permissions$/,
  ],
  [
    "lies where Azure cannot be read, and is reported as failed",
    world([[conditions.available, "False", "AzureError", forbidden]], unreadable),
    "Unavailable",
    /^Cannot read/,
  ],
  // The operator is gone: its conditions are as old as that.
  [
    "has conditions of an operator that is gone",
    world(success, {}, { operator: { state: "lost", since: minuteAgo, holder: "pod-1" } }),
    "Unknown",
    /^No operator is running \(the last one was pod-1\).*postern doctor/,
  ],
  [
    "has lost its endpoint, and nobody repairs it",
    world(success, without, { operator: { state: "lost" } }),
    "Unavailable",
    /does not exist/,
  ],
  [
    "is available by its conditions, and has links of a kind that is not served",
    world(success, { unread: [unservedKind(azurePrivateLinkService)] }),
    "Unknown",
    /^The API server does not serve AzurePrivateLinkService .*Install it: kubectl apply -f manifests\/crds/,
  ],
  [
    "is new",
    {
      ...oneWorld({
        kube: {
          hostedClusters: [
            {
              ...cluster(),
              metadata: {
                ...cluster().metadata,
                creationTimestamp: minuteAgo.replace("00Z", "30Z"),
              },
              status: {},
            } as never,
          ],
          links: [],
        },
      }),
      observedAt,
    },
    "Progressing",
    /has not reported/,
  ],
])("a cluster that %s", (_what, observed, health, headline) => {
  const picture = pictureOf(observed);
  const [summary] = picture.clusters;
  const [cause] = summary?.causes ?? [];
  expect(summary?.health).toBe(health);
  if (headline) expect(`${cause?.message} ${cause?.remedy ?? ""}`.trim()).toMatch(headline);
  else expect(cause).toBeUndefined();
  // The node of the cluster says the same as its summary, and an observed break requests a reconcile.
  expect(picture.nodes.find(({ kind }) => kind === "cluster")?.health).toBe(health);
  const isReported = summary?.causes.some(({ about }) =>
    Object.values(conditions).some((type) => type === about),
  );
  if (health === "Unavailable" && !isReported && observed.operator === undefined)
    expect(contradictedClusters(picture)).toEqual(["clusters/one"]);
});

test.each([
  ["of an earlier release", "rejected · not ours · ask its owner, then delete it"],
  ["in sentences", "Rejected. Not ours. Ask its owner, then delete it."],
])("a message %s is shown as sentences, with what to do by itself", (_what, text) => {
  const [cause] =
    pictureOf(world([[conditions.available, "False", "X", text]])).clusters[0]?.causes ?? [];
  expect(cause?.message).toBe("Rejected. Not ours.");
  expect(cause?.remedy).toBe("Ask its owner, then delete it.");
});

test("a message of another that says nothing of what to do is shown as it is", () => {
  const text = "The update of v1.2 failed: see x/y; the delete is waiting.";
  const [cause] =
    pictureOf(world([[conditions.available, "False", "X", text]])).clusters[0]?.causes ?? [];
  expect(cause?.message).toBe(text);
  expect(cause?.remedy).toBeUndefined();
});

test("a rejection whose endpoint was deleted requests a reconcile, and one that lasts requests none", () => {
  const rejected = success.map(
    ([type]): Reported =>
      type === conditions.endpoint || type === conditions.available
        ? [type, "False", "PrivateEndpointConnectionRejected", "the owner rejected it"]
        : [type, "True", "AzureSuccess"],
  );
  const contradicted = (over: Over, more: Partial<World> = {}) =>
    contradictedClusters(pictureOf(world(rejected, over, more)));
  expect(contradicted(without)).toEqual(["clusters/one"]);
  expect(contradicted(endpoint("Approved"))).toEqual(["clusters/one"]);
  expect(contradicted(endpoint("Rejected"))).toEqual([]);
  // Where endpoints cannot be read, nobody knows that it was deleted.
  const [, , subscription = ""] = ids.endpoint.split("/");
  const unread = [unreadIn("endpoints", subscription, "no role")];
  expect(contradicted(without, { unread })).toEqual([]);
});

test("a cluster that is being deleted is in progress, and a 403 that stops it needs attention", () => {
  const deleted = (reported: Reported[]) => {
    const made = world(reported, without);
    const [hosted] = made.kube.hostedClusters;
    const metadata = { ...hosted?.metadata, deletionTimestamp: minuteAgo };
    const kube = { ...made.kube, hostedClusters: [{ ...hosted, metadata } as never] };
    return pictureOf({ ...made, kube }).clusters[0];
  };
  const waiting: Reported = [conditions.available, "False", "Deleting", "waiting for zone a"];
  expect(deleted([waiting])?.health).toBe("Progressing");
  const stopped = deleted([waiting, [conditions.link, "False", "AzureError", forbidden]]);
  expect([stopped?.health, stopped?.causes[0]?.reason]).toEqual(["Degraded", "AzureError"]);
  // Its conditions may be those of before, or gone.
  for (const reported of [success, []]) {
    const { health, causes = [] } = deleted(reported) ?? {};
    expect([health, causes]).toEqual([
      "Progressing",
      [expect.objectContaining({ reason: "Deleting", since: minuteAgo })],
    ]);
  }
});
