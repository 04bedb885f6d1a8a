import { stripTypeScriptTypes } from "node:module";

/** A source as JavaScript. Node runs TypeScript as it is, but not below node_modules. */
export function stripTypes(source: string): string {
  return withJsImports(stripTypeScriptTypes(source));
}

/** The same text with every import of a file of ours, in this package or another, leading to what is built of it. */
export function withJsImports(source: string): string {
  return source.replace(
    /\b((?:from|import)\s*\(?\s*"(?:\.|@postern\/|postern\/)[^"]*)\.ts"/g,
    '$1.js"',
  );
}
