import { expect, test } from "vitest";
import { configMap } from "./kinds/config-map.ts";
import type { Stored } from "./resource.ts";
import { nameAskedFor, selectorOf } from "./selectors.ts";

function object(labels: Record<string, string>): Stored {
  const metadata = { name: "a", namespace: "n", uid: "1", resourceVersion: "1", labels };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, creationTimestamp: "" } };
}

function picks(query: Record<string, string>, labels: Record<string, string> = {}): boolean {
  return selectorOf(configMap, new URLSearchParams(query))?.(object(labels)) ?? true;
}

test.each([
  ["app=web", true],
  ["app==web", true],
  ["app!=web", false],
  ["none!=web", true],
  ["app", true],
  ["!app", false],
  ["! none", true],
  ["app in (web, db)", true],
  ["app notin (web,db)", false],
  ["none notin (web)", true],
  ["app=web,tier in (a,b),!none", true],
  ["app=web,tier=b", false],
  ["ex.io/x=", true],
  ["size>2", true],
  ["size<2", false],
  ["", true],
])("of labels, %j picks the object: %s", (labelSelector, picked) => {
  expect(picks({ labelSelector }, { app: "web", tier: "a", "ex.io/x": "", size: "3" })).toBe(
    picked,
  );
});

test.each([
  ["metadata.name=a", true],
  ["metadata.name!=a", false],
  ["metadata.name==a,metadata.namespace=n", true],
  ["metadata.namespace=m", false],
])("of fields, %j picks the object: %s", (fieldSelector, picked) => {
  expect(picks({ fieldSelector })).toBe(picked);
});

test.each([
  [{ labelSelector: "a b" }, /found 'b', expected: in, notin/],
  [{ labelSelector: "=" }, /unable to parse/],
  [{ labelSelector: "a>x" }, /must be an integer/],
  [{ labelSelector: `a=${"x".repeat(64)}` }, /values\[0\]\[a\]: Invalid value/],
  [{ fieldSelector: "abc" }, /can't understand 'abc'/],
  [{ fieldSelector: "data.x=1" }, /"data.x" is not a known field selector/],
])("%j is refused", (query, message) => {
  expect(() => picks(query)).toThrow(message);
});

test("one name can be looked up", () => {
  const asked = (fieldSelector: string) => nameAskedFor(new URLSearchParams({ fieldSelector }));
  expect(asked("metadata.name=a")).toBe("a");
  expect(asked("metadata.namespace=n,metadata.name==a")).toBe("a");
  expect(asked("metadata.name!=a")).toBeUndefined();
  expect(asked("status.phase=a")).toBeUndefined();
});
