import { expect, test } from "vitest";
import { outOfStep } from "./generate-crds.ts";

test("the manifests of the CRDs say what the kinds say", () => {
  expect(outOfStep(), "run node scripts/generate-crds.ts").toEqual([]);
});
