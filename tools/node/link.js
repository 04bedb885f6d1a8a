// Plain JavaScript that old versions of Node can read: npm runs it before there is a newer one on the path.
import { existsSync, linkSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { newerNode } from "../../packages/postern/bin/older-node.js";

const needed = 24;
const node = newerNode(needed);

if (node !== undefined) {
  // All platform packages have a bin of the same name, and npm 10 takes the link away with those that it leaves out.
  const bin = new URL(`../../node_modules/.bin/${basename(node)}`, import.meta.url);
  if (!existsSync(bin)) linkSync(node, fileURLToPath(bin));
} else if (Number(process.versions.node.split(".")[0]) < needed) {
  console.error(
    `postern: no Node ${needed} was installed · tools/node has no package for ${process.platform} ${process.arch}, its hash is not ` +
      "the one in package-lock.json, or npm left optional dependencies out · run npm ci without --omit=optional, or install " +
      `Node ${needed} from https://nodejs.org`,
  );
  process.exitCode = 1;
}
