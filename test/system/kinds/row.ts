import type { Kind } from "@postern/core/kind.ts";

/** A refusal, as the API server's answer lists it: the field, and how its message ends. */
export type Refusal = readonly [field: string, message: string];

/** One object, and what the real API server says to it. */
export interface Row {
  /** A sentence, which is the name of the test. */
  says: string;
  kind: Kind;
  /** The name of the object, where the row is about it. */
  name?: string;
  spec: unknown;
  /** Written over the spec after the object was created. */
  becomes?: unknown;
  /** Written to the status after the object was created. */
  status?: unknown;
  /** Every cause of the refusal of the last write; absent where that is accepted. */
  refused?: readonly Refusal[];
}

/** Fields put over others; `undefined` takes a field away. */
export type Over = Readonly<Record<string, unknown>>;

export const uuid = "550e8400-e29b-41d4-a716-446655440000";
export const otherUuid = "0a1b2c3d-4e5f-6789-abcd-ef0123456789";
export const group = `/subscriptions/${uuid}/resourceGroups/guest`;
export const network = `${group}/providers/Microsoft.Network/virtualNetworks/workers`;
export const subnet = `${network}/subnets/machines`;
export const otherSubnet = `${network}/subnets/others`;

/** The end of the message about an id that is not of the type. */
export function mustBeId(type: string): string {
  const [provider, ...words] = type.split("/");
  const path = words.map((word) => `/${word}/{name}`).join("");
  return `must be an id of type ${type}: /subscriptions/{subscription}/resourceGroups/{group}/providers/${provider}${path}`;
}

export const mustBeSubnet = mustBeId("Microsoft.Network/virtualNetworks/subnets");
export const mustBeIp = "must be an IPv4 or IPv6 address";
export const mustBeUuid = "must be a UUID, such as 550e8400-e29b-41d4-a716-446655440000";
export const mustBeDomain =
  "must be a DNS name: labels of letters, digits and inner hyphens, joined by dots and without one at the end";
export const mustBeGroup =
  "must be the name of a resource group: letters, digits, underscores, hyphens, dots and parentheses, without a dot at the end";

/** The end of the message about a field that was changed. */
export function cannotChange(field: string): string {
  return `${field} cannot change once it is set: restore the old value, or delete the object and create a new one`;
}

/** The end of the message about a field that was removed. */
export function cannotBeRemoved(field: string): string {
  return `${field} cannot be removed once it is set: restore the old value, or delete the object and create a new one`;
}

/** What the API server says of a text that is shorter than its limit. */
export function tooShort(limit: number): string {
  return `in body should be at least ${limit} chars long`;
}

/** What the API server says of a text that is longer than its limit. */
export function tooLong(limit: number): string {
  return `Too long: may not be more than ${limit} bytes`;
}
