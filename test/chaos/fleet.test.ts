import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Fleet, isBug } from "./fleet.ts";

let folder: string;
let fleet: Fleet;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-fleet-"));
  await writeFile(join(folder, "program.js"), "setInterval(() => {}, 1_000);");
  fleet = new Fleet(folder, { watch: () => undefined, dismiss: () => undefined });
});

afterEach(async () => {
  await fleet.close();
  for (const pid of running()) process.kill(pid, "SIGKILL");
  await rm(folder, { recursive: true });
});

const program = () => ({ name: "agent", file: join(folder, "program.js"), given: {} });

/** The processes that run the program of this test. */
function running(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
      } catch {
        return false; // gone meanwhile
      }
    })
    .map(Number);
}

test.each([
  ["TypeError", true],
  ["KubeError", false],
  ["AzureError", false],
])("an InternalError that is a %s: a bug is %s", (type, bug) => {
  const err = { type, message: "failed to allocate a serviceIP: range is full" };
  expect(isBug(JSON.stringify({ reason: "InternalError", err, msg: "reconcile failed" }))).toBe(
    bug,
  );
});

test("a program that is killed is started again", async () => {
  fleet.start(program());
  const [first] = running();
  fleet.kill("agent", 1);
  await vi.waitFor(() => expect(running().filter((pid) => pid !== first)).toHaveLength(1));
  expect(fleet.absences).toHaveLength(1);
  expect(fleet.faults).toEqual([]);
});

test("a program that is retired and started between its end and its next start runs once, and not after the end", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  try {
    fleet.start(program());
    fleet.kill("agent", 1_000);
    await fleet.retire("agent");
    fleet.start(program());
    vi.advanceTimersByTime(1_000);
  } finally {
    vi.useRealTimers();
  }
  expect(running()).toHaveLength(1);
  await fleet.close();
  expect(running()).toEqual([]);
});

test("nothing starts any more once it closes", async () => {
  fleet.start(program());
  const closed = fleet.close();
  fleet.start({ ...program(), name: "late" });
  await closed;
  expect(running()).toEqual([]);
});
