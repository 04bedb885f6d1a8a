import { expect, test } from "vitest";
import { isBelow, plainName, sameName } from "./dns-name.ts";

test("a DNS name is compared without its case and the dot at its end", () => {
  expect(plainName("API.Example.com.")).toBe("api.example.com");
  expect(sameName("API.Example.com.", "api.example.com")).toBe(true);
  expect(sameName("api.example.com", undefined)).toBe(false);
  expect(sameName(undefined, undefined)).toBe(false);
});

test("a DNS name is below a domain by whole labels", () => {
  expect(isBelow("api.Example.com", "example.com.")).toBe(true);
  expect(isBelow("example.com", "example.com")).toBe(false);
  expect(isBelow("notexample.com", "example.com")).toBe(false);
});
