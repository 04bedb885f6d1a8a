import { expect, test } from "vitest";
import { deleteOptions, listOptions, writeOptions } from "./options.ts";

const query = (text: string) => new URLSearchParams(text);

test.each([
  ["", { dryRun: false, fieldValidation: "Warn", force: false }],
  ["dryRun=All&fieldManager=me", { dryRun: true, fieldManager: "me" }],
  ["fieldValidation=Strict", { fieldValidation: "Strict" }],
])("of a write, %j says", (text, expected) => {
  expect(writeOptions("CreateOptions", query(text))).toMatchObject(expected);
});

test.each([
  ["CreateOptions", "dryRun=Some", false, /dryRun: Unsupported value/],
  ["CreateOptions", "fieldValidation=No", false, /fieldValidation: Unsupported value: "No"/],
  ["PatchOptions", "", true, /fieldManager: Required value/],
  ["PatchOptions", "force=true", false, /force: Forbidden/],
] as const)("%s with %j are refused", (kind, text, apply, message) => {
  expect(() => writeOptions(kind, query(text), apply)).toThrow(message);
});

test.each([
  ["", undefined, {}],
  ["propagationPolicy=Foreground", undefined, { propagation: "Foreground" }],
  ["propagationPolicy=Foreground", { propagationPolicy: "Orphan" }, { propagation: "Orphan" }],
  ["orphanDependents=true", undefined, { propagation: "Orphan" }],
  ["", { orphanDependents: false }, { propagation: "Background" }],
  ["", { dryRun: ["All"], preconditions: { uid: "1" } }, { dryRun: true, uid: "1" }],
])("of a deletion, %j and %j say", (text, body, expected) => {
  expect(deleteOptions(query(text), body)).toEqual({ dryRun: false, ...expected });
});

test("nothing is deleted on terms that cannot be read", () => {
  expect(() => deleteOptions(query(""), new SyntaxError("bad"))).toThrow(/json parse error: bad/);
  expect(() => deleteOptions(query(""), { kind: "Foo" })).toThrow(/no kind "Foo"/);
  expect(deleteOptions(query(""), { kind: "DeleteOptions" })).toEqual({ dryRun: false });
});

test("a policy that nobody knows is refused, and so are two", () => {
  expect(() => deleteOptions(query(""), { propagationPolicy: "Never" })).toThrow(
    /propagationPolicy/,
  );
  expect(() => deleteOptions(query("orphanDependents=1&propagationPolicy=Orphan"), {})).toThrow(
    /cannot be both set/,
  );
});

test.each([
  [false, "sendInitialEvents=true", /forbidden for list/],
  [true, "sendInitialEvents=true", /requires setting resourceVersionMatch/],
  [true, "resourceVersionMatch=Exact&resourceVersion=1", /forbidden for watch/],
  [false, "resourceVersionMatch=Exact", /forbidden unless resourceVersion is provided/],
  [false, "resourceVersionMatch=Exact&resourceVersion=0", /"exact" is forbidden/],
  [false, "resourceVersion=x", /invalid resource version/],
  [false, "limit=x", /parsing "x"/],
])("a list (watch: %s) with %j is refused", (watch, text, message) => {
  expect(() => listOptions(query(text), watch)).toThrow(message);
});
