import { request } from "node:https";
import { expect, onTestFinished, test } from "vitest";
import { json, serve } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { KubeClient } from "../kube/client.ts";
import { type Check, servePages } from "../kube/health.ts";
import { makeLog } from "../kube/log.ts";
import { Metrics } from "../kube/metrics.ts";
import { isLoopback } from "../kube/serving/server.ts";
import { type PageFlags, startPages } from "./pages.ts";

const anyPort = { host: "127.0.0.1", port: 0 };
/** An address of this machine that is not called a loopback address, and is none for anybody else either. */
const elsewhere = { host: "::ffff:127.0.0.1", port: 0 };

/** Health pages that others can reach. */
async function healthOf(checks: Check[]) {
  const lines: object[] = [];
  const log = { warn: (fields: object) => void lines.push(fields) } as never;
  const pages = await servePages({
    listen: anyPort,
    health: { alive: () => checks, ready: () => checks, details: false, log },
  });
  onTestFinished(() => pages.close());
  const read = async (path: string) => (await fetch(pages.url + path)).text();
  return { read, lines };
}

/** The pages of an operator whose API server lets `reader` read /metrics. */
async function pagesOf(flags: Partial<PageFlags>) {
  const { url } = await serve(({ url: path, body }, response) => {
    const { spec } = JSON.parse(body) as { spec: { token?: string; user?: string } };
    const status = path.endsWith("/tokenreviews")
      ? { authenticated: true, user: { username: spec.token } }
      : { allowed: spec.user === "reader" };
    json(response, 201, { status });
  });
  const proof = async () => ({});
  const at = { server: new URL(url), namespace: "default", source: "the test", proof };
  const client = new KubeClient(at);
  const lines: string[] = [];
  const { registry } = new Metrics({ processMetrics: true });
  const ok = () => [{ name: "arm", check: () => ({ ok: true }) }];
  const pages = await startPages(
    { listen: anyPort, dashboard: false, ...flags },
    {
      client,
      log: makeLog({ write: (line) => lines.push(line) }),
      clock: new ManualClock(),
      registry,
      alive: ok,
      ready: ok,
    },
  );
  onTestFinished(async () => {
    await pages.close();
    client.close();
  });
  return { pages, lines };
}

function ask(url: string, token?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const asked = request(url, { rejectUnauthorized: false, headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    asked.on("error", reject);
    asked.end();
  });
}

test("elsewhere than on loopback /metrics is served over TLS, and to whom RBAC allows it only", async () => {
  const { pages, lines } = await pagesOf({ metrics: elsewhere });
  const url = `${pages.metricsUrl}/metrics`;
  expect(url).toMatch(/^https:/);
  expect(await ask(url)).toMatchObject({ status: 401 });
  expect(await ask(url, "stranger")).toMatchObject({ status: 403 });
  const { status, text } = await ask(url, "reader");
  expect(status).toBe(200);
  expect(text).toMatch(/^postern_serving_certificate_expiry_timestamp_seconds \d/m);
  await expect(fetch(url.replace("https:", "http:"))).rejects.toThrow();
  expect(lines.join("")).not.toContain("reader");
});

test("health pages that others can reach serve no metrics, and need no token", async () => {
  const { pages } = await pagesOf({ listen: elsewhere });
  expect(pages.metricsUrl).toBeUndefined();
  expect((await fetch(`${pages.url}/metrics`)).status).toBe(404);
  expect(await (await fetch(`${pages.url}/readyz`)).text()).toBe("ok");
  expect(await (await fetch(`${pages.url}/healthz`)).text()).toBe("ok");
});

test("on loopback /metrics is beside the health pages", async () => {
  const { pages } = await pagesOf({});
  expect(pages.metricsUrl).toBe(pages.url);
  expect(await (await fetch(`${pages.url}/metrics`)).text()).toMatch(/^process_cpu_seconds_total/m);
});

test("a certificate without its key is refused at the start", async () => {
  await expect(pagesOf({ metrics: elsewhere, tlsCertFile: "/tls.crt" })).rejects.toThrow(
    "--tls-cert-file and --tls-private-key-file must be set together",
  );
});

test("a failing check does not tell everybody why, and the log has the reason once", async () => {
  const note = "the zone blue.example.com in tenant-blue is refused";
  const checks = [
    { name: "arm", check: () => ({ ok: false, note }) },
    { name: "leader", check: () => ({ ok: true, note: "following pod-of-blue" }) },
  ];
  const { read, lines } = await healthOf(checks);
  for (const path of ["/readyz", "/readyz?verbose", "/healthz?verbose"])
    expect(await read(path)).toMatch(
      /^\[-\]arm failed: reason withheld\n\[\+\]leader ok\n(ready|health)z check failed\n$/,
    );
  expect(lines).toEqual([{ check: "arm", reason: note }]);
});

test.each([
  ["127.0.0.1", true],
  ["::1", true],
  ["localhost", true],
  ["0.0.0.0", false],
  ["::", false],
  ["127.example.com", false],
  ["10.0.0.1", false],
])("%s is a loopback address: %s", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
