import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { expect, onTestFinished, test } from "vitest";
import {
  group,
  network,
  networkBody,
  owner,
  smallWorld,
  subscription,
  tenant,
} from "./small-world.ts";
import { startChecked } from "./start.ts";

function stateFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "st-state-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "state");
}

test("the world, its operations and a manual clock are the same after a restart", async () => {
  const file = stateFile();
  const options = { state: { file }, operationMs: { "*": 60_000 } };
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const first = await smallWorld({ ...options, clock });
  await first.ask("PUT", group, { location: "westeurope" });
  await first.ask("PUT", network, networkBody({ a: "1" }));
  first.simulator.moveClock(60_000);
  const begun = await first.ask("PUT", network, networkBody({ a: "2" }));
  const before = first.simulator.snapshot();
  const etag = (await first.ask("GET", network)).headers.get("etag");
  await first.simulator.close();

  const second = await smallWorld({ ...options, clock: new ManualClock(0) });
  expect(second.simulator.snapshot()).toEqual(before);
  expect((await second.ask("GET", network)).headers.get("etag")).toBe(etag);
  const poll = new URL(begun.headers.get("azure-asyncoperation") ?? "");
  const look = () => second.ask("GET", poll.pathname + poll.search);
  expect((await look()).body).toEqual({ status: "InProgress" });
  second.simulator.moveClock(60_000);
  expect((await look()).body).toEqual({ status: "Succeeded" });
  expect((await second.ask("GET", network)).body.properties).toMatchObject({
    provisioningState: "Succeeded",
  });
});

test("guids go on after a restart and none is given twice", async () => {
  const file = stateFile();
  const guids = new Set<string>();
  for (let run = 0; run < 3; run++) {
    const simulator = await startChecked({ state: { file } });
    for (let i = 0; i < 10; i++) guids.add(simulator.world.guid());
    await simulator.close();
  }
  expect(guids.size).toBe(30);
});

test("who can sign in, and the tokens they have, are the same after a restart", async () => {
  const file = stateFile();
  const first = await smallWorld({ state: { file } });
  const { directory } = first.simulator;
  const made = directory.addApplication({ tenant, displayName: "app", secrets: [{ value: "s" }] });
  await first.ask("PUT", group, { location: "westeurope" });
  const identity = `${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/signs-in`;
  const { properties } = (await first.ask("PUT", identity, { location: "westeurope" })).body;
  await first.simulator.close();

  const simulator = await startChecked({ state: { file } });
  onTestFinished(() => simulator.close());
  expect(simulator.directory.tenantOf(subscription)).toBe(tenant);
  expect(simulator.directory.application(made.appId)).toEqual(made);
  const { clientId } = properties as { clientId: string };
  expect(simulator.directory.application(clientId)?.resourceId).toBe(identity);
  expect(simulator.directory.authenticate(`Bearer ${first.token}`).objectId).toBe(owner.objectId);
});

test("a list keeps its order, also when something was deleted and made again", async () => {
  const file = stateFile();
  const names = async (world: Awaited<ReturnType<typeof smallWorld>>) =>
    (
      (await world.ask("GET", `/subscriptions/${subscription}/resourceGroups`)).body.value as {
        name: string;
      }[]
    ).map((each) => each.name);
  const first = await smallWorld({ state: { file } });
  for (const name of ["c", "a", "b"])
    await first.ask("PUT", `/subscriptions/${subscription}/resourceGroups/${name}`, {
      location: "westeurope",
    });
  const { store } = first.simulator;
  const requeue = store.get(`/subscriptions/${subscription}/resourceGroups/c`);
  if (!requeue) throw new Error("it is not there");
  store.remove(requeue.key);
  store.put(requeue);
  expect(await names(first)).toEqual(["a", "b", "c"]);
  await first.simulator.close();
  expect(await names(await smallWorld({ state: { file } }))).toEqual(["a", "b", "c"]);
});

test.each([
  ["rubbish", Buffer.alloc(5000, "rubbish ")],
  ["a database cut short", undefined],
])("%s is refused and left as it is; reset keeps it aside", async (_what, given) => {
  const file = stateFile();
  let bytes = given;
  if (!bytes) {
    const world = await smallWorld({ state: { file } });
    await world.ask("PUT", group, { location: "westeurope" });
    for (let i = 0; i < 50; i++) await world.ask("PUT", `${network}${i}`, networkBody());
    await world.simulator.close();
    const whole = readFileSync(file);
    bytes = Buffer.concat([whole.subarray(0, 8192), Buffer.alloc(whole.length - 8192, 0x5a)]);
  }
  writeFileSync(file, bytes);
  await expect(startChecked({ state: { file } })).rejects.toThrow(
    /cannot be read · .* · the file is unchanged; start over with --reset/,
  );
  expect(readFileSync(file).equals(bytes)).toBe(true);
  const simulator = await startChecked({ state: { file, reset: true } });
  expect(simulator.store.size).toBe(0);
  await simulator.close();
  expect(readFileSync(`${file}.aside`).equals(bytes)).toBe(true);
});

test("reset empties a good file", async () => {
  const file = stateFile();
  const world = await smallWorld({ state: { file } });
  await world.ask("PUT", group, { location: "westeurope" });
  await world.simulator.close();
  const simulator = await startChecked({ state: { file, reset: true } });
  expect(simulator.store.size).toBe(0);
  await simulator.close();
  expect(existsSync(`${file}.aside`)).toBe(false);
});

test("a second simulator on the same file is refused, reset or not", async () => {
  const file = stateFile();
  await smallWorld({ state: { file } });
  for (const reset of [false, true])
    await expect(startChecked({ state: { file, reset } })).rejects.toThrow(/in use/);
});

test("a folder that is not there is reported in one line", async () => {
  await expect(startChecked({ state: { file: join(stateFile(), "no", "such") } })).rejects.toThrow(
    /cannot be written · .* · use a file in an existing, writable folder with --state/,
  );
});

test("a full disk is reported as what it is, and what was answered is there after it", async () => {
  const file = stateFile();
  const failed: Error[] = [];
  const { simulator, ask } = await smallWorld({
    state: { file, mostPages: 40 },
    failed: (error) => failed.push(error),
  });
  await ask("PUT", group, { location: "westeurope" });
  const answered: string[] = [];
  for (let i = 0; failed.length === 0; i++) {
    const id = `${network}${i}`;
    // What cannot be kept is not answered at all.
    const asked = ask("PUT", id, networkBody({ filler: "x".repeat(250) })).then(
      () => answered.push(id),
      () => undefined,
    );
    while (failed.length === 0 && answered.length === i)
      await new Promise((resolve) => setImmediate(resolve));
    if (failed.length > 0) await Promise.all([simulator.close(), asked]);
  }
  expect(failed.map((error) => error.message)).toEqual([
    `the state file ${file} cannot be written · the disk is full · free some space and start again; every acknowledged write is saved`,
  ]);
  expect(answered.length).toBeGreaterThan(5);
  const after = await startChecked({ state: { file } });
  expect(answered.filter((id) => !after.store.get(id))).toEqual([]);
});

test("a disk that is full at the start is reported too, and reset is not advised", async () => {
  const file = stateFile();
  const started = startChecked({ state: { file, mostPages: 1 } });
  await expect(started).rejects.toThrow(/cannot be written · the disk is full · free some space/);
});

test.skipIf(process.platform === "win32")("only its owner can read the file", async () => {
  const file = stateFile();
  const mode = (name: string) => (statSync(name).mode & 0o777).toString(8);
  const folder = join(file, "..");
  const before = process.umask(0);
  onTestFinished(() => {
    process.umask(before);
  });
  for (let run = 0; run < 2; run++) {
    const world = await smallWorld({ state: { file } });
    await world.ask("PUT", group, { location: "westeurope" });
    expect(readdirSync(folder).map((name) => mode(join(folder, name)))).toEqual(["600", "600"]);
    await world.simulator.close();
    // One that an earlier version made for everyone is closed to them.
    chmodSync(file, 0o644);
  }
});

test("killed in the middle of writes it has every answered write, and none by half", async () => {
  const file = stateFile();
  const answered = new Set<number>();
  for (let round = 0; round < 3; round++) {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, "writing-child.ts"), file, String(round * 1_000_000)],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    // Each line is a number whose write was answered.
    const lines = createInterface({ input: child.stdout });
    let seen = 0;
    lines.on("line", (line) => {
      answered.add(Number(line));
      if (++seen === 60 + round * 17) child.kill("SIGKILL");
    });
    await once(child, "close");
    expect(seen).toBeGreaterThan(0);

    const { simulator } = await smallWorld({ state: { file } });
    const { store } = simulator;
    for (const number of answered) {
      const found = store.get(`${group}/providers/Microsoft.Network/virtualNetworks/v${number}`);
      expect(found, `network ${number}`).toBeDefined();
      // A network and its subnets are one write.
      expect(store.count(`${found?.key}/subnets`), `subnets of ${number}`).toBe(3);
    }
    for (const each of store.all()) {
      const running = each.operation && simulator.operations.get(each.operation);
      if (each.operation) expect(running, each.id).toBeDefined();
    }
    await simulator.close();
  }
  expect(answered.size).toBeGreaterThan(150);
});
