import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../package/run-bin.ts";
import { describeWhere } from "../setup/needs.ts";
import { rejectsOnSignal } from "../setup/rejecting.ts";
import { folder, spawnLocal, startLocal, startLocalIn } from "./running.ts";

/** Whether something listens at an address. */
function listens(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s in the middle of the work ends everything in order",
  async (signal) => {
    const local = await startLocal("--speed", "20");
    await expect.poll(local.output, { timeout: 60_000 }).toContain("create link service");
    const urls = [
      local.ready.kubernetes.url,
      local.ready.operator.url,
      local.ready.azure?.resourceManagerHttp ?? "",
      ...(local.ready.azure?.machines.map(({ metadata }) => metadata) ?? []),
    ];
    expect(await Promise.all(urls.map(listens))).not.toContain(false);
    expect(await local.end(signal)).toEqual({ exitCode: 0, signal: null });
    expect(await Promise.all(urls.map(listens))).not.toContain(true);
    expect(existsSync(local.ready.data)).toBe(false);
  },
  120_000,
);

test("a promise that is rejected and that nobody awaits ends nothing", async () => {
  const local = await startLocalIn(rejectsOnSignal, "--scenario", "empty");
  process.kill(local.ready.pid, "SIGUSR2");
  const metrics = async () => (await fetch(`${local.ready.operator.url}/metrics`)).text();
  await expect.poll(metrics).toContain('unhandled_rejections_total{controller="unknown"} 1\n');
  expect(readFileSync(local.ready.operator.log, "utf8")).toContain("nobody awaits this");
  expect(await local.end()).toEqual({ exitCode: 0, signal: null });
}, 120_000);

test("a stop before it is ready leaves nothing", async () => {
  const place = folder();
  const readyFile = join(place, "ready.json");
  const args = ["--port-base", "0", "--ready-file", readyFile];
  const { child, output } = spawnLocal(args, onTestFinished, { TMPDIR: place });
  const begun = () => readdirSync(place).some((name) => name.startsWith("postern-local-"));
  await expect.poll(begun, { interval: 5 }).toBe(true);
  child.kill("SIGINT");
  await once(child, "close");
  expect(child.exitCode, output()).toBe(0);
  expect(begun()).toBe(false);
  expect(existsSync(readyFile)).toBe(false);
}, 120_000);

const script = "/usr/bin/script";
describeWhere(
  existsSync(script) ? undefined : `there is no ${script}, which gives a terminal`,
  "on a terminal",
  () => {
    test("every cluster has a line that is drawn in place, and Ctrl-C ends it", async () => {
      const bin = `${process.execPath} ${join(root, "packages/postern/bin/postern.js")} local --port-base 0 --speed 100`;
      const child = spawn(script, ["-qec", `stty cols 40 rows 24; exec ${bin}`, "/dev/null"], {
        stdio: ["pipe", "pipe", "inherit"],
        env: { ...process.env, TERM: "xterm", NO_COLOR: "1" },
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (more: string) => {
        text += more;
      });
      await expect.poll(() => text, { timeout: 90_000 }).toMatch(/7 of 7 Healthy/);
      child.stdin.write("\x03");
      await once(child, "exit");
      expect(child.exitCode).toBe(0);
      expect(text).toContain("\x1b[8A");
      const drawn = text.slice(text.indexOf("demo ·"));
      const lines = stripVTControlCharacters(drawn).split(/[\r\n]+/);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
    }, 180_000);
  },
);
