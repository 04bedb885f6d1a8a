import type { Cause } from "../resource.ts";

// Causes in the words that clients know: `field: message` is what a person reads.

/** A value that does not do. */
export function invalid(field: string, value: unknown, why: string): Cause {
  return {
    reason: "FieldValueInvalid",
    field,
    message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  };
}

/** A value that has to be there. */
export function required(field: string, why = ""): Cause {
  const message = why === "" ? "Required value" : `Required value: ${why}`;
  return { reason: "FieldValueRequired", field, message };
}

/** A value that may not be there. */
export function forbidden(field: string, why: string): Cause {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${why}` };
}

/** A value that is there twice. */
export function duplicate(field: string, value: unknown): Cause {
  const message = `Duplicate value: ${JSON.stringify(value)}`;
  return { reason: "FieldValueDuplicate", field, message };
}

/** A value that is none of those that there are. */
export function notSupported(field: string, value: unknown, known: readonly string[]): Cause {
  const words = known.map((word) => JSON.stringify(word)).join(", ");
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${words}`;
  return { reason: "FieldValueNotSupported", field, message };
}

/** A value that has too many bytes. */
export function tooLong(field: string, mostBytes: number): Cause {
  const message = `Too long: may not be more than ${mostBytes} bytes`;
  return { reason: "FieldValueTooLong", field, message };
}

/** What may never change once it is set. */
export function changed(field: string, value: unknown, why = "field is immutable"): Cause {
  return invalid(field, value, why);
}
