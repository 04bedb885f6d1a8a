import type { ArmResource } from "./gateway.ts";

/** A resource as it is read: what ARM leaves out or answers as null is absent, and `properties` is always an object. */
export type ResourceBody = ArmResource<Record<string, unknown>>;

const textFields = new Set(["id", "name", "type", "etag", "location"]);

/** No answer of ARM is nested as deep. What lies deeper is left as it is, so that no answer exhausts the stack. */
const deepestLevel = 64;

/**
 * Normalise the body of a GET, or one item of a list: fields and items that are null are removed at every level, `properties`
 * of the resource and of the resources in its lists is an object, ids, names and etags are text, and tags have text values.
 * Undefined where the body is not an object.
 */
export function resourceBody(body: unknown): ResourceBody | undefined {
  if (!isObject(body)) return undefined;
  const { tags, properties, ...fields } = withoutNulls(body, 0) as Record<string, unknown>;
  const top = Object.entries(fields).filter(
    ([name, value]) => !textFields.has(name) || typeof value === "string",
  );
  return {
    ...Object.fromEntries(top),
    ...(isObject(tags) && { tags: textValues(tags) }),
    properties: isObject(properties) ? properties : {},
  };
}

function withoutNulls(value: unknown, level: number): unknown {
  if (level > deepestLevel) return value;
  if (Array.isArray(value))
    return value.flatMap((each) => (isNothing(each) ? [] : [listItem(each, level + 1)]));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).flatMap(([name, each]): [string, unknown][] =>
    isNothing(each) ? [] : [[name, withoutNulls(each, level + 1)]],
  );
  return Object.fromEntries(fields);
}

/** A resource within a resource has a name or, if only as null, properties. A reference to one elsewhere has only an id. */
function listItem(item: unknown, level: number): unknown {
  const value = withoutNulls(item, level);
  if (!isObject(item) || !isObject(value)) return value;
  const isResource = typeof item.name === "string" || "properties" in item;
  return isResource && !isObject(value.properties) ? { ...value, properties: {} } : value;
}

function textValues(tags: Record<string, unknown>): Record<string, string> {
  const text = Object.entries(tags).filter(
    (tag): tag is [string, string] => typeof tag[1] === "string",
  );
  return Object.fromEntries(text);
}

function isNothing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
