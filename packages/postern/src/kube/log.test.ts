import fc from "fast-check";
import { expect, test } from "vitest";
import { makeLog } from "./log.ts";

const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJwb3N0ZXJuIn0.c2lnbmF0dXJl";

test("JSON lines carry a constant message and fields, without the secret ones", () => {
  const lines: string[] = [];
  makeLog({ write: (line) => lines.push(line) }).info(
    { key: "ns/a", request: { authorization: "x" }, clientSecret: "y" },
    "step",
  );
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: "info",
    msg: "step",
    key: "ns/a",
    request: { authorization: "[redacted]" },
    clientSecret: "[redacted]",
  });
});

test("text lines are for people", () => {
  const lines: string[] = [];
  const log = makeLog({ format: "text", write: (line) => lines.push(line) });
  log.warn({ key: "ns/a", tries: 3, err: new Error(`refused ${jwt}`) }, "watch failed");
  expect(lines[0]?.replace(/^\S+/, "TIME")).toBe(
    'TIME WARN  watch failed  key=ns/a tries=3 error="refused [redacted]"\n',
  );
});

test("what is below the level is not written", () => {
  const lines: string[] = [];
  makeLog({ level: "warn", write: (line) => lines.push(line) }).info({}, "step");
  expect(lines).toEqual([]);
});

test("a line stays valid JSON and short, whatever a tenant has written into its fields", () => {
  const lines: string[] = [];
  const log = makeLog({ write: (line) => lines.push(line) });
  const nasty = fc.stringMatching(
    /^(token[:=]|password"?|[\\"'{}|\n ]|eyJ[a-z]{9,}|Bearer |a){0,20}$/,
  );
  fc.assert(
    fc.property(fc.dictionary(nasty, nasty), nasty, (fields, message) => {
      log.error({ key: "ns/a", ...fields, err: new Error(message) }, "reconcile failed");
      expect(JSON.parse(lines.pop() ?? "")).toMatchObject({ msg: "reconcile failed" });
    }),
  );
  log.warn({ key: "ns/a", why: "x".repeat(2_000_000) }, "long");
  expect(lines.pop()?.length).toBeLessThan(10_000);
  log.warn({ key: "ns/a", all: Array(1_000_000).fill("x") }, "many");
  expect(JSON.parse(lines.pop() ?? "")).toMatchObject({
    key: "ns/a",
    shortened: true,
    msg: "many",
  });
});
