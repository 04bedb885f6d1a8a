import type { ChartChange } from "../chart/chart-yaml.ts";

/** The section of a version in CHANGELOG.md, or what is not released yet. */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((each) => each.startsWith(version)) ?? sections[0] ?? "";
  return found.slice(found.indexOf("\n")).trim();
}

/** The entries of notes as Artifact Hub has them, each in its first sentence. */
export function changesOf(notes: string): ChartChange[] {
  const entries = notes.split(/^- /m).slice(1);
  return entries.map((entry) => {
    const text = entry.replaceAll(/\s+/g, " ").replaceAll("**", "").trim();
    const end = text.search(/[.:](\s|$)/);
    const kind = /\b(attack|credential leak|vulnerab|CVE-)/i.test(text) ? "security" : "changed";
    return { kind, description: end < 0 ? text : text.slice(0, end) };
  });
}
