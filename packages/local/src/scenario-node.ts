import type { Place } from "@postern/azure-simulator/state/seed-entry.ts";
import { putInPlace } from "@postern/azure-simulator/state/seed-file.ts";
import { nearest } from "@postern/core/process/nearest.ts";
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  type YAMLMap,
} from "yaml";
import { LocalError } from "./local-error.ts";

/** A part of a YAML file that knows where it stands. */
export interface Part {
  node: unknown;
  file: string;
  place(node?: unknown): Place;
}

/** A scenario that cannot be used, told with its file, line and column. */
export function scenarioError({ file, line, column }: Place, why: string): LocalError {
  return new LocalError(
    "ScenarioInvalid",
    `${file}:${line}:${column}: ${why} · correct the file and start again`,
  );
}

/** The documents of a YAML file. */
export function readParts(text: string, file: string): Part[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: true });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  // An empty file is one list with something to say about it.
  return [...documents].map((document) => {
    const [error] = document.errors;
    if (error !== undefined)
      throw scenarioError(
        placeAt(error.pos[0]),
        (error.message.split("\n")[0] ?? "").replace(/ at line \d+.*/, ""),
      );
    putInPlace(document as Document.Parsed, (alias, why) =>
      scenarioError(placeAt(alias.range?.[0] ?? 0), why),
    );
    const { contents } = document;
    const place = (node: unknown = contents) => placeAt((node as Node | null)?.range?.[0] ?? 0);
    return { node: contents, file, place };
  });
}

/** Another node of the same file. */
export function partAt(part: Part, node: unknown): Part {
  return { ...part, node, place: (other = node) => part.place(other) };
}

/** The fields of a map, each of which must be known. */
export function fieldsOf(part: Part, name: string, known: readonly string[]): Map<string, Part> {
  if (!isMap(part.node)) throw scenarioError(part.place(), `${name} must be a map`);
  const fields = new Map<string, Part>();
  for (const { key, value } of (part.node as YAMLMap).items) {
    const field = isScalar(key) ? String(key.value) : "";
    if (!known.includes(field)) {
      const meant = nearest(field, [...known]);
      const right = meant ? `did you mean '${meant}'?` : `use one of ${known.join(", ")}`;
      throw scenarioError(part.place(key), `${name} has an unknown field '${field}'; ${right}`);
    }
    if (!(isScalar(value) && value.value === null) && value !== null)
      fields.set(field, partAt(part, value));
  }
  return fields;
}

/** The entries of a list; none where it is absent. */
export function entriesOf(part: Part | undefined, name: string): Part[] {
  if (part === undefined) return [];
  if (!isSeq(part.node)) throw scenarioError(part.place(), `${name} must be a list`);
  return part.node.items.map((node) => partAt(part, node));
}

/** A text; undefined where it is absent. */
export function textOf(part: Part | undefined, name: string): string | undefined {
  if (part === undefined) return undefined;
  if (isScalar(part.node) && typeof part.node.value === "string" && part.node.value !== "")
    return part.node.value;
  throw scenarioError(part.place(), `${name} must be a string`);
}

/** A text that must be there. */
export function neededText(
  fields: Map<string, Part>,
  field: string,
  of: Part,
  name: string,
): string {
  const text = textOf(fields.get(field), `${name}.${field}`);
  if (text === undefined) throw scenarioError(of.place(), `${name} must have '${field}'`);
  return text;
}
