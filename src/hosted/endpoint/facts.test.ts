import { expect, test } from "vitest";
import { clusterAnnotation, endpointFinalizer } from "../names.ts";
import { belongingOf, clusterFacts, type Sources } from "./facts.ts";

const none = { byIndex: () => [] };

interface Plane {
  name: string;
  cluster?: string;
  going?: boolean;
}

/** What a link that lost its owner references belongs to, in a namespace with these control planes. */
function belonging(planes: Plane[], { held = true, cluster = "clusters/one" } = {}) {
  const all = planes.map(({ name, cluster: of = "clusters/one", going }) => ({
    metadata: {
      ...{ namespace: "n", name, uid: `uid-${name}`, annotations: { [clusterAnnotation]: of } },
      ...(going && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: { platform: { type: "Azure" } },
  }));
  const sources = {
    controlPlanes: {
      byIndex: () => all,
      get: (key: string) => all.find(({ metadata }) => `n/${metadata.name}` === key),
    },
    clusters: { get: () => undefined },
  } as unknown as Sources;
  const link = {
    metadata: {
      ...{ namespace: "n", name: "private-router", uid: "link" },
      annotations: { [clusterAnnotation]: cluster },
      finalizers: held ? [endpointFinalizer] : [],
    },
    spec: {},
  };
  return belongingOf(link as never, sources);
}

test("a held link that lost its owner references belongs to the only control plane beside it", () => {
  expect(belonging([{ name: "one" }])).toMatchObject({
    owner: { name: "one", uid: "uid-one" },
    controlPlane: { metadata: { name: "one" } },
    going: undefined,
  });
  expect(belonging([{ name: "one", going: true }]).going).toBe("control plane");
});

test.each([
  ["that we never held", [{ name: "one" }], { held: false }],
  ["beside two control planes", [{ name: "one" }, { name: "two" }], {}],
  ["beside the control plane of another cluster", [{ name: "one", cluster: "clusters/two" }], {}],
  ["without any control plane", [], {}],
])("a link without owner references %s belongs to nobody", (_what, planes, over) => {
  expect(belonging(planes, over)).toMatchObject({ owner: undefined, controlPlane: undefined });
});

test.each(["a/b/c", "one", "/one", ""])("the annotation %j names no cluster", (cluster) => {
  const found = belonging([{ name: "one", cluster }], { cluster });
  expect(found).toMatchObject({ clusterKey: undefined, misnamed: true });
  expect(clusterFacts(found, { services: none, clusters: none } as never, undefined)).toMatchObject(
    { hostedCluster: "one", misnamed: true },
  );
});
