#!/usr/bin/env node
// Plain JavaScript that old versions of Node can read. It imports nothing before it must: an import of a module of Node reads
// every name in it, and some of them load more.
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
  const { existsSync } = process.getBuiltinModule("node:fs");
  // The agent has a main of its own, which loads nothing of the other programs.
  const program = process.argv[2] === "agent" ? "agent/main" : "main";
  const source = new URL(`../src/${program}.ts`, import.meta.url);
  const made = new URL(`../dist/${program}.js`, import.meta.url);
  const { main } = await import((existsSync(source) ? source : made).href);
  process.exitCode = await main(process.argv.slice(2));
} else {
  const { runByNewerNode } = await import("./older-node.js");
  runByNewerNode(needed, endsWithParent);
}

function majorOf(version) {
  return Number(version.split(".")[0]);
}
