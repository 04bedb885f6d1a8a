import { Refusal } from "../../refusal.ts";

/** A name that the network provider takes for what it keeps. */
export function checkName(name: string, least: number, most: number): void {
  const valid = name.length >= least && name.length <= most && /^\w([-\w.]*\w)?$/.test(name);
  if (valid) return;
  throw new Refusal(
    400,
    "InvalidResourceName",
    `Resource name ${name.slice(0, 200)} is invalid. The name can be up to ${most} characters long. It must begin with a word character, and it must end with a word character or with '_'. The name may contain word characters or '.', '-', '_'.`,
  );
}

/** What is not there, and what is in another region, is refused in the same words (Azure/ResourceModules#1803). */
export function badReference(id: string, by: string): Refusal {
  return new Refusal(
    400,
    "InvalidResourceReference",
    `Resource ${id} referenced by resource ${by} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.`,
  );
}

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
