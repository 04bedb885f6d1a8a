import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type Item, sidebarOf, stagedFiles } from "./site/stage.ts";

const root = join(import.meta.dirname, "..");
const files = stagedFiles(root);

const code = /^ *(`{3,})[\s\S]*?^ *\1$|`[^`\n]*`/gm;

/** Links of a page to pages of the site, without those in code. */
function linksOf(page: string): string[] {
  const text = (files.get(page) ?? "").replaceAll(code, "");
  const links = text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g);
  return Array.from(links, ([, link = ""]) => join(dirname(page), link));
}

test("every link of the site leads to a page of the site", () => {
  const dead = [...files.keys()].flatMap((page) =>
    linksOf(page)
      .filter((link) => !files.has(link) && !link.startsWith("docs/images/"))
      .map((link) => `${page}: ${link}`),
  );
  expect(dead).toEqual([]);
  // The generator takes a link to page.md.md for one to page.md, and finds none.
  expect([...files.keys()].filter((page) => page.endsWith(".md.md"))).toEqual([]);
  expect(files.has("index.md")).toBe(true);
});

test("the sidebar has every guide, every page of the reference and every decision", () => {
  const links = new Set<string>();
  const collect = ({ link, items = [] }: Item) => {
    if (link !== undefined) links.add(link);
    items.forEach(collect);
  };
  sidebarOf(files).forEach(collect);
  const pages = [...files.keys()].filter((file) => /^docs\/.*\.md$/.test(file));
  const missing = pages.filter((file) => !links.has(`/${file.replace(/(index)?\.md$/, "")}`));
  expect(missing.filter((file) => !/\.\w+\.md$/.test(file))).toEqual([]);
});

test("no page has what the generator would take for a template", () => {
  const wrong = [...files].filter(([, text]) => text.replaceAll(code, "").includes("{{"));
  expect(wrong.map(([file]) => file)).toEqual([]);
});
