#!/usr/bin/env node
// Plain JavaScript that old versions of Node can read: it only finds a Node that can run the rest.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const needed = 24;

/** Tells the run that an older Node starts that it has a channel to it, and ends with it. */
const endsWithParent = "POSTERN_ENDS_WITH_PARENT";

if (majorOf(process.versions.node) >= needed) {
  if (process.env[endsWithParent] && process.channel) {
    // The channel closes when the older Node is gone, also where it was killed and could pass no signal on.
    process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
    process.channel.unref();
  }
  delete process.env[endsWithParent];
  // A checkout has the sources, and Node runs them as they are. The published package has what was made
  // of them, because Node strips no types below node_modules.
  const source = new URL("../src/main.ts", import.meta.url);
  const made = new URL("../dist/main.js", import.meta.url);
  const { main } = await import((existsSync(source) ? source : made).href);
  process.exitCode = await main(process.argv.slice(2));
} else {
  const newer = newerNode();
  if (newer === undefined) {
    console.error(
      `postern: this is Node ${process.versions.node}, and Postern needs Node ${needed} or later; ` +
        "install it from https://nodejs.org, or run `npm ci` in a checkout of Postern, which brings its own",
    );
    process.exitCode = 1;
  } else {
    runWith(newer);
  }
}

function majorOf(version) {
  return Number(version.split(".")[0]);
}

/** The Node that the npm package `node` brings, where it is installed. */
function newerNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve("node/package.json");
    const node = join(dirname(manifest), "bin", "node");
    const { version } = createRequire(import.meta.url)(manifest);
    return majorOf(version) >= needed && existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

/** Runs this file again, and is to its caller what that run is: same streams, signals and exit code. */
function runWith(node) {
  const self = fileURLToPath(import.meta.url);
  const child = spawn(node, [self, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [endsWithParent]: "1" },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"]) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both of us. Twice would mean "at once" to a program that stops in order.
      if (signal === "SIGINT" && process.stdin.isTTY) return;
      child.kill(signal);
    });
  }
  child.on("error", (error) => {
    console.error(`postern: ${node} cannot be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    if (signal === null) {
      process.exitCode = code;
      return;
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
