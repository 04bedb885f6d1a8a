/** One of the forms that a client would take, as its Accept header names it. */
export interface MediaType {
  type: string;
  parameters: Readonly<Record<string, string>>;
}

/** The forms that a client would take, the one it likes best first. Without a header anything will do. */
export function mediaTypes(accept: string | undefined): MediaType[] {
  if (accept === undefined || accept.trim() === "") return [{ type: "*/*", parameters: {} }];
  const clauses = accept.split(",").map((clause, index) => ({ ...mediaType(clause), index }));
  const liking = (clause: MediaType) => Number(clause.parameters.q ?? 1);
  return clauses
    .filter((clause) => clause.type !== "" && liking(clause) > 0)
    .sort((one, other) => liking(other) - liking(one) || one.index - other.index);
}

function mediaType(clause: string): MediaType {
  const [type = "", ...rest] = clause.split(";").map((part) => part.trim());
  const pairs = rest.map((part) => part.split("=", 2).map((word) => word.trim()));
  const parameters = Object.fromEntries(pairs.map(([name = "", value = ""]) => [name, value]));
  return { type: type.toLowerCase(), parameters };
}

/** Whether it is JSON, or anything that JSON is. */
export function isJson({ type }: MediaType): boolean {
  return type === "application/json" || type === "application/*" || type === "*/*";
}

/** How objects are to be shown. */
export type Form =
  | { as: "object" }
  | { as: "table"; version: "v1" | "v1beta1" }
  | { as: "metadata"; version: "v1" | "v1beta1" };

/** The first form that the client would take and that there is; `undefined` is a 406. */
export function formOf(accept: string | undefined): Form | undefined {
  for (const media of mediaTypes(accept)) {
    const form = isJson(media) ? jsonForm(media.parameters) : undefined;
    if (form !== undefined) return form;
  }
  return undefined;
}

function jsonForm({ as, g, v }: Readonly<Record<string, string>>): Form | undefined {
  if (as === undefined) return { as: "object" };
  if (g !== "meta.k8s.io" || (v !== "v1" && v !== "v1beta1")) return undefined;
  if (as === "Table") return { as: "table", version: v };
  if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") {
    return { as: "metadata", version: v };
  }
  return undefined;
}
