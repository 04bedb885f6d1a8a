import { expect, test } from "vitest";
import { resourcePath, verbOf } from "./routes.ts";

test.each([
  ["/api/v1/nodes", { group: "", version: "v1", plural: "nodes" }],
  ["/api/v1/nodes/a", { group: "", version: "v1", plural: "nodes", name: "a" }],
  ["/api/v1/namespaces", { group: "", version: "v1", plural: "namespaces" }],
  ["/api/v1/namespaces/n", { group: "", version: "v1", plural: "namespaces", name: "n" }],
  [
    "/api/v1/namespaces/n/finalize",
    { group: "", version: "v1", plural: "namespaces", name: "n", subresource: "finalize" },
  ],
  ["/api/v1/namespaces/n/secrets", { group: "", version: "v1", plural: "secrets", namespace: "n" }],
  [
    "/apis/ex.io/v1/namespaces/n/widgets/a/status",
    {
      group: "ex.io",
      version: "v1",
      plural: "widgets",
      namespace: "n",
      name: "a",
      subresource: "status",
    },
  ],
  ["/apis/ex.io/v1/widgets/", { group: "ex.io", version: "v1", plural: "widgets" }],
  ["/api/v1/nodes/a%20b", { group: "", version: "v1", plural: "nodes", name: "a b" }],
])("%s is a resource", (path, expected) => {
  expect(resourcePath(path)).toEqual(expected);
});

test.each([
  "/",
  "/api",
  "/api/v1",
  "/apis",
  "/apis/ex.io",
  "/apis/ex.io/v1",
  "/healthz",
  "/api/v1/nodes/a/b/c",
  "/api/v1/nodes/%zz",
])("%s is none", (path) => {
  expect(resourcePath(path)).toBeUndefined();
});

test.each([
  ["GET", true, false, "get"],
  ["GET", false, false, "list"],
  ["GET", false, true, "watch"],
  ["POST", false, false, "create"],
  ["PUT", true, false, "update"],
  ["PUT", false, false, undefined],
  ["PATCH", true, false, "patch"],
  ["DELETE", true, false, "delete"],
  ["DELETE", false, false, "deletecollection"],
  ["TRACE", true, false, undefined],
])("%s (named: %s, watch: %s) is %s", (method, named, watch, verb) => {
  expect(verbOf(method, named, watch)).toBe(verb);
});
