import { expect, onTestFinished, test } from "vitest";
import { json, serve } from "../../../../../test/loopback.ts";
import { ManualClock } from "../../../../../test/manual-clock.ts";
import { KubeClient } from "../client.ts";
import { makeLog } from "../log.ts";
import { Access } from "./access.ts";

const reader = "reader-token-0123456789";

/** Access by an API server that knows one token, and lets its user read /metrics. */
async function start(broken = false) {
  const { url, requests } = await serve(({ url: path, body }, response) => {
    if (broken) return json(response, 500, { kind: "Status", message: `no review of ${body}` });
    const { spec } = JSON.parse(body) as {
      spec: { token?: string; user?: string; nonResourceAttributes?: object };
    };
    // An authenticator that is slow with what it does not know.
    if (spec.token?.startsWith("slow-")) return;
    if (path.endsWith("/tokenreviews")) {
      const isReader = spec.token === reader || spec.token === `${reader}-renewed`;
      const known = isReader || spec.token === "stranger-token";
      const user = { username: isReader ? "prometheus" : "stranger", groups: ["g"] };
      return json(response, 201, { status: known ? { authenticated: true, user } : {} });
    }
    const allowed =
      spec.user === "prometheus" &&
      JSON.stringify(spec.nonResourceAttributes) === '{"path":"/metrics","verb":"get"}';
    json(response, 201, { status: { allowed } });
  });
  const proof = async () => ({});
  const at = { server: new URL(url), namespace: "default", source: "the test", proof };
  const client = new KubeClient(at);
  const clock = new ManualClock();
  const lines: string[] = [];
  const access = new Access({ client, clock, log: makeLog({ write: (line) => lines.push(line) }) });
  onTestFinished(() => {
    access.close();
    client.close();
  });
  const status = async (authorization: string | undefined, path = "/metrics", address = "1") => {
    const refusal = await access.refusal({
      headers: { ...(authorization !== undefined && { authorization }) },
      address,
      path,
    });
    return refusal?.status ?? 200;
  };
  return { status, requests, lines, clock };
}

test("whom the API server knows and RBAC allows may read, and nobody else", async () => {
  const { status } = await start();
  expect(await status(`Bearer ${reader}`)).toBe(200);
  expect(await status("Bearer stranger-token")).toBe(403);
  expect(await status("Bearer nobody")).toBe(401);
  expect(await status(`Bearer ${reader}`, "/postern/dashboard")).toBe(403);
});

test.each([
  ["no header", undefined],
  ["another scheme", "Basic cmVhZGVyOnJlYWRlcg=="],
  ["two tokens", "Bearer a b"],
  ["a line break", "Bearer a\nb"],
  ["a token that no API server gives", `Bearer ${"a".repeat(10_000)}`],
])("%s is refused without asking the API server", async (_, authorization) => {
  const { status, requests } = await start();
  expect(await status(authorization)).toBe(401);
  expect(requests).toEqual([]);
});

test("an answer counts for half a minute, and then the API server is asked again", async () => {
  const { status, requests, clock } = await start();
  for (let n = 0; n < 20; n++) expect(await status(`Bearer ${reader}`)).toBe(200);
  expect(requests).toHaveLength(2);
  clock.moveTo(clock.now() + 31_000);
  expect(await status(`Bearer ${reader}`)).toBe(200);
  expect(requests).toHaveLength(4);
});

test("requests with one token at once are one review", async () => {
  const { status, requests } = await start();
  const answers = await Promise.all(Array.from({ length: 50 }, () => status(`Bearer ${reader}`)));
  expect(new Set(answers)).toEqual(new Set([200]));
  expect(requests).toHaveLength(2);
});

test("attack: thousands of tokens from one address cost the API server a few reviews, and keep no reader out", async () => {
  const { status, requests } = await start();
  expect(await status(`Bearer ${reader}`, "/metrics", "prometheus")).toBe(200);
  const answers = new Map<number, number>();
  for (let n = 0; n < 5_000; n++) {
    const answer = await status(`Bearer made-up-${n}`, "/metrics", "attacker");
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  }
  expect(Object.fromEntries(answers)).toEqual({ 401: 10, 429: 4_990 });
  expect(requests).toHaveLength(12);
  expect(await status(`Bearer ${reader}`, "/metrics", "prometheus")).toBe(200);
  expect(await status("Bearer stranger-token", "/metrics", "somebody")).toBe(403);
});

test("made-up tokens from many addresses do not displace the answer for one that works", async () => {
  const { status, requests } = await start();
  await status(`Bearer ${reader}`);
  for (let n = 0; n < 600; n++) await status(`Bearer made-up-${n}`, "/metrics", `address-${n}`);
  const before = requests.length;
  expect(await status(`Bearer ${reader}`)).toBe(200);
  expect(requests).toHaveLength(before);
});

test("attack: tokens that take long to review hold no more than two reviews of an address, and keep no reader out", async () => {
  const { status, requests, clock } = await start();
  expect(await status(`Bearer ${reader}`, "/metrics", "prometheus")).toBe(200);
  clock.moveTo(clock.now() + 31_000);
  const before = requests.length;
  const held = Array.from({ length: 40 }, (_, n) =>
    status(`Bearer slow-${n}`, "/metrics", `attacker-${Math.floor(n / 4)}`),
  );
  await expect.poll(() => requests.length).toBe(before + 4);
  expect(await Promise.all(held.slice(2, 4))).toEqual([429, 429]);
  expect(await Promise.all(held.slice(8))).toEqual(new Array(32).fill(429));
  expect(await status(`Bearer ${reader}`, "/metrics", "another pod")).toBe(200);
  clock.moveTo(clock.now() + 31_000);
  expect(await status(`Bearer ${reader}-renewed`, "/metrics", "prometheus")).toBe(200);
});

test("an API server that fails lets nobody in, and the log says so once and without the token", async () => {
  const { status, lines } = await start(true);
  expect(await status(`Bearer ${reader}`)).toBe(503);
  expect(await status(`Bearer ${reader}`)).toBe(503);
  expect(lines).toHaveLength(1);
  expect(lines.join("")).toContain("tokens of those who read metrics cannot be reviewed");
  expect(lines.join("")).not.toContain(reader);
});
