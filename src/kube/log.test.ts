import { expect, test } from "vitest";
import { redact } from "../model/redact.ts";
import { makeLog } from "./log.ts";

const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJwb3N0ZXJuIn0.c2lnbmF0dXJl";

test.each([
  ["a token of Entra", `denied for ${jwt} today`, "denied for [redacted] today"],
  ["a header", "authorization: Bearer abcdefgh.ijk", "authorization: Bearer [redacted]"],
  [
    "a form",
    "grant_type=x&client_secret=a%2Fb~c&scope=y",
    "grant_type=x&client_secret [redacted]&scope=y",
  ],
  [
    "a signed address",
    "https://x/?api-version=1&sig=abc%3D",
    "https://x/?api-version=1&sig [redacted]",
  ],
  ["a key", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----.", "[redacted]."],
  [
    "nothing secret",
    "PUT /subscriptions/1/resourceGroups/g failed",
    "PUT /subscriptions/1/resourceGroups/g failed",
  ],
])("takes %s out of a text", (_what, text, clean) => {
  expect(redact(text)).toBe(clean);
});

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
