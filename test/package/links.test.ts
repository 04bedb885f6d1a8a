import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run-bin.ts";

const pages = [
  ...readdirSync(root).filter((file) => file.endsWith(".md")),
  ...globSync("packages/*/README.md", { cwd: root, exclude: ["packages/postern"] }),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
].sort();

const inBlocks = /^```[\s\S]*?^```/gm;
const textOf = (page: string) => readFileSync(join(root, page), "utf8").replaceAll(inBlocks, "");

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/\]\([^)]*\)/g, "")
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

/** The links of a page that lead nowhere: to no file, or to no heading of one. */
function broken(page: string): string[] {
  // A regular expression in code may look like a link.
  const links = textOf(page)
    .replaceAll(/`[^`\n]*`/g, "")
    .matchAll(/\]\((?!\w+:)([^)\s]*)\)/g);
  return Array.from(links, ([, link = ""]) => link).filter((link) => {
    const [path = "", anchor] = link.split("#");
    const file = path === "" ? page : relative(root, join(root, dirname(page), path));
    if (!existsSync(join(root, file))) return true;
    return anchor !== undefined && file.endsWith(".md") && !anchorsOf(file).includes(anchor);
  });
}

test.each(pages)("the links of %s lead to files and headings that are there", (page) => {
  expect(broken(page)).toEqual([]);
});

test("the README leads to every guide and every page of the reference", () => {
  const seen = new Set(["README.md"]);
  for (const page of seen)
    for (const [, link = ""] of textOf(page).matchAll(/\]\((?!\w+:)([^)#\s]+)/g)) {
      const file = relative(root, join(root, dirname(page), link));
      if (file.endsWith(".md") && existsSync(join(root, file))) seen.add(file);
    }
  const wanted = pages.filter((page) => /^docs\/(guides|reference)\//.test(page));
  expect(wanted.filter((page) => !seen.has(page))).toEqual([]);
});
