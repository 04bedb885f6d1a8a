import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { reservedNames } from "./name.ts";

const guide = readFileSync(
  new URL("../../../../../../docs/guides/cluster-api.md", import.meta.url),
  "utf8",
);

test("the guide lists every reserved name", () => {
  expect(reservedNames.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});
