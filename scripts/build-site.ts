// Builds the documentation site from the pages of the repository into site/dist: npm run docs:build.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sidebarOf, stagedFiles } from "./site/stage.ts";

const root = join(import.meta.dirname, "..");
const site = join(root, "site");
const pages = join(site, "pages");

/** Write every page below site/pages, with its pictures and the sidebar. */
export function stage(): number {
  const files = stagedFiles(root);
  rmSync(pages, { recursive: true, force: true });
  for (const [file, text] of files) {
    mkdirSync(dirname(join(pages, file)), { recursive: true });
    writeFileSync(join(pages, file), text);
  }
  cpSync(join(root, "docs/images"), join(pages, "docs/images"), { recursive: true });
  writeFileSync(join(pages, "sidebar.json"), JSON.stringify(sidebarOf(files)));
  return files.size;
}

/** Run a program in site/; the process ends with its exit code if it fails. */
function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: site, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

if (import.meta.main) {
  // A package of its own, so that `npm ci` of the repository does not install the generator.
  if (!existsSync(join(site, "node_modules/vitepress"))) run("npm", "ci", "--ignore-scripts");
  console.log(`${stage()} pages`);
  run(process.execPath, "node_modules/vitepress/bin/vitepress.js", "build", ".");
}
