import { type Fields, setField } from "../schema/plain.ts";
import { messages } from "./messages.ts";
import { wireFields } from "./wire.ts";

interface Field {
  name: string;
  /** `text`, `int`, `flag`, `bytes`, or the name of a message. */
  form: string;
  /** Whether zero is a value like any other. */
  said: boolean;
  many: "list" | "map" | undefined;
}

const read = new Map<string, Map<number, Field>>();

function fieldsOf(message: string): Map<number, Field> {
  const known = read.get(message);
  if (known !== undefined) return known;
  const entries = (messages[message] ?? "").split(", ").filter((entry) => entry !== "");
  const fields = new Map(entries.map(fieldOf));
  read.set(message, fields);
  return fields;
}

function fieldOf(entry: string): [number, Field] {
  const [number, name = "", written = "text"] = entry.trim().split(/\s+/);
  const many = written.endsWith("[]") ? "list" : written.endsWith("{}") ? "map" : undefined;
  const form = written.replace(/(\?|\[\]|\{\})$/, "");
  return [Number(number), { name, form, said: written.endsWith("?"), many }];
}

/** What a value on the wire says, in the form of JSON; `undefined` where it says nothing. */
export function jsonOf(form: string, value: bigint | Buffer): unknown {
  if (typeof value === "bigint") return form === "flag" ? value !== 0n : Number(value);
  switch (form) {
    case "text":
      return value.toString();
    case "bytes":
      return value.toString("base64");
    case "Time":
      return timeOf(value, 0);
    case "MicroTime":
      return timeOf(value, 6);
    case "Quantity":
      return numbered(value).get(1)?.toString() ?? "0";
    case "IntOrString":
      return intOrString(value);
    case "FieldsV1":
      return JSON.parse(numbered(value).get(1)?.toString() || "{}");
    default:
      return messageOf(form, value);
  }
}

function messageOf(message: string, bytes: Buffer): Record<string, unknown> {
  const fields = fieldsOf(message);
  const result: Record<string, unknown> = {};
  for (const { number, value } of wireFields(bytes)) {
    const field = fields.get(number);
    if (field !== undefined) put(result, field, value);
  }
  return result;
}

function put(result: Record<string, unknown>, field: Field, value: bigint | Buffer): void {
  const { name, form, many, said } = field;
  if (many === "map") {
    const entry = numbered(value as Buffer);
    const key = entry.get(1)?.toString() ?? "";
    const empty = form === "text" || form === "bytes" ? Buffer.alloc(0) : 0n;
    const own = jsonOf(form, entry.get(2) ?? empty);
    result[name] ??= {};
    setField(result[name] as Fields, key, own);
    return;
  }
  const own = jsonOf(form, value);
  if (many === "list") {
    result[name] ??= [];
    (result[name] as unknown[]).push(own);
  } else if (said || !isNothing(own)) result[name] = own;
}

/** What Go sends for a field that nobody set. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === "" || value === 0 || value === false) return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function numbered(bytes: Buffer): Map<number, bigint | Buffer> {
  return new Map([...wireFields(bytes)].map(({ number, value }) => [number, value]));
}

function timeOf(bytes: Buffer, digits: 0 | 6): string | undefined {
  if (bytes.length === 0) return undefined;
  const fields = numbered(bytes);
  const seconds = Number(fields.get(1) ?? 0n);
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  if (digits === 0) return `${whole}Z`;
  const micros = Math.trunc(Number(fields.get(2) ?? 0n) / 1000);
  return `${whole}.${String(micros).padStart(6, "0")}Z`;
}

function intOrString(bytes: Buffer): unknown {
  const fields = numbered(bytes);
  const isText = fields.get(1) === 1n;
  return isText ? (fields.get(3)?.toString() ?? "") : Number(fields.get(2) ?? 0n);
}
