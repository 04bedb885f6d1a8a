import { applyPatch, type Operation } from "rfc6902";
import type { Stored } from "../resource.ts";
import { isMap, type Patched, type Refusal, unprocessable, unreadable } from "./refusal.ts";

const maxOperations = 10_000;

/** Names that the package resolves wrongly, so that they must not reach it; no field of Kubernetes has one. */
const unsafeNames = new Set(["__proto__", "constructor", "prototype"]);

/** The object after a JSON patch (RFC 6902), with the liberties that kube-apiserver takes. */
export function jsonPatch(object: Stored, operations: unknown): Patched {
  if (!Array.isArray(operations)) {
    return unreadable("error decoding patch: a JSON patch is a list of operations");
  }
  if (!operations.every(isMap)) {
    return unreadable("error decoding patch: an operation of a JSON patch is an object");
  }
  if (operations.length > maxOperations) return tooMany(operations.length);
  let document: unknown = JSON.parse(JSON.stringify(object));
  for (const operation of operations) {
    if (operation.path === "" && operation.op === "replace") {
      document = operation.value;
      continue;
    }
    for (const step of operation.op === "move" ? apart(document, operation) : [operation]) {
      const strict = strictOperation(document, step);
      if (!strict || applyPatch(document, [strict])[0] !== null) return unprocessable();
    }
  }
  return isMap(document) ? { object: document as Stored } : unprocessable();
}

function tooMany(count: number): { refused: Refusal } {
  const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${count}`;
  return { refused: { code: 413, reason: "RequestEntityTooLarge", message } };
}

/** A move as what it means, so that its target is looked for where the value is gone already. */
function apart(document: unknown, move: Record<string, unknown>): Record<string, unknown>[] {
  const { path, from } = move;
  const value = typeof from === "string" ? place(document, from, false)?.value : undefined;
  return [
    { op: "remove", path: from },
    { op: "add", path, value },
  ];
}

/**
 * An operation as the RFC wants it, or undefined where it does not apply. kube-apiserver goes further than
 * the RFC: an index may count from the end of a list, replacing a member that is absent adds it, and an absent
 * member is equal to null and copied as such. The package, in turn, does not look whether an index is one.
 */
function strictOperation(document: unknown, given: Record<string, unknown>): Operation | undefined {
  const { op, path, value } = given;
  if (typeof path !== "string") return undefined;
  if (op === "test" && path === "") return { op, path, value };
  const target = place(document, path, op === "add" || op === "copy");
  if (!target) return undefined;
  switch (op) {
    case "add":
      return { op, path: target.path, value: value ?? null };
    case "replace":
      return { op: target.exists ? op : "add", path: target.path, value: value ?? null };
    case "remove":
      return target.exists ? { op, path: target.path } : undefined;
    case "test":
      return { op, path: target.path, value: target.exists ? value : (value ?? undefined) };
    case "copy": {
      const from = typeof given.from === "string" ? place(document, given.from, false) : undefined;
      if (from && !from.exists) return { op: "add", path: target.path, value: null };
      return from && { op, path: target.path, from: from.path };
    }
    default:
      return undefined;
  }
}

interface Place {
  /** The pointer, with indexes that count from the start. */
  path: string;
  exists: boolean;
  value: unknown;
}

/** Where a pointer leads; undefined where its parent is missing or the index is none. */
function place(document: unknown, pointer: string, growing: boolean): Place | undefined {
  const [root, ...tokens] = pointer.split("/");
  const last = tokens.pop();
  if (root !== "" || last === undefined) return undefined;
  let path = "";
  let parent: unknown = document;
  for (const token of tokens) {
    const step = member(parent, token, false);
    if (!step?.exists) return undefined;
    path += step.path;
    parent = step.value;
  }
  const end = member(parent, last, growing);
  return end && { ...end, path: path + end.path };
}

function member(parent: unknown, token: string, growing: boolean): Place | undefined {
  const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
  if (unsafeNames.has(name)) return undefined;
  if (Array.isArray(parent)) {
    const index = indexIn(parent, name, growing);
    if (index === undefined) return undefined;
    return { path: `/${index}`, exists: index < parent.length, value: parent[index] };
  }
  if (!isMap(parent)) return undefined;
  const exists = Object.hasOwn(parent, name);
  return { path: `/${token}`, exists, value: exists ? parent[name] : undefined };
}

function indexIn(list: unknown[], name: string, growing: boolean): number | undefined {
  const end = growing ? list.length + 1 : list.length;
  if (growing && name === "-") return list.length;
  if (!/^[+-]?\d+$/.test(name)) return undefined;
  const index = Number.parseInt(name, 10);
  const fromStart = index < 0 ? index + end : index;
  return fromStart >= 0 && fromStart < end ? fromStart : undefined;
}
