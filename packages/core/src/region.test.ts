import { expect, test } from "vitest";
import { regionName, sameRegion } from "./region.ts";

test("a region is the same by its display name, by its name and in any case", () => {
  expect(regionName("West Europe")).toBe("westeurope");
  expect(sameRegion("West Europe", "westeurope")).toBe(true);
  expect(sameRegion("WESTEUROPE", "west europe")).toBe(true);
  expect(sameRegion("northeurope", "westeurope")).toBe(false);
  expect(sameRegion(undefined, "westeurope")).toBe(false);
});
