import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { azFor, kubectlFor } from "./commands.ts";
import type { Node } from "./types.ts";

const node = (over: Partial<Node>): Node => ({
  id: "n",
  kind: "endpoint",
  label: "l",
  state: "absent",
  facts: {},
  ...over,
});

/** The words that a shell reads, with nothing run. */
const wordsOf = (command: string) =>
  execFileSync("/bin/sh", ["-c", `printf '%s\\n' ${command}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");

test("attack: a cluster asks for an endpoint whose id is a command, and the copied text does not run it", () => {
  const azureId = "/subscriptions/$(echo ran)/resourceGroups/`echo ran`/x/y";
  expect(wordsOf(azFor(node({ azureId })) ?? "").slice(-2)).toEqual(["--ids", azureId]);
  const record = node({ kind: "record", azureId: "/a/$(echo ran)/b" });
  expect(wordsOf(azFor(record) ?? "").slice(3, 5)).toEqual(["record-set", "$(echo ran)"]);
});

test("attack: names of objects are commands, and the copied text does not run them", () => {
  const object = "Kind a$(ran)/b`ran`";
  const facts = { service: "$(echo ran)" };
  const balancer = node({ kind: "load-balancer", object, facts });
  const page = { picture: { nodes: [balancer] }, conditions: [] };
  expect(kubectlFor(balancer, page).map(wordsOf)).toEqual([
    ["kubectl", "describe", "service", "$(echo ran)", "-n", "a$(ran)"],
    ["kubectl", "describe", "kind", "b`ran`", "-n", "a$(ran)"],
  ]);
});

test("plain ids and names are not quoted", () => {
  const azureId = "/subscriptions/s/resourceGroups/g/providers/p/privateEndpoints/e";
  expect(azFor(node({ azureId }))).toBe(`az network private-endpoint show --ids ${azureId}`);
  expect(azFor(node({}))).toBeUndefined();
});
