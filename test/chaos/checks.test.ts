import { expect, test } from "vitest";
import { writesOfTwo } from "./checks.ts";
import type { LeaseWrite } from "./kubernetes-proxy.ts";

const lease = "default/postern-operator";
const leases = (...all: [at: number, holder: string][]): LeaseWrite[] =>
  all.map(([at, name]) => ({ at, lease, holder: name && `${name}_0f0f0f0f` }));
const writes = (...all: [at: number, by: string][]) =>
  all.map(([at, by]) => ({ at, by, what: "PUT /x 200" }));

test("leaders that take turns are no two leaders", () => {
  const held = leases([0, "operator-a"], [1_000, "operator-b"], [2_000, ""], [3_000, "operator-a"]);
  const done = writes([10, "operator-a"], [1_010, "operator-b"], [3_010, "operator-a"]);
  expect(writesOfTwo(done, held)).toEqual([]);
});

test("a write of the one before, after the next one has written, is found", () => {
  const held = leases([0, "operator-a"], [1_000, "operator-b"]);
  const done = writes([10, "operator-a"], [1_010, "operator-b"], [1_500, "operator-a"]);
  expect(writesOfTwo(done, held)).toHaveLength(1);
});

test("a write before the Lease is held is found", () => {
  const held = leases([0, "operator-a"], [1_000, "operator-b"]);
  expect(writesOfTwo(writes([10, "operator-b"]), held)).toHaveLength(1);
});

test("those who hold another Lease may write meanwhile", () => {
  const held = [
    ...leases([0, "operator-a"]),
    { at: 0, lease: "default/postern-cluster-api", holder: "cluster-api-b_00000000" },
  ];
  const done = writes([10, "operator-a"], [20, "cluster-api-b"], [30, "operator-a"]);
  expect(writesOfTwo(done, held)).toEqual([]);
});
