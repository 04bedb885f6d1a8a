#!/usr/bin/env node
// Plain JavaScript that old versions of Node can read.
import { existsSync } from "node:fs";

const needed = 24;

if (Number(process.versions.node.split(".")[0]) >= needed) {
  // A checkout has the sources, and Node runs them as they are. The published package has what was made of them.
  const source = new URL("../src/command/main.ts", import.meta.url);
  const made = new URL("../dist/command/main.js", import.meta.url);
  const { main } = await import((existsSync(source) ? source : made).href);
  process.exitCode = await main(process.argv.slice(2));
} else {
  console.error(
    `azure-simulator: this is Node ${process.versions.node}, and Node ${needed} or later is needed; install it from https://nodejs.org`,
  );
  process.exitCode = 1;
}
