import { messages } from "./messages.ts";
import { jsonOf } from "./values.ts";
import { wireFields } from "./wire.ts";

/** What Go's typed clients call the form in which they send built-in kinds. */
export const protobufType = "application/vnd.kubernetes.protobuf";

const magic = Buffer.from("k8s\0", "latin1");

/** Kinds of the same name in several groups have messages of their own. */
const elsewhere: Readonly<Record<string, string>> = { "events.k8s.io/v1 Event": "NewEvent" };

/**
 * The object in a body of that form. `undefined` where its kind is one that is taken as JSON alone; throws where the
 * bytes say nothing.
 */
export function objectOfProtobuf(bytes: Buffer): Record<string, unknown> | undefined {
  if (!bytes.subarray(0, magic.length).equals(magic)) throw new Error("it does not begin with k8s");
  let type = { apiVersion: "", kind: "" };
  let raw: Buffer = Buffer.alloc(0);
  for (const { number, value } of wireFields(bytes.subarray(magic.length))) {
    if (!Buffer.isBuffer(value)) continue;
    if (number === 1) type = typeOf(value);
    else if (number === 2) raw = value;
  }
  const message = elsewhere[`${type.apiVersion} ${type.kind}`] ?? type.kind;
  if (!Object.hasOwn(messages, message)) return undefined;
  return { ...type, ...(jsonOf(message, raw) as object) };
}

function typeOf(bytes: Buffer): { apiVersion: string; kind: string } {
  const type = { apiVersion: "", kind: "" };
  for (const { number, value } of wireFields(bytes)) {
    if (number === 1) type.apiVersion = value.toString();
    else if (number === 2) type.kind = value.toString();
  }
  return type;
}
