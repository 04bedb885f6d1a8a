import type { Schema, Shape, Stored } from "../resource.ts";
import { filled, withPrunedDefaults } from "./fill.ts";
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
  let ready: Schema | undefined;
  const schema = () => {
    ready ??= withPrunedDefaults(given);
    return ready;
  };
  return {
    prune(object) {
      const unknown: string[] = [];
      const { metadata } = object;
      const known = withoutNulls(pruned(object, schema(), unknown), schema()) as Stored;
      // A schema may speak of metadata, for example to bound the name, but drops nothing of it.
      return { object: known.metadata === metadata ? known : { ...known, metadata }, unknown };
    },
    fill: (object) => filled(object, schema()) as Stored,
    problems: () => [],
  };
}
