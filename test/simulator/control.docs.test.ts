import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { ManualClock } from "../../src/simulator/manual-clock.ts";
import { readSeed } from "../../src/simulator/seed-file.ts";
import { group, owner, smallWorld } from "./small-world.ts";

const example = join(import.meta.dirname, "../../examples/simulator/world.yaml");
const page = readFileSync(
  join(import.meta.dirname, "../../docs/reference/simulator-control.md"),
  "utf8",
);

test("every example of the page runs, in its order", async () => {
  // The last clock example moves years on; a token must outlive that.
  const world = readSeed(readFileSync(example, "utf8"), example);
  const { simulator } = await smallWorld({ clock: new ManualClock(Date.UTC(2026, 0, 1)), world });
  const [machine] = await simulator.machines.list();
  const token = simulator.directory.tokenFor(owner, { forMs: 20 * 365 * 86_400_000 });
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  expect(blocks.length).toBeGreaterThan(4);
  let said = "";
  for (const block of blocks) {
    const ended = await run(block, {
      CONTROL: `${simulator.url}/_postern`,
      ARM: simulator.url,
      TOKEN: token,
      GROUP: group,
      MACHINE: machine?.id ?? "",
    });
    expect(ended, block).toMatchObject({ status: 0, stderr: "" });
    said += ended.stdout;
  }
  expect(said).toContain('"now":"2036-01-01T00:00:00.000Z"');
  expect(said).toContain('{"path":"top.tags","to":{"team":"edge"}}');
});

test("the page names every page that there is, and no other", async () => {
  const { control } = await smallWorld();
  const { error } = (await control("GET", "nothing")).body as { error: { message: string } };
  const known = [...error.message.matchAll(/(GET|POST|PUT|DELETE) (\w+)/g)].map(
    ([, method, name]) => `${method} ${name}`,
  );
  const told = [...page.matchAll(/curl -s\w* (?:-X (\w+) )?"\$CONTROL\/(\w+)/g)].map(
    ([, method = "GET", name]) => `${method} ${name}`,
  );
  expect(known.slice(1).filter((each) => !told.includes(each))).toEqual([]);
  expect(told.filter((each) => !known.includes(each))).toEqual([]);
});

/** The server is in this process, so the shell must not stop it. */
async function run(script: string, env: Record<string, string>) {
  const child = spawn("bash", ["-euo", "pipefail", "-c", script], {
    env: { ...process.env, ...env },
  });
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once("close", resolve)),
  ]);
  return { stdout, stderr, status };
}
