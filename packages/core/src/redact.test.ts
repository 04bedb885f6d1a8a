import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canaries } from "../../../test/canaries.ts";
import { redact, redactData } from "./redact.ts";

const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJwb3N0ZXJuIn0.c2lnbmF0dXJl";
const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIB\nADANBgkq\n-----END PRIVATE KEY-----";

test.each([
  ["a token of Entra", `denied for ${jwt} today`, "denied for [redacted] today"],
  ["a token that was cut off", "denied for eyJhbGciOiJSUzI1N", "denied for [redacted]"],
  ["a header", "authorization: Bearer abcdefgh.ijk", "authorization: [redacted]"],
  ["a scheme alone", "Bearer abcdefgh.ijk is refused", "Bearer [redacted] is refused"],
  ["a token of letters", "with Bearer abcdefghijk", "with Bearer [redacted]"],
  ["a scheme in lower case", "sent bearer abcdefgh.ijk", "sent bearer [redacted]"],
  ["a form", "a=x&client_secret=a%2Fb~c&scope=y", "a=x&client_secret=[redacted]&scope=y"],
  ["a signed address", "https://x/?v=1&sig=abc%3D", "https://x/?v=1&sig=[redacted]"],
  ["JSON", '{"clientSecret":"a\\"b","x":1}', '{"clientSecret":"[redacted]","x":1}'],
  ["JSON in JSON", '{"m":"{\\"token\\":\\"ab\\"}"}', '{"m":"{\\"token\\":\\"[redacted]\\"}"}'],
  ["JSON that was cut off", '{"clientSecret":"ab', '{"clientSecret":"[redacted]'],
  ["a number in JSON", '{"password": 1234}', '{"password": "[redacted]"}'],
  ["YAML", "user: x\npassword: ab\n", "user: x\npassword: [redacted]\n"],
  ["a block of YAML", "token: |\n  ab\n  cd\nuser: x", "token: |\n[redacted]\nuser: x"],
  ["a connection string", "AccountKey=ab+/==;Suffix=x", "AccountKey=[redacted];Suffix=x"],
  ["a key", `${pem}.`, "[redacted]."],
  ["a key that was cut off", pem.slice(0, 42), "[redacted]"],
  ["a key in a line of JSON", `{"e":${JSON.stringify(pem.slice(0, 42))}}`, '{"e":"[redacted]"}'],
  ["the body of a key", `at MIIE${"Ab+/".repeat(12)}`, "at [redacted]"],
  ["a key in base64", `x: ${Buffer.from(pem).toString("base64")}`, "x: [redacted]"],
  ["a password in an address", "https://u:p@host/x", "https://[redacted]@host/x"],
  [
    "a rejected field",
    'spec.token: Invalid value: "ab"',
    'spec.token: Invalid value: "[redacted]"',
  ],
  ["XML", "<password>ab</password>", "<password>[redacted]</password>"],
  ["an Entra secret", `app Ab18Q~${"x.Y_".repeat(8)}ab failed`, "app [redacted] failed"],
])("takes %s out of a text", (_what, text, clean) => {
  expect(redact(clean)).toBe(clean);
  expect(redact(text)).toBe(clean);
});

test.each(Object.entries(canaries))(
  "a %s is not seen, alone or in any text around it",
  (_what, form) => {
    const text = form("canary7q7x");
    const around = [
      text,
      `a ${text} b`,
      JSON.stringify({ text }),
      JSON.stringify([`x: ${text}\n`]),
    ];
    for (const each of around) expect(redact(each)).not.toContain("canary");
    expect(JSON.stringify(redactData({ deep: [{ text: around }] }))).not.toContain("canary");
  },
);

test("of two secrets in a row none is seen", () => {
  const forms = fc.constantFrom(...Object.values(canaries));
  fc.assert(
    fc.property(forms, forms, fc.constantFrom(" ", "\n", ", "), (one, two, between) => {
      const text = `${one("canary1q7x")}${between}${two("canary2q7x")}`;
      expect(redact(text)).not.toContain("canary");
      expect(redact(JSON.stringify({ text }))).not.toContain("canary");
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  "PUT /subscriptions/1/resourceGroups/g failed",
  'secrets "admin-kubeconfig" is forbidden: User "x" cannot get resource "secrets"',
  "Secret clusters/blue-kubeconfig cannot be used",
  "bearer authentication is not supported",
  "spec.token: Required value",
  '{"key":"clusters/blue","automountServiceAccountToken": false,"clientSecret":{"name":"x"}}',
])("leaves %s as it is", (text) => {
  expect(redact(text)).toBe(text);
});

describe("any text", () => {
  const pieces = fc.constantFrom(
    ...["token", "password", "clientSecret", "AccountKey", "sig", ":", "=", ": ", '"', "'", "\\"],
    ...[",", "{", "}", "\n", " ", "|", "Bearer ", "://", "@", jwt, pem, "-----", "abcdefgh", "1"],
  );
  const texts = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(""));

  test("in data leaves valid data, without the values of secret names", () => {
    fc.assert(
      fc.property(fc.dictionary(texts, texts), texts, (values, around) => {
        const data = { values, token: `canary ${around}`, deep: [{ "client-key-data": 4711 }] };
        const text = JSON.stringify(redactData(data));
        expect(JSON.parse(text)).toMatchObject({ token: "[redacted]" });
        expect(text).not.toMatch(/canary|4711/);
      }),
    );
  });

  test("has no value of a secret name left, however it is quoted or escaped", () => {
    const names = fc.constantFrom("token", "clientSecret", "client_secret", "PASSWORD", "apiKey");
    const depth = fc.integer({ min: 1, max: 3 });
    fc.assert(
      fc.property(names, texts, depth, (name, around, times) => {
        let text = JSON.stringify({ [name]: "canary-1", around });
        for (let at = 1; at < times; at++) text = JSON.stringify({ text });
        expect(redact(text)).not.toContain("canary");
      }),
    );
  });
});

test("data that is nested too deep to be written is cut off", () => {
  let data: unknown = "end";
  for (let depth = 0; depth < 100_000; depth++) data = [data];
  expect(JSON.stringify(redactData(data))).toContain("[too deep]");
});

/** A worst case for each pattern: what begins like a secret over and over, and never ends like one. */
const worst: Record<string, string> = {
  "starts of tokens": "eyJ",
  "starts of tokens and dots": "eyJ.........",
  "starts of keys": "-----BEGIN ",
  "keys without an end": "-----BEGIN PRIVATE KEY-----",
  "keys of one dash": "-----BEGIN PRIVATE KEY-----A-",
  "starts of base64": "MII",
  dashes: "-",
  slashes: "/",
  "storage keys that are too long": `${"a".repeat(87)} `,
  schemes: "bearer ",
  "schemes and spaces": `bearer${" ".repeat(17)}`,
  names: "secret",
  "names and quotes": 'secret"',
  "names and spaces": `secret${" ".repeat(17)}`,
  "open quotes": 'secret:"',
  "open single quotes": "secret:'",
  "open escaped quotes": 'secret:\\"',
  "escaped quotes": '\\\\\\"',
  "open blocks": "secret: |\n",
  "blocks of one line": "secret: |\n a\n",
  "empty values": "secret=,",
  addresses: "://",
  "addresses with a user": "://a@",
  headers: "authorization:",
};

test.each(Object.entries(worst))("a megabyte of %s are redacted in seconds", (_what, unit) => {
  const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
  const started = performance.now();
  redact(text);
  // A quadratic pattern takes minutes for this.
  expect(performance.now() - started).toBeLessThan(10_000);
});
