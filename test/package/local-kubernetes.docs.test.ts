import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { apiVersionOf } from "@postern/kubernetes-embedded/conversion.ts";
import { builtIns } from "@postern/kubernetes-embedded/kinds/built-ins.ts";
import { expect, test } from "vitest";
import { listedDifferences } from "../setup/differences.ts";
import { root } from "./run-bin.ts";

/** The ids that tests name, each with what it is named by. */
function namedInTests(): Map<string, string> {
  const named = new Map<string, string>();
  for (const folder of ["test/kubernetes", "test/system"])
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith(".test.ts")) continue;
      const text = readFileSync(join(root, folder, file), "utf8");
      for (const [, by = "", id = ""] of text.matchAll(
        /\b(differs|testOnReal)\(\s*"([a-z0-9-]+)"/g,
      ))
        named.set(id, by);
    }
  return named;
}

test("each difference that the page of the embedded API lists has a case, and each case its row", () => {
  const listed = listedDifferences().map(({ id }) => id);
  expect(listed.toSorted()).toEqual([...namedInTests().keys()].toSorted());
  expect(new Set(listed).size).toBe(listed.length);
});

test("the page of the embedded API lists the kinds that it has by itself", () => {
  const page = readFileSync(join(root, "docs/reference/local-kubernetes.md"), "utf8");
  const rows = page.matchAll(/^\| ([A-Z][\w, ]+) \| ((?:[a-z0-9.]+\/)?v\d) \|$/gm);
  const listed = [...rows].flatMap(([, kinds = "", version]) =>
    kinds.split(", ").map((kind) => `${version} ${kind}`),
  );
  const served = builtIns.map((each) => `${apiVersionOf(each)} ${each.kind}`);
  expect(listed.toSorted()).toEqual(served.toSorted());
});
