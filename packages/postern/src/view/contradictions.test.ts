import type { Picture } from "@postern/core/dashboard/picture.ts";
import { expect, test } from "vitest";
import { contradictedClusters } from "./contradictions.ts";

type State = Picture["nodes"][number]["state"];

function picture(cluster: State, endpoint: State): Picture {
  const node = { facts: {}, label: "", cluster: "a/b" } as const;
  return {
    clusters: [{ key: "a/b", kind: "HostedCluster", access: "Private", state: cluster }],
    nodes: [
      { ...node, id: "1", kind: "cluster", state: cluster },
      { ...node, id: "2", kind: "endpoint", state: endpoint },
    ],
    networks: [],
    lines: [],
    unread: [],
  };
}

test.each([
  ["ok", "absent", true],
  ["ok", "broken", true],
  ["ok", "ok", false],
  // It is under way, waits for a person, or could not be read: no contradiction.
  ["ok", "working", false],
  ["ok", "pending", false],
  ["ok", "unknown", false],
  // The status says already that something is wrong.
  ["broken", "absent", false],
  ["working", "absent", false],
] as const)("a cluster that is %s with an endpoint that is %s: %s", (cluster, endpoint, found) => {
  expect(contradictedClusters(picture(cluster, endpoint))).toEqual(found ? ["a/b"] : []);
});
