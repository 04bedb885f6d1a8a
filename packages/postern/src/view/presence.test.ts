import { expect, test } from "vitest";
import type { LeaseObject } from "../kube/lease.ts";
import { presenceByLeases } from "./presence.ts";

const now = new Date("2026-03-01T12:00:00Z");
const lease = (name: string, holderIdentity: string, secondsAgo: number): LeaseObject => ({
  metadata: { name, namespace: "postern" },
  spec: {
    holderIdentity,
    leaseDurationSeconds: 15,
    renewTime: new Date(now.getTime() - secondsAgo * 1_000).toISOString(),
  },
});

test.each<[string, LeaseObject[], object]>([
  ["nobody has ever held one", [], { state: "unknown" }],
  ["it is renewed", [lease("postern-operator", "a", 2)], { state: "leads", holder: "a" }],
  [
    "it is not renewed any more",
    [lease("postern-operator", "a", 16)],
    { state: "lost", holder: "a", since: "2026-03-01T11:59:44.000Z" },
  ],
  [
    "its holder has released it",
    [lease("postern-operator", "", 2)],
    { state: "lost", since: "2026-03-01T11:59:58.000Z" },
  ],
  [
    "one of two is renewed",
    [lease("postern-cluster-api", "a", 600), lease("postern-operator", "b", 2)],
    { state: "leads", holder: "b" },
  ],
  [
    "the last renewal counts",
    [lease("postern-cluster-api", "a", 600), lease("postern-operator", "b", 60)],
    { state: "lost", holder: "b", since: "2026-03-01T11:59:00.000Z" },
  ],
])("by the Leases, %s", (_what, leases, presence) => {
  expect(presenceByLeases(leases, now)).toEqual(presence);
});
