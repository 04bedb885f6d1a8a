import { expect, test } from "vitest";
import { objectIn, parseBody } from "./body.ts";
import type { Call } from "./call.ts";
import { configMap } from "./kinds/config-map.ts";

async function read(text: string, contentType = "application/json") {
  const body = await parseBody(text, contentType);
  const asker = { username: "admin", groups: [] };
  const query = new URLSearchParams();
  const call: Call = { resource: configMap, query, contentType, userAgent: "", asker, text, body };
  return objectIn(call);
}

test("what a built-in is can be told from its path", async () => {
  expect(await read('{"metadata":{"name":"a"},"data":{}}')).toEqual({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
    data: {},
  });
});

test("YAML says the same", async () => {
  expect(await read("metadata:\n  name: a\n", "application/yaml")).toMatchObject({
    kind: "ConfigMap",
    metadata: { name: "a" },
  });
});

test.each([
  ["{bad", "application/json", /unrecognized \(must be of type ConfigMap\)/],
  ["[]", "application/json", /is not an object/],
  ["{}", "text/plain", /unknown format - accepted media types include: application\/json/],
  [
    '{"kind":"Secret"}',
    "application/json",
    /Secret in version "v1" cannot be handled as a ConfigMap/,
  ],
  ['{"apiVersion":"v2"}', "application/json", /no kind "ConfigMap" is registered for version "v2"/],
  ['{"metadata":1}', "application/json", /metadata is not an object/],
  ['{"metadata":{"name":1}}', "application/json", /metadata.name is of another type/],
  ['{"metadata":{"labels":{"a":1}}}', "application/json", /metadata.labels is of another type/],
  ['{"metadata":{"finalizers":"a"}}', "application/json", /metadata.finalizers is of another type/],
  ["a: [", "application/yaml", /unrecognized/],
])("%s as %s is refused", async (text, contentType, message) => {
  await expect(read(text, contentType)).rejects.toThrow(message);
});
