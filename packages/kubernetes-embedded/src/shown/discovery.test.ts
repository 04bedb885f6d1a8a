import { expect, test } from "vitest";
import { builtIns } from "../kinds/built-ins.ts";
import { reviews } from "../kinds/reviews.ts";
import type { Resource } from "../resource.ts";
import { discoveryOf } from "./discovery.ts";
import type { Shown } from "./shown.ts";

const whole = (version: string) =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;

function widget(version: string): Resource {
  const [configMap] = builtIns;
  if (configMap === undefined) throw new Error("no kinds");
  return {
    ...configMap,
    group: "example.com",
    version,
    kind: "Widget",
    plural: "widgets",
    singular: "widget",
    shortNames: ["w"],
    categories: ["all"],
    status: true,
    builtIn: false,
  };
}

const discovery = discoveryOf(
  [...builtIns, ...["v1beta1", "v1", "v2alpha1"].map(widget)],
  reviews,
  "127.0.0.1:6443",
);

// biome-ignore lint/suspicious/noExplicitAny: documents of another program, read in many places.
function read(path: string, accept?: string): any {
  return JSON.parse(sent(path, accept).text);
}

function sent(path: string, accept?: string): Shown {
  const answer = discovery.answer(path, accept);
  if (answer === undefined || answer === "unacceptable") throw new Error(`${path}: ${answer}`);
  return answer;
}

test("the groups are listed with their versions, the most stable of them preferred", () => {
  const { groups } = read("/apis");
  const example = groups.find(({ name }: { name: string }) => name === "example.com");
  expect(example).toEqual({
    name: "example.com",
    versions: ["v1", "v1beta1", "v2alpha1"].map((version) => ({
      groupVersion: `example.com/${version}`,
      version,
    })),
    preferredVersion: { groupVersion: "example.com/v1", version: "v1" },
  });
  expect(read("/apis/example.com")).toEqual({ kind: "APIGroup", apiVersion: "v1", ...example });
  expect(groups.map(({ name }: { name: string }) => name)).not.toContain("");
});

test("the core group is found below /api", () => {
  expect(read("/api").versions).toEqual(["v1"]);
  const { resources, groupVersion } = read("/api/v1");
  expect(groupVersion).toBe("v1");
  const names = resources.map(({ name }: { name: string }) => name);
  expect(names).toContain("services/status");
  expect(names).not.toContain("secrets/status");
});

test("a subresource that answers with another kind says of which group that is", () => {
  const { resources } = read("/api/v1");
  const token = resources.find(({ name }: { name: string }) => name === "serviceaccounts/token");
  expect(token).toMatchObject({ group: "authentication.k8s.io", kind: "TokenRequest" });
});

test("all of it is one document for a client that asks for that, in the version that it knows", () => {
  const core = sent("/api", `${whole("v2")},${whole("v2beta1")},application/json`);
  expect(core.contentType).toBe(whole("v2"));
  expect(JSON.parse(core.text).items).toHaveLength(1);
  const { apiVersion, items } = read("/apis", `${whole("v2beta1")},application/json`);
  expect(apiVersion).toBe("apidiscovery.k8s.io/v2beta1");
  const example = items.find((item: { metadata: { name: string } }) => {
    return item.metadata.name === "example.com";
  });
  expect(example.versions.map(({ version }: { version: string }) => version)).toEqual([
    "v1",
    "v1beta1",
    "v2alpha1",
  ]);
  expect(example.versions[0].resources[0]).toMatchObject({
    resource: "widgets",
    scope: "Namespaced",
    singularResource: "widget",
    shortNames: ["w"],
    responseKind: { group: "example.com", version: "v1", kind: "Widget" },
    subresources: [{ subresource: "status", verbs: ["get", "patch", "update"] }],
  });
});

test("questions can be asked, and nothing else be done with them", () => {
  const { resources } = read("/apis/authorization.k8s.io/v1");
  expect(resources[0]).toMatchObject({ name: "selfsubjectaccessreviews", verbs: ["create"] });
});

test("what is not served is not found, and a form that there is none of is said to be so", () => {
  expect(discovery.answer("/apis/example.com/v3", undefined)).toBeUndefined();
  expect(discovery.answer("/apis/nobody", undefined)).toBeUndefined();
  expect(discovery.answer("/api/v1/pods", undefined)).toBeUndefined();
  expect(discovery.answer("/apis", "application/vnd.kubernetes.protobuf")).toBe("unacceptable");
});

test("a document keeps its tag until what is served changes", () => {
  expect(sent("/apis").etag).toBe(sent("/apis", "application/json").etag);
  const other = discoveryOf(builtIns, reviews, "127.0.0.1:6443").answer("/apis", undefined);
  expect(other).not.toMatchObject({ etag: sent("/apis").etag });
});
