import { request } from "node:http";
import { connect } from "node:net";
import { noLimits } from "@postern/azure-simulator/arm/throttle.ts";
import { seededRandom } from "@postern/azure-simulator/control/seeded-random.ts";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { expect, test } from "vitest";
import { seed, seeded } from "../setup/random.ts";
import { bodies } from "./bodies.ts";
import { type Ground, type Wild, wild } from "./fuzz-requests.ts";
import { type Got, sendMany } from "./fuzz-send.ts";
import { group, owner, smallWorld, subscription, tenant } from "./small-world.ts";

const count = Number(process.env.FUZZ_COUNT ?? 20_000);
const scratchSubscription = "33333333-3333-4333-8333-333333333333";
const limits = noLimits;

test(`${count} wild requests (${seeded}) are refused in ARM's form and change nothing`, async () => {
  const { simulator, ask, token } = await smallWorld({ limits, arriveMs: 2000 });
  for (const { path, body } of bodies) {
    const made = await ask("PUT", path, body);
    expect(made.status, `${path} ${made.text}`).toBeLessThan(300);
  }
  await ask("GET", bodies[0]?.path ?? "");
  simulator.directory.addSubscription(scratchSubscription, tenant);
  const scratch = (path: string) => path.replace(subscription, scratchSubscription);
  for (const { path, body } of bodies)
    await ask("PUT", scratch(path), JSON.parse(scratch(JSON.stringify(body))));

  const stranger = { tenant: "44444444-4444-4444-8444-444444444444", objectId: "o", appId: "a" };
  const poll = await ask("PUT", scratch(bodies[1]?.path ?? ""), bodies[1]?.body);
  const ground: Ground = {
    chance: seededRandom(String(seed)),
    tokens: {
      good: token,
      otherTenant: simulator.directory.tokenFor(stranger),
      expired: simulator.directory.tokenFor(owner, { forMs: -1000 }),
    },
    poll: (poll.headers.get("azure-asyncoperation") ?? "").slice(simulator.url.length),
    scratch,
  };
  const before = worldOf(simulator);
  const faults = await sendMany(simulator.url, count, () => wild(ground), whyBad);
  expect(faults).toEqual([]);
  expect(worldOf(simulator)).toEqual(before);
  expect((await ask("GET", bodies[1]?.path ?? "")).status).toBe(200);
});

test.each([
  `${group}/providers/Microsoft.Network/virtualNetworks/v/providers/Microsoft.Network/virtualNetworks/w`,
  `/elsewhere/${subscription}/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v`,
  `/subscriptions/${subscription}/elsewhere/rg/providers/Microsoft.Network/virtualNetworks/v/subnets/s`,
  `${group}/elsewhere/x`,
  `/elsewhere/x/providers/Microsoft.Authorization/roleAssignments/${tenant}`,
])("nothing is written to %s", async (path) => {
  const { ask, simulator } = await smallWorld();
  for (const { path: good, body } of bodies.slice(0, 2)) await ask("PUT", good, body);
  await ask("GET", group);
  const before = simulator.snapshot();
  const body = { location: "northeurope", ...bodies[1]?.body, tags: { wrong: "yes" } };
  const refused = await ask("PUT", path, body);
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(refused.body.error).toMatchObject({ code: expect.any(String) });
  expect(simulator.snapshot().resources).toEqual(before.resources);
});

test("a body of 20 MB is refused before it has come, and nothing is kept of it", async () => {
  const { simulator, token } = await smallWorld({ limits });
  const before = process.memoryUsage().rss;
  const path = `${bodies[1]?.path}?api-version=2024-05-01`;
  for (const announced of [true, false]) {
    const statuses = await Promise.all(
      Array.from({ length: 10 }, () => sendLarge(simulator.url + path, token, announced)),
    );
    expect(statuses).toEqual(statuses.map(() => 413));
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  expect(simulator.store.size).toBe(0);
});

test("one who sends a byte now and then does not hold a connection", async () => {
  const { simulator } = await smallWorld({ arriveMs: 300 });
  const { port } = new URL(simulator.url);
  const socket = connect(Number(port), "127.0.0.1");
  let came = "";
  socket.on("data", (chunk) => {
    came += chunk;
  });
  const drip = setInterval(() => socket.write("X-A: b\r\n"), 50);
  socket.on("error", () => undefined);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n");
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  clearInterval(drip);
  expect(came).toMatch(/^HTTP\/1.1 408 /);
  expect(came).toContain('"error":{"code"');
});

/** All that must stay as it is. */
function worldOf(simulator: Simulator): unknown {
  const { resources } = simulator.snapshot();
  return Object.fromEntries(
    Object.entries(resources).filter(([id]) => !id.includes(scratchSubscription)),
  );
}

function whyBad(asked: Wild, { status, text }: Got): string | undefined {
  if (status === 0) return "no answer";
  if (status >= 500 && status !== 501) return `${status} ${text.slice(0, 300)}`;
  // Private DNS takes writes with a wrong etag, and their operations fail.
  const failsLater = asked.kind === "stale etag" && status === 202;
  if (asked.wrong && status < 400 && !failsLater) return `${status}, and it cannot be right`;
  if (status < 400 || asked.method === "HEAD") return undefined;
  try {
    const body = JSON.parse(text) as { error?: { code: unknown; message: unknown } };
    // DNS puts no envelope around its errors.
    const isDns = /\/(private)?dnszones\//i.test(asked.path);
    const error = body.error ?? (isDns ? (body as { code: unknown; message: unknown }) : undefined);
    if (error === undefined) throw new Error("there is no error in it");
    if (typeof error.code === "string" && typeof error.message === "string") return undefined;
  } catch {
    // Told below.
  }
  return `${status} without ARM's form: ${text.slice(0, 200)}`;
}

/** Send 20 MB, with or without saying so before; gives the status. */
function sendLarge(url: string, token: string, announced: boolean): Promise<number> {
  const size = 20 * 1024 * 1024;
  return new Promise((resolve) => {
    const sent = request(
      url,
      {
        method: "PUT",
        headers: {
          authorization: `Bearer ${token}`,
          ...(announced && { "content-length": size }),
        },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
        sent.destroy();
      },
    );
    sent.on("error", () => resolve(0));
    const chunk = Buffer.alloc(65_536, 0x20);
    let left = size;
    const more = () => {
      while (left > 0 && !sent.destroyed) {
        left -= chunk.length;
        if (!sent.write(chunk)) {
          sent.once("drain", more);
          return;
        }
      }
      sent.end();
    };
    more();
  });
}
