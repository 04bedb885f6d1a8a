// Makes packages/dashboard/dist, the files of the dashboard. `npm ci` runs it, and so does `npm pack`.
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const dashboard = fileURLToPath(new URL("../packages/dashboard/", import.meta.url));

// Whoever installs without development dependencies has the built files already.
const bundler = await import("rolldown").catch(() => undefined);
if (bundler === undefined) {
  const there = existsSync(`${dashboard}dist/app.js`);
  console.log(there ? "the dashboard is built" : "the dashboard is not built: rolldown is missing");
  process.exit();
}

// It takes the place of the old one whole: somebody may be reading that.
const made = `${dashboard}dist.new`;
rmSync(made, { recursive: true, force: true });
mkdirSync(made, { recursive: true });
await bundler.build({
  input: `${dashboard}src/app.tsx`,
  tsconfig: `${dashboard}tsconfig.json`,
  transform: { target: "es2023" },
  output: {
    file: `${made}/app.js`,
    format: "esm",
    minify: true,
  },
  platform: "browser",
  logLevel: "warn",
});
for (const file of ["index.html", "icon.svg"]) cpSync(`${dashboard}${file}`, `${made}/${file}`);
cpSync(`${dashboard}src/app.css`, `${made}/app.css`);
rmSync(`${dashboard}dist`, { recursive: true, force: true });
renameSync(made, `${dashboard}dist`);
