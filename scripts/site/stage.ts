import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";

/** An entry of the sidebar. */
export interface Item {
  text: string;
  link?: string;
  collapsed?: boolean;
  items?: Item[];
}

/** The pages of the repository, by path. */
export function pagesOf(root: string): string[] {
  const found = globSync(
    ["*.md", "bench/*.md", "docs/**/*.md", "{packages,charts,test}/*/README.md"],
    {
      cwd: root,
    },
  );
  // The build of the published package puts a copy of the README there.
  return found.filter((file) => file !== "packages/postern/README.md").sort();
}

/**
 * The files of the site: path → Markdown. A README is the index of its folder. What a page links to and is no page, such as an
 * example, becomes a page with its text; a folder becomes a page with its files: so no link leaves the site for the repository.
 */
export function stagedFiles(root: string): Map<string, string> {
  const pages = new Set(pagesOf(root));
  const files = new Map<string, string>();
  const others = new Set<string>();
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8");
    files.set(
      nameOf(page),
      linksReplaced(text, page, (target) => {
        if (pages.has(target)) return nameOf(target);
        const readme = `${target}/README.md`;
        if (pages.has(readme)) return nameOf(readme);
        if (!existsSync(join(root, target)) || target.startsWith("docs/images/")) return undefined;
        others.add(target);
        return `${target}.md`;
      }),
    );
  }
  for (const target of others)
    for (const [file, text] of sourcesOf(root, target)) files.set(file, text);
  return files;
}

/** The page of a file or of a folder with its files. */
function sourcesOf(root: string, target: string): [string, string][] {
  if (!statSync(join(root, target)).isDirectory()) return [sourceOf(root, target)];
  const inside = globSync("**/*", { cwd: join(root, target), exclude: ["**/node_modules"] })
    .filter((file) => statSync(join(root, target, file)).isFile())
    .sort();
  const list = inside.map((file) => `- [${file}](./${basename(target)}/${file}.md)`).join("\n");
  const page = `${hidden}# ${target}\n\n${list}\n`;
  return [[`${target}.md`, page], ...inside.map((file) => sourceOf(root, `${target}/${file}`))];
}

/** The search finds guides and reference, not every file that they mention. */
const hidden = "---\nsearch: false\noutline: false\n---\n\n";

const languages: Record<string, string> = {
  ".json": "json",
  ".yaml": "yaml",
  ".ts": "ts",
  ".mts": "ts",
  ".sh": "sh",
};

/** Longer texts are cut: nobody reads them on a page. */
const longest = 200_000;

function sourceOf(root: string, file: string): [string, string] {
  const text = readFileSync(join(root, file), "utf8").slice(0, longest);
  const fence = "`".repeat(8);
  const language = languages[extname(file)] ?? "txt";
  return [`${file}.md`, `${hidden}# ${file}\n\n${fence}${language}\n${text.trimEnd()}\n${fence}\n`];
}

/** Replace the links of a page that lead to files of the repository; undefined leaves one as it is. */
function linksReplaced(
  text: string,
  page: string,
  replace: (target: string) => string | undefined,
): string {
  const parts = text.split(/(^ *```[\s\S]*?^ *```)/m);
  const replaced = parts.map((part, at) => {
    if (at % 2 === 1) return part;
    return part.replaceAll(/\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)/g, (link, path, anchor = "") => {
      const target = join(dirname(page), path).replace(/\/$/, "");
      const name = replace(target);
      if (name === undefined) return link;
      const to = relative(dirname(page), name);
      return `](${to.startsWith(".") ? to : `./${to}`}${anchor})`;
    });
  });
  return replaced.join("");
}

/** The path of a page on the site. */
function nameOf(page: string): string {
  return page.replace(/(^|\/)README\.md$/, "$1index.md");
}

/** The sidebar: guides, reference, API, decisions, and the pages of the project, by their first headings. */
export function sidebarOf(files: Map<string, string>): Item[] {
  const entry = (file: string): Item => ({
    text: /^# (.*)$/m.exec(files.get(file) ?? "")?.[1]?.replaceAll("`", "") ?? file,
    link: `/${file.replace(/(index)?\.md$/, "")}`,
  });
  const within = (folder: string) =>
    [...files.keys()]
      .filter((file) => dirname(file) === folder)
      .sort()
      .map(entry);
  const project = ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
  return [
    { text: "Postern", items: [entry("index.md"), entry("docs/index.md")] },
    { text: "Guides", items: within("docs/guides") },
    { text: "Runbooks", collapsed: true, items: within("docs/runbooks") },
    { text: "Reference", collapsed: true, items: within("docs/reference") },
    { text: "API", collapsed: true, items: within("docs/reference/api") },
    {
      text: "Project",
      collapsed: true,
      items: [...project.filter((file) => files.has(file)).map(entry), entry("docs/security.md")],
    },
    { text: "Decisions", collapsed: true, items: within("docs/decisions") },
  ];
}
