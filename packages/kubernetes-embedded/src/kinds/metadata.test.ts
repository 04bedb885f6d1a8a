import { expect, test } from "vitest";
import type { Stored, StoredMetadata, Strategy } from "../resource.ts";
import { metadataProblems } from "./metadata.ts";

function made(metadata: Partial<StoredMetadata>): Stored {
  const base = {
    name: "one",
    namespace: "a",
    uid: "u",
    resourceVersion: "1",
    creationTimestamp: "t",
  };
  return { apiVersion: "v1", kind: "Widget", metadata: { ...base, ...metadata } };
}

function wrong(object: Stored, old?: Stored, strategy: Strategy = {}, namespaced = true): string[] {
  const about = { group: "example.com", builtIn: false, namespaced, strategy };
  const causes = metadataProblems(object, old, about);
  return causes.map(({ field, reason }) => `${field} ${reason}`);
}

test("what most objects have is fine", () => {
  const object = made({
    name: "a.b-c.d",
    labels: { "example.com/a": "b", c: "" },
    annotations: { "Example.com/A": "anything at all" },
    finalizers: ["example.com/tidy"],
    ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u" }],
  });
  expect(wrong(object)).toEqual([]);
});

test.each([
  ["A", "metadata.name FieldValueInvalid"],
  ["a_b", "metadata.name FieldValueInvalid"],
  ["-a", "metadata.name FieldValueInvalid"],
  ["a..b", "metadata.name FieldValueInvalid"],
  ["a".repeat(254), "metadata.name FieldValueInvalid"],
  ["", "metadata.name FieldValueRequired"],
])("the name %j will not do", (name, problem) => {
  expect(wrong(made({ name }))).toEqual([problem]);
});

test("some kinds take fewer names, and some take more", () => {
  expect(wrong(made({ name: "a.b" }), undefined, { names: "dns-label" })).toHaveLength(1);
  expect(wrong(made({ name: "A:b" }), undefined, { names: "path-segment" })).toEqual([]);
  expect(wrong(made({ name: "a/b" }), undefined, { names: "path-segment" })).toHaveLength(1);
});

test("the beginning of a name may end in a dash", () => {
  expect(wrong(made({ name: "a-x", generateName: "a-" }))).toEqual([]);
  expect(wrong(made({ name: "a-x", generateName: "A" }))).toEqual([
    "metadata.generateName FieldValueInvalid",
  ]);
});

test("an object that is for the whole cluster lies in no namespace", () => {
  expect(wrong(made({}), undefined, {}, false)).toEqual(["metadata.namespace FieldValueForbidden"]);
  const { namespace: _, ...metadata } = made({}).metadata;
  expect(wrong({ ...made({}), metadata }, undefined)).toEqual([
    "metadata.namespace FieldValueRequired",
  ]);
});

test("labels, annotations and finalizers have names that tools can rely on", () => {
  expect(wrong(made({ labels: { "a/b/c": "x", ok: "not ok!" } }))).toEqual([
    "metadata.labels FieldValueInvalid",
    "metadata.labels FieldValueInvalid",
  ]);
  expect(wrong(made({ annotations: { "": "x" } }))).toEqual([
    "metadata.annotations FieldValueInvalid",
  ]);
  expect(wrong(made({ annotations: { a: "x".repeat(256 * 1024) } }))).toEqual([
    "metadata.annotations FieldValueTooLong",
  ]);
  expect(wrong(made({ finalizers: ["not/a/name"] }))).toEqual([
    "metadata.finalizers FieldValueInvalid",
  ]);
});

test("an owner is named in full, and only one is the controller", () => {
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };
  expect(wrong(made({ ownerReferences: [{ ...owner, uid: "" }] }))).toEqual([
    "metadata.ownerReferences.uid FieldValueInvalid",
  ]);
  const controllers = [1, 2].map((n) => ({ ...owner, uid: `${n}`, controller: true }));
  expect(wrong(made({ ownerReferences: controllers }))).toEqual([
    "metadata.ownerReferences FieldValueInvalid",
  ]);
});

test("what the API wrote stays, and a deletion takes no new finalizers", () => {
  const old = made({ deletionTimestamp: "t", finalizers: ["a"] });
  expect(wrong(made({ deletionTimestamp: "t", finalizers: ["a"] }), old)).toEqual([]);
  expect(wrong(made({ deletionTimestamp: "t", finalizers: ["a", "b"] }), old)).toEqual([
    "metadata.finalizers FieldValueForbidden",
  ]);
  expect(wrong(made({ uid: "v" }), made({}))).toEqual(["metadata.uid FieldValueInvalid"]);
});

test("on an object of Kubernetes itself, a finalizer says who it belongs to", () => {
  const about = { group: "", builtIn: true, namespaced: true };
  const fields = (finalizers: string[]) =>
    metadataProblems(made({ finalizers }), undefined, about).map(({ field }) => field);
  expect(fields(["orphan", "mine", "example.com/mine"])).toEqual(["metadata.finalizers[1]"]);
});
