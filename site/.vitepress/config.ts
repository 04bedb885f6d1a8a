import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

// scripts/build-site.ts writes the pages and the sidebar, and runs this.
const sidebar = JSON.parse(readFileSync(new URL("../pages/sidebar.json", import.meta.url), "utf8"));

export default defineConfig({
  title: "Postern",
  description: "Private connectivity for Kubernetes control planes on Azure",
  srcDir: "pages",
  outDir: "dist",
  // Dead links end the build.
  ignoreDeadLinks: false,
  markdown: { html: false },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar,
    nav: [
      { text: "Guides", link: "/docs/", activeMatch: "^/docs/guides/" },
      { text: "API", link: "/docs/reference/api/", activeMatch: "^/docs/reference/api/" },
      { text: "Commands", link: "/docs/reference/commands" },
      { text: "Changelog", link: "/CHANGELOG" },
    ],
  },
});
