import { execFileSync } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** What the package consists of, by npm: the packages that run in production, with their hashes and licences. */
export function sbom(format: "spdx" | "cyclonedx"): object {
  const flags = ["--sbom-format", format, "--omit", "dev", "--workspace", "postern"];
  const text = execFileSync("npm", ["sbom", "--silent", ...flags], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const made = JSON.parse(text);
  // npm takes the folder of the checkout for the name of the product.
  if (format === "cyclonedx") made.metadata.component.name = "postern";
  else made.name = `postern@${made.name.split("@").at(-1)}`;
  return made;
}
