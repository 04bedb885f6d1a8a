import { keyOf } from "@postern/core/kind.ts";
import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import { idKey } from "@postern/core/resource-id.ts";
import { expect, test } from "vitest";
import {
  endpointIn,
  groupPath,
  idOf,
  management,
  managementKey,
  managementSubscription,
  PaperClusters,
  type Shape,
  workload,
  workloadSubscription,
} from "../../../../../test/cluster-api/paper-clusters.ts";
import { fc } from "../../../../../test/setup/random.ts";
import { connectionsOf, type PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import { annotations } from "../names.ts";
import { privateLinksOf } from "../requested-links.ts";
import { serviceOf } from "./claims/desired.ts";

/** Names that begin with each other, groups and subscriptions that are shared. */
const names = ["wc", "wc1", "wc10", "wc1-api"] as const;
const shape = fc.record({
  name: fc.constantFrom(...names),
  namespace: fc.constantFrom("org-a", "org-b"),
  group: fc.constantFrom(undefined, "shared", "SHARED", "wc1"),
  subscription: fc.constantFrom(workloadSubscription, managementSubscription),
  type: fc.constantFrom("Internal", "Internal", "Internal", "Public", null),
  ready: fc.boolean(),
  links: fc.constantFrom("own", "own", "none", "two", "common", "forbidden", "by hand"),
  paused: fc.constantFrom(false, false, false, true),
  created: fc.constantFrom("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
});
type Drawn = typeof shape extends fc.Arbitrary<infer T> ? T : never;

function drawn(of: Drawn): Shape {
  const { name, namespace, group, subscription, type, created } = of;
  const own = { name: `${name}-api-privatelink` };
  const links = {
    own: [own],
    none: [],
    two: [own, { name: `${name}-second` }],
    common: [{ name: "common" }],
    forbidden: [{ ...own, allowed: ["nobody"] }],
    "by hand": [{ ...own, approved: [] }],
  }[of.links];
  return {
    name,
    namespace,
    subscription,
    type,
    created,
    ...(group !== undefined && { group }),
    links: type === "Internal" ? links : [],
    linksReady: of.ready ? "True" : "False",
    annotations: of.paused ? { "cluster.x-k8s.io/paused": "true" } : {},
  };
}

/** What others have in the management cluster's subnet: whatever it leads to, under names that are not ours. */
const foreign = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("mine", "wc1-privateendpoint", "wc10-api-privatelink-privateendpoint2"),
    group: fc.constantFrom("wc", "wc1", "shared", "data"),
  }),
  { selector: ({ name }) => name, maxLength: 3 },
);

const world = fc.record({
  clusters: fc.uniqueArray(shape, {
    selector: ({ name, namespace }) => `${namespace}/${name}`,
    minLength: 2,
    maxLength: 6,
  }),
  foreign,
  private: fc.boolean(),
  capz: fc.constantFrom("stock", "deleting" as const),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

function foreignEndpoint({ name, group }: World["foreign"][number]): PrivateEndpointSpec {
  const service = `/subscriptions/${workloadSubscription}/resourceGroups/${group}/providers/Microsoft.Network/privateLinkServices/theirs`;
  return { name, privateLinkServiceConnections: [{ name, privateLinkServiceID: service }] };
}

function isOwned(of: World): PaperClusters {
  const endpoints = of.foreign.map(foreignEndpoint);
  const type = of.private ? "Internal" : "Public";
  const paper = new PaperClusters(
    management({ endpoints, type }),
    ...of.clusters.map((each) => workload(drawn(each))),
  );
  paper.capz = of.capz;
  return paper;
}

const linkServiceIn = (group: string, name: string) =>
  `${group}/providers/Microsoft.Network/privateLinkServices/${name}`;
const keysOf = (of: World) => of.clusters.map((each) => keyOf({ metadata: each }));
const runs = { numRuns: 300 };

test("law 1: everything comes to rest, and at rest nothing is written", () => {
  fc.assert(
    fc.property(world, (of) => {
      const paper = isOwned(of);
      paper.settle();
      const { writes } = paper;
      const before = JSON.stringify([...paper.objects]);
      paper.reconcile(600_000);
      paper.settle();
      expect(paper.writes).toBe(writes);
      expect(JSON.stringify([...paper.objects])).toBe(before);
    }),
    runs,
  );
});

test("law 2: when clusters go, nothing of theirs is left, and everything of the others is", () => {
  fc.assert(
    fc.property(world, fc.array(fc.nat(5), { minLength: 1, maxLength: 3 }), (of, picks) => {
      const paper = isOwned(of);
      paper.settle();
      const keys = keysOf(of);
      const deletion = new Set(picks.map((n) => keys[n % keys.length] ?? ""));
      for (const key of deletion) {
        const { metadata } = paper.get(key);
        // One that is paused is not let go before the pause ends.
        delete metadata.annotations?.["cluster.x-k8s.io/paused"];
        metadata.deletionTimestamp = "2026-02-01T00:00:00Z";
      }
      const staying = keys.filter((key) => !deletion.has(key));
      paper.settle();
      for (const key of deletion) expect(paper.objects.has(key)).toBe(false);
      // What would be there if those that went had never been is there.
      const never = isOwned({
        ...of,
        clusters: of.clusters.filter((each) => staying.includes(keyOf({ metadata: each }))),
      });
      never.settle();
      const services = (of: PaperClusters) =>
        of
          .endpointsOf(managementKey)
          .map((each) => `${each.name} ${serviceOf(each)}`.toLowerCase());
      expect(services(paper)).toEqual(expect.arrayContaining(services(never)));
      // And nothing else but what leads to a link of somebody who stays.
      const linksOf = (key: string) =>
        (paper.get(key).spec.networkSpec?.apiServerLB?.privateLinks ?? []).map(({ name }) =>
          `${groupPath(paper.get(key))}/${name}`.toLowerCase(),
        );
      const known = new Set(staying.flatMap(linksOf));
      const isForeign = (name: string) => of.foreign.some((each) => each.name === name);
      for (const each of paper.endpointsOf(managementKey).filter(({ name }) => !isForeign(name)))
        expect(known).toContain(
          serviceOf(each)
            .toLowerCase()
            .replace("/providers/microsoft.network/privatelinkservices/", "/"),
        );
      const inGroup = [...paper.azure.keys()].filter((id) => id.includes("/resourcegroups/mc/"));
      const requested = paper.endpointsOf(managementKey).map(({ name }) => name.toLowerCase());
      expect(inGroup.map((id) => id.split("/").at(-1)).sort()).toEqual(requested.sort());
    }),
    runs,
  );
});

test("law 3: what others have in the subnet and in Azure is never touched", () => {
  fc.assert(
    fc.property(world, (of) => {
      const paper = isOwned(of);
      const group = groupPath(paper.get(managementKey));
      const [foreign] = of.foreign.map(foreignEndpoint);
      const id = idOf(group, "by-hand");
      if (foreign)
        paper.azure.set(id, { ...endpointIn(id, paper.get(managementKey), foreign), tags: {} });
      const before = JSON.stringify(paper.azure.get(id));
      paper.settle();
      for (const key of keysOf(of))
        paper.get(key).metadata.deletionTimestamp = "2026-02-01T00:00:00Z";
      paper.settle();
      expect(paper.endpointsOf(managementKey)).toEqual(
        expect.arrayContaining(of.foreign.map(foreignEndpoint)),
      );
      expect(JSON.stringify(paper.azure.get(id))).toBe(before);
    }),
    runs,
  );
});

/** Whether one could connect through an endpoint, and where it leads. */
function stateOf({ properties }: PrivateEndpoint): string {
  const [connection] = connectionsOf({ properties });
  const { privateLinkServiceId, privateLinkServiceConnectionState } = connection?.properties ?? {};
  return `${privateLinkServiceConnectionState?.status} ${idKey(privateLinkServiceId ?? "")}`;
}

test("law 5: an address is published only where the endpoint leads to this very cluster and is approved", () => {
  fc.assert(
    fc.property(world, (of) => {
      const paper = isOwned(of);
      const ids: string[] = [];
      paper.addressFor = (id) => `10.1.0.${ids.push(id)}`;
      paper.settle();
      const idAt = (address: string) => ids[Number(address.split(".").at(-1)) - 1] ?? "";
      const endpointAt = (address: string) => paper.azure.get(idAt(address)) as PrivateEndpoint;
      const services = (group: string, ...links: string[]) =>
        links.map((name) => `Approved ${idKey(linkServiceIn(group, name))}`);
      const publishers = new Set<string>();
      for (const key of keysOf(of)) {
        const cluster = paper.get(key);
        const { links } = privateLinksOf(cluster);
        const address = cluster.metadata.annotations?.[annotations.apiServerAddress];
        if (address !== undefined) {
          expect(idAt(address)).toContain("/resourcegroups/mc/");
          const names = links.map(({ name }) => name);
          expect(services(groupPath(cluster), ...names)).toContain(stateOf(endpointAt(address)));
          // Two clusters of one group may have a link of one name: it is one's alone.
          expect(publishers).not.toContain(address);
          publishers.add(address);
        }
        const back = cluster.metadata.annotations?.[annotations.managementAddress];
        if (back !== undefined) {
          const group = groupPath(paper.get(managementKey));
          expect(idAt(back)).toBe(
            idOf(groupPath(cluster), `${cluster.metadata.name}-to-mc-gateway-privateendpoint`),
          );
          expect([stateOf(endpointAt(back))]).toEqual(services(group, "mc-gateway-privatelink"));
        }
        const ready = cluster.status?.conditions?.find(
          (each) => each.type === "GSPrivateLinksReady",
        );
        if (ready?.status === "True" && links.length > 0) expect(address).toBeDefined();
      }
    }),
    runs,
  );
});
