import type { Json, JsonObject } from "@postern/azure-simulator/state/store.ts";
import { bodies } from "./bodies.ts";
import { group, subscription } from "./small-world.ts";

/** A request that may be wrong in any way. */
export interface Wild {
  /** What was done to it. */
  kind: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Bytes to send as they are, in place of a request. */
  raw?: string;
  /** It cannot be right, so it must be refused. */
  wrong: boolean;
}

/** What a wild request is made from. */
export interface Ground {
  chance: () => number;
  tokens: { good: string; otherTenant: string; expired: string };
  /** A poll address that is right, without its origin. */
  poll: string;
  /** The group that wild writes may change, in place of the one that must stay as it is. */
  scratch: (path: string) => string;
}

const version = "api-version=2024-05-01";
const deployments = `${group}/providers/Microsoft.Resources/deployments`;
/** Values that fit hardly anywhere. */
export const junk: readonly Json[] = [
  null,
  0,
  -1,
  1e308,
  0.5,
  true,
  "",
  " ",
  "x".repeat(5000),
  "\u0000",
  "ü漢😀\ud800",
  "../../..",
  "/subscriptions/x/resourceGroups/y/providers/z",
  [],
  [null],
  [[[[]]]],
  {},
  { id: 7 },
  { id: "not an id" },
  { name: null, properties: null },
];
/** Words that fit in hardly any path. */
export const segments: readonly string[] = [
  "..",
  ".",
  "%2e%2e",
  "%2F",
  "a%2Fb",
  "%5C",
  "%00",
  "%",
  "%zz",
  "%ff%fe",
  "",
  "\\",
  "%0d%0aX-Evil:%201",
  "%E2%80%AE",
  "x".repeat(9000),
];
/** The methods that there are pages for. */
export const methods: readonly string[] = ["GET", "PUT", "PATCH", "POST", "DELETE", "HEAD"];

/** Picks one of several by chance. */
export function picker(chance: () => number): <T>(of: readonly T[]) => T {
  return (of) => of[Math.floor(chance() * of.length)] as (typeof of)[number];
}

/** Make the next one. */
export function wild(ground: Ground): Wild {
  const { chance } = ground;
  const pick = picker(chance);
  const { path, body } = pick(bodies);
  const good = { authorization: `Bearer ${ground.tokens.good}` };
  const right: Wild = {
    kind: "",
    method: "PUT",
    path: `${path}?${version}`,
    headers: good,
    body: JSON.stringify(body),
    wrong: true,
  };
  const makers: (() => Wild)[] = [
    () => ({ ...right, kind: "cut JSON", body: cut(JSON.stringify(body), chance) }),
    () => ({
      ...right,
      kind: "JSON that is no object",
      body: pick(["[]", "1", '"x"', "null", "{]", "NaN", "{'a':1}"]),
    }),
    () => ({
      ...right,
      kind: "deep JSON",
      body: `{"properties":${"[".repeat(5000)}${"]".repeat(5000)}}`,
    }),
    () => ({
      ...right,
      kind: "wrong type",
      wrong: false,
      // Some of them are new: what is refused for one that is there may be taken for another.
      path: `${ground.scratch(path)}${pick(["", "1", "2", "3"])}?${version}`,
      body: JSON.stringify(mutated(body, chance, pick(junk))),
    }),
    () => ({
      ...right,
      kind: "unknown field",
      wrong: false,
      path: `${ground.scratch(path)}?${version}`,
      body: JSON.stringify({
        ...body,
        [pick(["__proto__", "constructor", "zzz", "id", "etag"])]: pick(junk),
      }).replace('"zzz"', '"__proto__"'),
    }),
    () => {
      const parts = path.split("/");
      // Not at the very beginning: SDK clients send two slashes there, and Azure takes them for one.
      parts.splice(
        2 + Math.floor(chance() * (parts.length - 2)),
        chance() < 0.5 ? 1 : 0,
        pick(segments),
      );
      return {
        ...right,
        kind: "wild path",
        method: pick(methods),
        path: `${parts.join("/")}?${version}`,
        wrong: false,
      };
    },
    () => ({
      ...right,
      kind: "no api-version",
      method: pick(["GET", "PUT", "DELETE"]),
      path: pick([
        path,
        `${path}?`,
        `${path}?api-version=`,
        `${path}?api-version=latest`,
        `${path}?api-version=%00`,
      ]),
    }),
    () => ({ ...right, kind: "no token", headers: {} }),
    () => ({
      ...right,
      kind: "bad token",
      headers: {
        authorization: pick([
          "Bearer",
          "Bearer ",
          "Basic eDp5",
          `Bearer ${cut(ground.tokens.good, chance)}`,
          `Bearer ${ground.tokens.good}x`,
          `Bearer a.b.c`,
          "x".repeat(3000),
        ]),
      },
    }),
    () => ({
      ...right,
      kind: "another tenant's token",
      headers: { authorization: `Bearer ${ground.tokens.otherTenant}` },
    }),
    () => ({
      ...right,
      kind: "expired token",
      headers: { authorization: `Bearer ${ground.tokens.expired}` },
    }),
    () => ({
      ...right,
      kind: "tampered poll",
      method: "GET",
      path: tampered(ground.poll, chance),
      body: "",
    }),
    () => ({
      ...right,
      kind: "stale etag",
      // What is not of the network provider has no etags, and is written.
      wrong: path.includes("/Microsoft.Network/"),
      path: `${path.includes("/Microsoft.Network/") ? path : ground.scratch(path)}?${version}`,
      headers: {
        ...good,
        "if-match": pick([
          'W/"x"',
          '"',
          "x".repeat(4000),
          "W/",
          '"00000000-0000-0000-0000-000000000000"',
        ]),
      },
    }),
    () => ({
      ...right,
      kind: "unknown method",
      method: pick(["OPTIONS", "TRACE", "PROPFIND", "LOCK", "SEARCH"]),
      body: "",
    }),
    () => ({
      ...right,
      kind: "unknown type",
      path: `${path.split("/providers/")[0]}/providers/${pick(["Microsoft.Web/sites/x", "X/y/z", "Microsoft.Network", "a/b/c/d/e/f"])}?${version}`,
    }),
    () => ({
      ...right,
      kind: "wild list",
      method: "GET",
      body: "",
      wrong: false,
      path: `${path.slice(0, path.lastIndexOf("/"))}?${version}&$top=${pick(["-1", "x", "1e9", "0", ""])}&$skiptoken=${pick(["-5", "x", "9e99", "%00"])}`,
    }),
    () => ({
      ...right,
      kind: "wild POST",
      method: "POST",
      path: `${path}/${pick(["frobnicate", "delete", "%00", "x".repeat(300)])}?${version}`,
      wrong: true,
    }),
    () => ({
      ...right,
      kind: "wild template",
      wrong: false,
      path: `${ground.scratch(deployments)}/${pick(["a", "b"])}?${version}`,
      body: JSON.stringify({ properties: { mode: "Incremental", ...wildTemplate(chance, pick) } }),
    }),
    () => ({
      ...right,
      kind: "wild list of everything",
      method: pick(methods),
      wrong: false,
      path: `${ground.scratch(`/subscriptions/${subscription}`)}/${pick(["resources", "providers", "locations", "tagNames", "providers/Microsoft.Network", "providers/__proto__", "providers/Microsoft.Network/register"])}?${version}&$filter=${encodeURIComponent(wildFilter(pick))}`,
    }),
    () => ({ ...right, kind: "raw bytes", raw: raw(path, chance, pick) }),
  ];
  return pick(makers)();
}

/** A template whose expressions are words in any order. */
function wildTemplate(chance: () => number, pick: <T>(of: readonly T[]) => T): JsonObject {
  const some = () => Math.floor(chance() * 4);
  const expression = (): string => {
    const words = Array.from({ length: 1 + Math.floor(chance() * 12) }, () => pick(templateWords));
    return chance() < 0.5 ? `[${words.join("")}]` : `[${call(chance, pick, 0)}]`;
  };
  const value = (): Json => (chance() < 0.2 ? pick(junk) : expression());
  const named = (more: (name: string) => Json) =>
    Object.fromEntries(
      Array.from({ length: some() }, () => pick(["a", "b", "__proto__", "constructor"])).map(
        (name) => [name, more(name)],
      ),
    );
  const resource = (): JsonObject => ({
    type: pick(["Microsoft.Network/publicIPAddresses", "Microsoft.Resources/deployments", "x/y"]),
    name: chance() < 0.5 ? pick(["a", "b", "a/b", ".."]) : expression(),
    apiVersion: "2024-05-01",
    location: "westeurope",
    tags: value(),
    dependsOn: Array.from({ length: some() }, () => pick(["a", "b", expression()])),
    properties: value(),
  });
  return {
    parameters: named(() => ({ value: value() })),
    template: {
      parameters: named(() => ({ type: pick(["string", "object", "x"]), defaultValue: value() })),
      variables: named(value),
      resources: Array.from({ length: some() }, resource),
      outputs: named(() => ({ type: "object", value: value() })),
    },
  };
}

/** A call of a function of templates, with calls in it. */
function call(chance: () => number, pick: <T>(of: readonly T[]) => T, depth: number): string {
  const args = Array.from({ length: Math.floor(chance() * 4) }, () =>
    depth < 6 && chance() < 0.6
      ? call(chance, pick, depth + 1)
      : pick(["'a'", "'b'", "'__proto__'", "'Microsoft.Network/publicIPAddresses'", "1", "true"]),
  );
  const after = pick(["", "", "", ".id", "[0]", ".__proto__", "['name']"]);
  return `${pick(templateFunctions)}(${args.join(",")})${after}`;
}

const templateFunctions = [
  ...["parameters", "variables", "resourceId", "reference", "concat", "format", "toLower", "if"],
  ...["equals", "not", "empty", "resourceGroup", "subscription", "constructor", "__proto__"],
];
const templateWords = [
  ...templateFunctions,
  ...["(", ")", "[", "]", ",", ".", "'", "''", "'a'", "{0}", "-1", " ", "\u0000", "😀", "null"],
];

/** A `$filter` that is hardly one. */
function wildFilter(pick: <T>(of: readonly T[]) => T): string {
  const word = () =>
    pick([
      "name",
      "resourceGroup",
      "__proto__",
      "constructor",
      "eq",
      "and",
      "or",
      "'a'",
      "'",
      "(",
      "\u0000",
    ]);
  return [word(), word(), word(), word(), word()].join(" ");
}

/** Bytes that are hardly HTTP. */
export function raw(path: string, chance: () => number, pick: <T>(of: readonly T[]) => T): string {
  return pick([
    Buffer.from(Array.from({ length: 200 }, () => Math.floor(chance() * 256))).toString("latin1"),
    "GET\r\n\r\n",
    `GET ${path} HTTP/9.9\r\n\r\n`,
    `FROB ${path} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET ${path}\0 HTTP/1.1\r\nHost: x\r\n\r\n`,
    `PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n{}`,
    `PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    `PUT ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`,
    `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Large: ${"y".repeat(40_000)}\r\n\r\n`,
    `GET http://evil.example${path} HTTP/1.1\r\nHost: x\r\n\r\n`,
    "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    `GET ${path} HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n`,
  ]);
}

/** The beginning of a text. */
export function cut(text: string, chance: () => number): string {
  return text.slice(0, 1 + Math.floor(chance() * (text.length - 2)));
}

function tampered(poll: string, chance: () => number): string {
  const url = new URL(poll, "http://x");
  const names = ["t", "c", "s", "h"];
  const name = names[Math.floor(chance() * names.length)] ?? "s";
  if (chance() < 0.3) url.searchParams.delete(name);
  else url.searchParams.set(name, `${url.searchParams.get(name)}0`);
  return url.pathname + url.search;
}

/** A copy in which one value somewhere is another. */
export function mutated(body: JsonObject, chance: () => number, value: Json): Json {
  const copy = structuredClone(body);
  let at: JsonObject | Json[] = copy;
  for (;;) {
    const names: (string | number)[] = Array.isArray(at) ? [...at.keys()] : Object.keys(at);
    const name = names[Math.floor(chance() * names.length)];
    if (name === undefined) return copy;
    const inner: Json | undefined = (at as Record<string | number, Json | undefined>)[name];
    if (typeof inner === "object" && inner !== null && chance() < 0.75) at = inner;
    else {
      (at as Record<string | number, Json | undefined>)[name] = value;
      return copy;
    }
  }
}
