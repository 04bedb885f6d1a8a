import type { Schema } from "../resource.ts";
import { atomic, fields, text } from "./fields.ts";

/** A pointer at any object, or at a part of it. */
export function objectReference(description: string): Schema {
  return atomic(
    fields(description, {
      apiVersion: text("Its group and version."),
      fieldPath: text("The part of it that is meant."),
      kind: text("Its kind."),
      name: text("Its name."),
      namespace: text("Its namespace."),
      resourceVersion: text("Its version, where one is meant."),
      uid: text("Its uid."),
    }),
  );
}

/** A pointer at an object of the same namespace. */
export function localReference(description: string): Schema {
  return atomic(fields(description, { name: text("Its name.") }));
}
