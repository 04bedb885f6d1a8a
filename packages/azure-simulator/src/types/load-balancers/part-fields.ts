import { invalid, number, text } from "../../arm/fields.ts";
import { checkNetworkName } from "../../arm/links.ts";
import type { Refusal } from "../../arm/refusal.ts";
import type { JsonObject } from "../../state/store.ts";

/** The name of a part of a load balancer. */
export function named(each: JsonObject): string {
  const name = text(each, "name", "");
  checkNetworkName(name);
  return name;
}

/** A port within its bounds; it must be there. */
export function port(
  from: JsonObject,
  name: string,
  low: number,
  high: number,
  by: string,
): number {
  const value = number(from, name, undefined);
  if (value === undefined) throw missing(name, by);
  if (value >= low && value <= high) return value;
  throw invalid(
    "InvalidRequestFormat",
    "Cannot parse the request.",
    "InvalidPort",
    `The ${name} ${value} of ${by} is not between ${low} and ${high}.`,
  );
}

/** Refuse a part without something. */
export function missing(field: string, by: string): Refusal {
  return invalid(
    "InvalidRequestFormat",
    "Cannot parse the request.",
    "MissingJsonReferenceId",
    `The ${field} of ${by} is missing.`,
  );
}
