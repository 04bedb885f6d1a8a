import { readdirSync, readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import type { ObjectTemplate } from "../template/template.ts";

/** In a checkout they lie at its root, and the build puts them beside `dist`. */
const root = import.meta.url.endsWith(".ts") ? "../../../../../" : "../../../";
const folder = new URL(`${root}manifests/`, import.meta.url);

/** The objects of a file under `manifests`. */
export function readManifests(file: string): ObjectTemplate[] {
  const text = readFileSync(new URL(file, folder), "utf8");
  return parseAllDocuments(text).map((document) => document.toJS() as ObjectTemplate);
}

/** The names of the files in a folder of `manifests`. */
export function manifestFiles(name: string): string[] {
  return readdirSync(new URL(`${name}/`, folder)).sort();
}
