import { type Environment, Optional } from "@marcbachmann/cel-js";
import { ObjectValue } from "../values.ts";
import { type Functions, register } from "./register.ts";

function isZero(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return true;
  if (value === 0 || value === 0n) return true;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (value instanceof ObjectValue) return Object.keys(value.raw).length === 0;
  if (value instanceof Map) return value.size === 0;
  return (
    typeof value === "object" && value.constructor === Object && Object.keys(value).length === 0
  );
}

function unwrapped(list: Optional[]): unknown[] {
  return list.filter((one) => one.hasValue()).map((one) => one.value());
}

const functions: Functions = {
  "OptionalNamespace.ofNonZeroValue(A): optional<A>": (_: unknown, value: unknown) =>
    isZero(value) ? Optional.none() : Optional.of(value),
  "OptionalNamespace.unwrap(list): list<dyn>": (_: unknown, list: Optional[]) => unwrapped(list),
  "list.unwrapOpt(): list<dyn>": unwrapped,
  "list<A>.first(): optional<A>": (list: unknown[]) => Optional.of(list[0]),
  "list<A>.last(): optional<A>": (list: unknown[]) => Optional.of(list.at(-1)),
};

/** Optional values, as far as the library has not got them. */
export function registerOptionals(environment: Environment): void {
  register(environment, functions);
}
