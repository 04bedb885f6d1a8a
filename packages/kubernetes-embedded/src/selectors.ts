import { badRequest } from "./answers.ts";
import { wrongLabelValue } from "./kinds/names.ts";
import type { Resource, Stored } from "./resource.ts";

/** Whether an object is one of those that are asked for. */
export type Selector = (object: Stored) => boolean;

/** What `labelSelector` and `fieldSelector` of a query pick; undefined where they pick everything. */
export function selectorOf(resource: Resource, query: URLSearchParams): Selector | undefined {
  const labels = labelSelector(query.get("labelSelector") ?? "");
  const fields = fieldSelector(resource, query.get("fieldSelector") ?? "");
  if (labels && fields) return (object) => labels(object) && fields(object);
  return labels ?? fields;
}

/** A label selector, such as `app=web,tier in (a, b),!old`. */
export function labelSelector(text: string): Selector | undefined {
  if (text.trim() === "") return undefined;
  const all = split(text).map(requirement);
  return (object) => all.every((one) => one(object.metadata.labels ?? {}));
}

type Requirement = (labels: Readonly<Record<string, string>>) => boolean;

/** At commas that are not in parentheses. */
function split(text: string): string[] {
  return text.split(/,(?![^(]*\))/);
}

const name = "((?:[a-zA-Z0-9.-]+/)?[a-zA-Z0-9](?:[\\w.-]*[a-zA-Z0-9])?)";
const exists = new RegExp(`^\\s*(!?)\\s*${name}\\s*$`);
const compared = new RegExp(`^\\s*${name}\\s*(==?|!=|>|<)\\s*([\\w.-]*)\\s*$`);
const among = new RegExp(`^\\s*${name}\\s+(in|notin)\\s*\\(([^()]*)\\)\\s*$`);

function requirement(text: string): Requirement {
  const [, not, key] = exists.exec(text) ?? [];
  if (key !== undefined) return (labels) => key in labels !== (not === "!");
  const [, left, sign = "", value = ""] = compared.exec(text) ?? [];
  if (left !== undefined) {
    checkValue(left, sign, value);
    return comparison(left, sign, value);
  }
  const [, one, word, list = ""] = among.exec(text) ?? [];
  if (one === undefined) throw unreadable(text);
  const values = new Set(list.split(",").map((each) => each.trim()));
  if (word === "in") return (labels) => one in labels && values.has(labels[one] ?? "");
  return (labels) => !(one in labels && values.has(labels[one] ?? ""));
}

function checkValue(key: string, sign: string, value: string): void {
  const counts = sign === ">" || sign === "<";
  const why =
    counts && !/^-?\d+$/.test(value)
      ? "for 'Gt', 'Lt' operators, the value must be an integer"
      : wrongLabelValue(value);
  const field = counts ? "values[0]" : `values[0][${key}]`;
  if (why !== undefined)
    throw badRequest(
      `unable to parse requirement: ${field}: Invalid value: ${JSON.stringify(value)}: ${why}`,
    );
}

function comparison(key: string, sign: string, value: string): Requirement {
  switch (sign) {
    case "!=":
      return (labels) => labels[key] !== value;
    case ">":
      return (labels) => Number(labels[key]) > Number(value);
    case "<":
      return (labels) => Number(labels[key]) < Number(value);
    default:
      return (labels) => labels[key] === value;
  }
}

function unreadable(text: string): Error {
  const [, , word] = /^\s*(\S+)\s+(\S+)/.exec(text) ?? [];
  const found = word ?? text.trim();
  return badRequest(
    `unable to parse requirement: found '${found}', expected: in, notin, =, ==, !=, gt, lt`,
  );
}

/** A field selector, such as `metadata.name=a,status.phase!=Active`. */
function fieldSelector(resource: Resource, text: string): Selector | undefined {
  if (text.trim() === "") return undefined;
  const all = text.split(",").map((term) => fieldTerm(resource, text, term));
  return (object) => all.every((one) => one(object));
}

function fieldTerm(resource: Resource, whole: string, term: string): Selector {
  const [, path, sign, value = ""] = /^\s*([^=!\s]+)\s*(!=|==?)(.*)$/.exec(term) ?? [];
  if (path === undefined)
    throw badRequest(`invalid selector: '${whole}'; can't understand '${term}'`);
  const read = fieldOf(resource, path);
  const wanted = value.replace(/\\([\\,=])/g, "$1");
  return sign === "!=" ? (object) => read(object) !== wanted : (object) => read(object) === wanted;
}

function fieldOf(resource: Resource, path: string): (object: Stored) => string {
  if (path === "metadata.name") return (object) => object.metadata.name;
  if (path === "metadata.namespace") return (object) => object.metadata.namespace ?? "";
  const found = resource.fieldSelectors?.[path];
  if (found) return found;
  // Built-ins with fields of their own say it in the same words as CRDs do.
  if (!resource.builtIn || resource.fieldSelectors)
    throw badRequest(`field label not supported: ${path}`);
  throw badRequest(
    `"${path}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

/** The one name that a selector asks for: that object can be looked up instead of looked for. */
export function nameAskedFor(query: URLSearchParams): string | undefined {
  return /(?:^|,)\s*metadata\.name==?([^,\\]+)\s*(?:,|$)/.exec(
    query.get("fieldSelector") ?? "",
  )?.[1];
}
