import {
  type Static,
  type TOptional,
  type TSchema,
  type TString,
  type TUnsafe,
  Type,
} from "typebox";
import type { ResourceType } from "../resource-id.ts";

/** A rule in CEL that the API server checks, and what it says to the person whose object breaks it. */
export interface Rule {
  rule: string;
  message: string;
  /** The field to name in the refusal, where it is not the one that carries the rule. */
  fieldPath?: string;
  /** `oldSelf` is an optional: the rule applies when an object is created, too. */
  optionalOldSelf?: true;
  reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired";
}

/** The rules of a schema, to be spread into its options. */
export function rules(...all: Rule[]): { "x-kubernetes-validations": Rule[] } {
  return { "x-kubernetes-validations": all };
}

/** Fields that are not ours are neither checked nor dropped. */
export const keepUnknown = { "x-kubernetes-preserve-unknown-fields": true } as const;

/** A field that keeps its first value. On an optional field this holds while the field is there. */
export function immutable(field: string): Rule {
  return {
    rule: "self == oldSelf",
    message: `${field} cannot change once it is set: restore the old value, or delete the object and create a new one`,
  };
}

/** On the object that has an optional field: the field cannot be removed. `path` leads through optional objects. */
export function irremovable(path: string): Rule {
  const parts = path.split(".");
  const has = (object: string) =>
    parts.map((_, at) => `has(${[object, ...parts.slice(0, at + 1)].join(".")})`).join(" && ");
  return {
    rule: `!(${has("oldSelf")}) || (${has("self")})`,
    message: `${path} cannot be removed once it is set: restore the old value, or delete the object and create a new one`,
    fieldPath: `.${path}`,
  };
}

/** One of a few words. A union of literals would become `anyOf`, which a structural schema forbids. */
export function oneOf<const Words extends readonly string[]>(
  words: Words,
  description: string,
  options: Record<string, unknown> = {},
): TUnsafe<Words[number]> {
  return Type.Unsafe<Words[number]>({ type: "string", description, enum: [...words], ...options });
}

/** A text with a description, lengths, and rules of its own. */
export function text(
  description: string,
  lengths: { minLength?: number; maxLength: number },
  ...checks: Rule[]
): TString {
  return Type.String({ description, ...lengths, ...(checks.length === 0 ? {} : rules(...checks)) });
}

const uuidPattern = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

/** A map of texts by name, such as tags. `Type.Record` would become `patternProperties`, which is forbidden too. */
export function textMap(description: string): TUnsafe<Record<string, string>> {
  return Type.Unsafe<Record<string, string>>({
    type: "object",
    description,
    additionalProperties: { type: "string" },
  });
}

/** The same, or an explicit null. */
export function orNull<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true });
}

/** A UUID, with hexadecimal digits of either case. */
export function uuid(description: string, ...more: Rule[]): TString {
  const check = {
    rule: `self.matches('^${uuidPattern}$')`,
    message: "must be a UUID, such as 550e8400-e29b-41d4-a716-446655440000",
  };
  return text(description, { minLength: 36, maxLength: 36 }, check, ...more);
}

/** An address of either version. */
export function ip(description: string): TString {
  const check = { rule: "isIP(self)", message: "must be an IPv4 or IPv6 address" };
  return text(description, { minLength: 1, maxLength: 39 }, check);
}

/** A DNS name of labels that begin and end with a letter or a digit, in either case. */
export function domain(description: string, ...more: Rule[]): TString {
  const label = "[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?";
  const check = {
    rule: `self.matches('^${label}([.]${label})*$')`,
    message:
      "must be a DNS name: labels of letters, digits and inner hyphens, joined by dots and without one at the end",
  };
  return text(description, { minLength: 1, maxLength: 253 }, check, ...more);
}

/**
 * The id of an Azure resource of a type. Azure does not tell upper case from lower in an id and answers
 * in either, so the fixed words are accepted in any case.
 */
export function resourceId(
  type: ResourceType,
  description: string,
  options: { maxLength: number; subscriptionIsUuid?: boolean },
  ...more: Rule[]
): TString {
  const [provider = "", ...types] = type.split("/");
  const subscription = options.subscriptionIsUuid ? uuidPattern : "[^/]+";
  const path = types.map((word) => `/${word.toLowerCase()}/[^/]+`).join("");
  const fixed = provider.toLowerCase().replaceAll(".", "[.]");
  const shape = types.map((word) => `/${word}/{name}`).join("");
  const check = {
    rule: `self.lowerAscii().matches('^/subscriptions/${subscription}/resourcegroups/[^/]+/providers/${fixed}${path}$')`,
    message: `must be an id of type ${type}: /subscriptions/{subscription}/resourceGroups/{group}/providers/${provider}${shape}`,
  };
  return text(description, { minLength: 1, maxLength: options.maxLength }, check, ...more);
}

/** The subscriptions that may connect besides the cluster's own. */
export function subscriptionSet(description: string): TOptional<ReturnType<typeof subscriptions>> {
  return Type.Optional(subscriptions(description));
}

function subscriptions(description: string) {
  return Type.Array(uuid("A subscription."), {
    description,
    minItems: 1,
    maxItems: 50,
    "x-kubernetes-list-type": "set",
  });
}
