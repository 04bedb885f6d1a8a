// Makes ui/dist, the files of the dashboard, from ui/src. `npm ci` runs it, and so does `npm pack`.
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ui = fileURLToPath(new URL("../ui/", import.meta.url));

// Whoever installs without development dependencies has the built files already.
const bundler = await import("rolldown").catch(() => undefined);
if (bundler === undefined) {
  const there = existsSync(`${ui}dist/app.js`);
  console.log(there ? "the dashboard is built" : "the dashboard is not built: rolldown is missing");
  process.exit();
}

rmSync(`${ui}dist`, { recursive: true, force: true });
mkdirSync(`${ui}dist`, { recursive: true });
for (const entry of ["app.tsx", "layout-worker.ts"])
  await bundler.build({
    input: `${ui}src/${entry}`,
    tsconfig: `${ui}tsconfig.json`,
    transform: { target: "es2023" },
    output: {
      file: `${ui}dist/${entry.replace(/\.tsx?$/, ".js")}`,
      format: "esm",
      minify: true,
    },
    platform: "browser",
    logLevel: "warn",
  });
for (const file of ["index.html", "icon.svg"]) cpSync(`${ui}${file}`, `${ui}dist/${file}`);
cpSync(`${ui}src/app.css`, `${ui}dist/app.css`);
