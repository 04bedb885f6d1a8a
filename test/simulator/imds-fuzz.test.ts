import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { seededRandom } from "@postern/azure-simulator/control/seeded-random.ts";
import { eventVersions, instanceVersions } from "@postern/azure-simulator/imds/versions.ts";
import { expect, test } from "vitest";
import { seed, seeded } from "../setup/random.ts";
import { bodies } from "./bodies.ts";
import { cut, junk, methods, mutated, picker, raw, segments } from "./fuzz-requests.ts";
import { type Got, type Sendable, sendMany } from "./fuzz-send.ts";
import { group, smallWorld } from "./small-world.ts";

const count = Number(process.env.FUZZ_COUNT ?? 20_000) / 4;
const machine = `${group}/providers/Microsoft.Compute/virtualMachines/vm`;
const versions = [...instanceVersions, ...eventVersions];

const paths = [
  "instance",
  "instance/compute",
  "instance/compute/storageProfile/osDisk/name",
  "instance/network/interface/0/ipv4/ipAddress/0/privateIpAddress",
  "loadbalancer",
  "versions",
  "scheduledevents",
  "identity/oauth2/token",
  "identity/oauth2/token/",
  "attested/document",
];
const values = [
  "",
  "x",
  "%00",
  "%",
  "%ff",
  "..",
  "https%3A%2F%2Fmanagement.azure.com%2F",
  "https://management.azure.com/",
  "text",
  "json",
  "x".repeat(5000),
  "__proto__",
];
const names = [
  "api-version",
  "format",
  "resource",
  "client_id",
  "object_id",
  "msi_res_id",
  "__proto__",
  "%",
];

/** Make the next one. */
function wild(chance: () => number, event: string): Sendable & { kind: string } {
  const pick = picker(chance);
  const path = pick(paths);
  const query = `api-version=${pick(versions)}&resource=https://management.azure.com/`;
  const right = {
    method: "GET",
    path: `/metadata/${path}?${query}`,
    headers: { metadata: "true" },
  };
  const agreed = { StartRequests: [{ EventId: event }] };
  const agreeing = {
    ...right,
    method: "POST",
    path: `/metadata/scheduledevents?api-version=${pick(eventVersions)}`,
  };
  const makers: (() => Sendable & { kind: string })[] = [
    () => ({ ...right, kind: "right" }),
    () => ({
      ...right,
      kind: "wild query",
      path: `${right.path}&${pick(names)}=${pick(values)}&${pick(names)}${pick(["", "="])}`,
    }),
    () => ({
      ...right,
      kind: "wild version",
      path: `/metadata/${path}?api-version=${pick(values)}`,
    }),
    () => ({
      ...right,
      kind: "wild path",
      path: `/metadata/${path}/${pick([...segments, "__proto__", "constructor", "0", "-1", "1e9"])}?${query}&format=${pick(values)}`,
    }),
    () => ({
      ...right,
      kind: "wild root",
      path: `${pick(["/", "//", "/metadata", "/metadata//", "//metadata/instance", "/\\", "*", "http://x/metadata/instance"])}?${query}`,
    }),
    () => ({
      ...right,
      kind: "wild header",
      headers: pick<Record<string, string>>([
        {},
        { metadata: "" },
        { metadata: "x".repeat(3000) },
        { metadata: "true", "x-forwarded-for": "" },
        { metadata: "true", host: "evil.example" },
      ]),
    }),
    () => ({
      ...right,
      kind: "another method",
      method: pick([...methods, "OPTIONS", "PROPFIND"]),
    }),
    () => ({ ...agreeing, kind: "agreed", body: JSON.stringify(agreed) }),
    () => ({
      ...agreeing,
      kind: "wild agreement",
      body: JSON.stringify(mutated(agreed, chance, pick(junk))),
    }),
    () => ({
      ...agreeing,
      kind: "cut agreement",
      body: pick(["null", "[]", "{}", cut(JSON.stringify(agreed), chance), "[".repeat(20_000)]),
    }),
    () => ({ ...right, kind: "raw bytes", raw: raw(right.path, chance, pick) }),
  ];
  return pick(makers)();
}

test(`${count} wild requests to the metadata service (${seeded}) are answered or refused`, async () => {
  const clock = new ManualClock();
  const { simulator, ask } = await smallWorld({ clock });
  for (const { path, body } of bodies) {
    const made = await ask("PUT", path, body);
    expect(made.status, `${path} ${made.text}`).toBeLessThan(300);
  }
  const imds = await simulator.machines.find(machine);
  if (!imds) throw new Error("the machine has no metadata service");
  const chance = seededRandom(String(seed));
  const next = () => {
    // Five requests a second are all that the service takes, and each must be looked at.
    clock.moveTo(clock.now() + 10_000);
    return wild(chance, imds.schedule({ type: "Freeze" }));
  };
  const told = new Set<number>();
  const faults = await sendMany(imds.url, count, next, (asked, got) => {
    told.add(got.status);
    return whyBad(asked, got);
  });
  expect(faults).toEqual([]);
  expect([...told]).toEqual(expect.arrayContaining([200, 400, 404, 405]));
});

function whyBad({ method, path, raw }: Sendable, { status, text }: Got): string | undefined {
  if (status === 0) return `no answer: ${text}`;
  // Attested documents are not made, and the service says so.
  if (status === 501 && /\/attested(\/|$|\?)/.test(path)) return undefined;
  if (status >= 500) return `${status} ${text.slice(0, 300)}`;
  // What is no HTTP is refused by the server itself, without words.
  if (status < 400 || method === "HEAD" || raw !== undefined) return undefined;
  try {
    const { error } = JSON.parse(text) as { error: unknown };
    if (typeof error === "string") return undefined;
  } catch {
    // Told below.
  }
  return `${status} without an error: ${text.slice(0, 200)}`;
}
