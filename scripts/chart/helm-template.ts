// Writes the templates of packages/postern/src/install in the language of Helm.
import { settingsSchema } from "postern/install/settings.ts";
import {
  type Choice,
  type Condition,
  type Document,
  isNode,
  type Json,
  node,
  type Reference,
  type Repeat,
  type Template,
  type TemplateMap,
  type Text,
  type TextPart,
} from "postern/install/template/template.ts";

/** A file of the chart: one document for each object. */
export function helmDocuments(document: Document): string {
  return `${documentLines(document).join("\n")}\n`;
}

/** A condition as an argument of `if`. */
export function helmCondition(condition: Condition): string {
  if ("not" in condition) return `(not ${helmCondition(condition.not)})`;
  if ("all" in condition) return `(and ${condition.all.map(helmCondition).join(" ")})`;
  if ("any" in condition) return `(or ${condition.any.map(helmCondition).join(" ")})`;
  if ("is" in condition) return `(eq ${helmReference(condition.is)} "${condition.value}")`;
  return helmReference(condition);
}

const releaseNames: Record<string, string> = {
  namespace: "$.Release.Namespace",
  version: "$.Chart.AppVersion",
};

function helmReference(reference: Reference): string {
  const { of, path } = reference;
  switch (of) {
    case "settings":
      schemaAt(path);
      return ["$.Values", ...path].join(".");
    case "item":
      return ["$item", ...path].join(".");
    case "release":
      return releaseNames[path[0] ?? ""] ?? "";
  }
}

interface SchemaNode {
  type?: string;
  pattern?: string;
  enum?: unknown[];
  properties?: Record<string, SchemaNode>;
}

/** The schema of a setting. A path that leads nowhere is a mistake of ours. */
function schemaAt(path: readonly string[]): SchemaNode {
  const found = path.reduce<SchemaNode | undefined>(
    (schema, key) => schema?.properties?.[key],
    settingsSchema as SchemaNode,
  );
  if (found === undefined) throw new Error(`there is no setting ${path.join(".")}`);
  return found;
}

function documentLines(document: Document): string[] {
  if (Array.isArray(document)) return document.flatMap(documentLines);
  const only = document as Exclude<Document, readonly Document[]>;
  if (!isNode(only)) return ["---", ...mapLines(only, 0)];
  return only[node] === "repeat"
    ? rangeLines(only, documentLines)
    : choiceLines(only, documentLines);
}

function choiceLines<T>(
  { condition, value, otherwise }: Choice<T>,
  lines: (each: T) => string[],
): string[] {
  return [
    `{{- if ${helmCondition(condition)} }}`,
    ...lines(value),
    ...(otherwise === undefined ? [] : ["{{- else }}", ...lines(otherwise)]),
    "{{- end }}",
  ];
}

function rangeLines<T>({ list, each }: Repeat<T>, lines: (each: T) => string[]): string[] {
  return [`{{- range $item := ${helmReference(list)} }}`, ...lines(each), "{{- end }}"];
}

function mapLines(map: TemplateMap, indent: number): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    if (key === "...") {
      if (!isNode(value) || value[node] !== "reference")
        throw new Error("... takes the entries of a setting");
      return [
        `{{- with ${helmReference(value)} }}`,
        `{{- toYaml . | nindent ${indent} }}`,
        "{{- end }}",
      ];
    }
    return entryLines(`${scalar(key)}:`, value, indent);
  });
}

/** The lines of an entry of a map or, where the prefix is a dash, of a list. */
function entryLines(prefix: string, value: Template, indent: number): string[] {
  const line = (text: string) => [`${" ".repeat(indent)}${prefix} ${text}`];
  if (Array.isArray(value)) {
    if (value.length === 0) return line("[]");
    return [line("")[0]?.trimEnd() ?? "", ...value.flatMap((each) => itemLines(each, indent + 2))];
  }
  if (isNode(value)) return nodeLines(prefix, value, indent, line);
  if (typeof value !== "object") return line(scalar(value));
  const map = value as TemplateMap;
  if (Object.keys(map).length === 0) return line("{}");
  const inner = mapLines(map, indent + 2);
  const [first = "", ...rest] = inner;
  if (prefix === "-" && first.startsWith(" ")) return [...line(first.trimStart()), ...rest];
  return [line("")[0]?.trimEnd() ?? "", ...inner];
}

function nodeLines(
  prefix: string,
  value: Reference | Text | Json | Choice<Template> | Repeat<Template>,
  indent: number,
  line: (text: string) => string[],
): string[] {
  switch (value[node]) {
    case "reference":
      return line(`{{ toJson ${helmReference(value)} }}`);
    case "text":
      return line(`"${textOf(value)}"`);
    case "json":
      return line(
        value.hashed
          ? `{{ toJson ${helmReference(value.of)} | sha256sum | quote }}`
          : `{{ toJson (toJson ${helmReference(value.of)}) }}`,
      );
    case "choice":
      return choiceLines(value, (each) => entryLines(prefix, each, indent));
    case "repeat":
      throw new Error("a repeat stands in a list");
  }
}

function itemLines(value: Template, indent: number): string[] {
  if (isNode(value) && value[node] === "repeat")
    return rangeLines(value, (each) => itemLines(each, indent));
  return entryLines("-", value, indent);
}

/** A part of a string between quotation marks. */
function textOf(part: TextPart): string {
  if (typeof part === "string") return literal(part);
  switch (part[node]) {
    case "reference":
      return `{{ ${insertable(part)} }}`;
    case "text":
      return part.parts.map(textOf).join("");
    case "choice": {
      const otherwise = part.otherwise === undefined ? "" : `{{ else }}${textOf(part.otherwise)}`;
      return `{{ if ${helmCondition(part.condition)} }}${textOf(part.value)}${otherwise}{{ end }}`;
    }
    case "repeat":
      return `{{ range $item := ${helmReference(part.list)} }}${textOf(part.each)}{{ end }}`;
  }
}

/** A value that cannot end the string that it is put into: its schema says which characters it has. */
function insertable(reference: Reference): string {
  const { of, path } = reference;
  if (of === "settings") {
    const { type, pattern, enum: choices } = schemaAt(path);
    if (type !== "integer" && pattern === undefined && choices === undefined)
      throw new Error(`${path.join(".")} may have any characters, and stands within a string`);
  }
  return helmReference(reference);
}

const yamlWords = /^(true|false|null|yes|no|on|off|y|n)$/i;

function scalar(value: string | number | boolean): string {
  if (typeof value !== "string") return String(value);
  const plain = /^[A-Za-z/][A-Za-z0-9./_-]*$/.test(value) && !yamlWords.test(value);
  return plain ? value : `"${literal(value)}"`;
}

/** Text as it stands between quotation marks, in which nothing is an action of Helm. */
function literal(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll("{{", '{{ "{{" }}');
}
