import { Refusal } from "../../arm/refusal.ts";

/** A field that must be there and is not. */
export function missingField(name: string, id: string): Refusal {
  return new Refusal(400, "InvalidRequestFormat", "Cannot parse the request.", {
    details: [
      {
        code: "MissingJsonReferenceId",
        message: `Value for reference id is missing. Path ${name} of resource ${id}.`,
      },
    ],
  });
}
