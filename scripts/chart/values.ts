// Writes values.yaml, values.schema.json and the table of values from the settings.
import { settingsSchema } from "postern/install/settings.ts";
import { stringify } from "yaml";

interface SchemaNode {
  type?: string;
  description?: string;
  default?: unknown;
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  enum?: unknown[];
  required?: string[];
}

const schema = settingsSchema as unknown as SchemaNode;

/** values.yaml: every setting with its default, and what it does. */
export function valuesYaml(): string {
  const head = [
    "# Made by scripts/generate-chart.ts from packages/postern/src/install/settings.ts. Do not edit.",
    "# yaml-language-server: $schema=values.schema.json",
  ];
  return `${[...head, ...valueLines(schema, 0)].join("\n")}\n`;
}

function valueLines({ properties = {} }: SchemaNode, indent: number): string[] {
  const pad = " ".repeat(indent);
  return Object.entries(properties).flatMap(([key, each]) => {
    const choices = each.enum ? ` One of ${each.enum.join(", ")}.` : "";
    const comment = `${pad}# ${each.description ?? ""}${choices}`.trimEnd();
    if (isGroup(each)) return [comment, `${pad}${key}:`, ...valueLines(each, indent + 2)];
    const text = stringify({ [key]: each.default }, { lineWidth: 0 }).trimEnd();
    return [comment, ...text.split("\n").map((line) => pad + line)];
  });
}

/** Whether it is a group of settings, and not one. */
function isGroup({ properties, default: usual }: SchemaNode): boolean {
  return usual === undefined && Object.keys(properties ?? {}).length > 0;
}

/** values.schema.json. Nothing is required that has a default: editors validate files with a few values. */
export function valuesSchema(): string {
  const { properties, ...rest } = editable(schema);
  const whole = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the chart postern",
    ...rest,
    // Helm adds it where the chart is a dependency of another.
    properties: { ...properties, global: { type: "object" } },
  };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
}

function editable(each: SchemaNode): SchemaNode {
  const plain = JSON.parse(JSON.stringify(each)) as SchemaNode;
  const { required: _, ...rest } = plain;
  if (plain.properties === undefined) return plain;
  const properties = Object.entries(plain.properties).map(([key, inner]) => [key, editable(inner)]);
  return { ...rest, properties: Object.fromEntries(properties) };
}

/** The rows of the README. */
export function valueRows(each: SchemaNode = schema, path: string[] = []): string[] {
  return Object.entries(each.properties ?? {}).flatMap(([key, inner]) => {
    const at = [...path, key];
    if (isGroup(inner)) return valueRows(inner, at);
    const choices = inner.enum
      ? ` One of ${inner.enum.map((one) => `\`${one}\``).join(", ")}.`
      : "";
    const cells = [
      `\`${at.join(".")}\``,
      `\`${JSON.stringify(inner.default)}\``,
      `${inner.description ?? ""}${choices}`,
    ];
    return [`| ${cells.join(" | ")} |`];
  });
}
