import type { Cause, Schema, Shape, Stored } from "../resource.ts";
import { invalid, noField } from "./causes.ts";
import { judged } from "./cel/judge.ts";
import { type Rules, rulesOf } from "./cel/rules.ts";
import { checked } from "./check.ts";
import { embeddedProblems } from "./embedded.ts";
import { filled, withPrunedDefaults } from "./fill.ts";
import { repeated } from "./lists.ts";
import { once } from "./once.ts";
import { pruned, withoutNulls } from "./prune.ts";

const shapes = new WeakMap<Schema, Shape>();

/** A schema made ready for use: once, and no sooner than the first object comes. */
export function shapeOf(schema: Schema): Shape {
  const known = shapes.get(schema);
  if (known !== undefined) return known;
  const made = makeShape(schema);
  shapes.set(schema, made);
  return made;
}

function makeShape(given: Schema): Shape {
  const schema = once(() => withPrunedDefaults(given));
  const rules = once(() => rulesOf(given));
  return {
    prune(object) {
      const unknown: string[] = [];
      const { metadata } = object;
      const known = withoutNulls(pruned(object, schema(), unknown), schema()) as Stored;
      // A schema may speak of metadata, for example to bound the name, but drops nothing of it.
      return { object: known.metadata === metadata ? known : { ...known, metadata }, unknown };
    },
    fill: (object) => filled(object, schema()) as Stored,
    problems: (object, old) => problemsOf(object, old, schema(), rules),
  };
}

function problemsOf(
  object: Stored,
  old: Stored | undefined,
  schema: Schema,
  rules: () => Rules | undefined,
): Cause[] {
  const pair = old && { value: object, old, schema };
  // Lists that had something twice before are let be: that has to be put right in its own time.
  const lists = old && repeated(old, schema).length > 0 ? [] : repeated(object, schema);
  const causes = [...checked(object, schema, pair), ...embeddedProblems(object, schema), ...lists];
  const known = rules();
  if (known === undefined) return causes;
  // A rule may rely on the types and bounds of what it reads.
  if (causes.some(({ reason }) => blocking.has(reason))) return [...causes, unasked];
  return [...causes, ...judged(known, object, old)];
}

const blocking: ReadonlySet<string> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

const unasked = invalid(
  noField,
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);
