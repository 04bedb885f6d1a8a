import type { Resource } from "../resource.ts";
import { allVerbs } from "./groups.ts";
import { componentName, gvk, reference } from "./openapi-components.ts";

const text = (name: string, description: string) => ({
  name,
  in: "query",
  description,
  schema: { type: "string", uniqueItems: true },
});

// kubectl looks for some of these before it relies on them.
const dryRun = text("dryRun", "All: everything is checked, and nothing is stored.");
const fieldManager = text("fieldManager", "Who owns the fields that are written.");
const fieldValidation = text(
  "fieldValidation",
  "What becomes of unknown fields: Ignore, Warn or Strict.",
);
const force = {
  name: "force",
  in: "query",
  description: "Whether an apply takes fields over from their owners.",
  schema: { type: "boolean", uniqueItems: true },
};
const writing = [dryRun, fieldManager, fieldValidation];

const narrowing = [
  text("labelSelector", "Only objects with these labels."),
  text("fieldSelector", "Only objects with these fields."),
  text("limit", "How many at most."),
  text("continue", "Where the page begins."),
  text("resourceVersion", "The version to show, or to watch from."),
  text("watch", "Whether to be told of changes."),
];

const inPath = (name: string) => ({
  name,
  in: "path",
  required: true,
  description: `The ${name} of the object.`,
  schema: { type: "string", uniqueItems: true },
});

/** The paths of a resource and what can be done there. */
export function pathsOf(resource: Resource): Record<string, object> {
  const { group, version, plural, namespaced } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const whole = `${root}/${namespaced ? "namespaces/{namespace}/" : ""}${plural}`;
  const one = `${whole}/{name}`;
  const place = namespaced ? [inPath("namespace")] : [];
  const named = [inPath("name"), ...place];
  const paths: Record<string, object> = {
    [whole]: { ...collection(resource), parameters: place },
    [one]: { ...single(resource), parameters: named },
  };
  if (resource.status) {
    paths[`${one}/status`] = { ...single(resource, ["get", "patch", "update"]), parameters: named };
  }
  if (namespaced) {
    paths[`${root}/${plural}`] = { get: operation(resource, "list", narrowing) };
  }
  return paths;
}

function collection(resource: Resource) {
  const verbs = resource.verbs ?? allVerbs;
  return {
    get: operation(resource, "list", narrowing),
    ...(verbs.includes("create") && {
      post: { ...operation(resource, "post", writing), requestBody: bodyOf(resource) },
    }),
    ...(verbs.includes("deletecollection") && {
      delete: operation(resource, "deletecollection", [...narrowing, dryRun]),
    }),
  };
}

function single(resource: Resource, verbs: readonly string[] = resource.verbs ?? allVerbs) {
  return {
    get: operation(resource, "get", []),
    ...(verbs.includes("update") && {
      put: { ...operation(resource, "put", writing), requestBody: bodyOf(resource) },
    }),
    ...(verbs.includes("patch") && {
      patch: {
        ...operation(resource, "patch", [...writing, force]),
        requestBody: patches(resource),
      },
    }),
    ...(verbs.includes("delete") && { delete: operation(resource, "delete", [dryRun]) }),
  };
}

function operation(resource: Resource, action: string, parameters: readonly object[]) {
  const name = `${componentName(resource)}${action === "list" ? "List" : ""}`;
  const content = { "application/json": { schema: reference(name) } };
  return {
    parameters,
    responses: { "200": { description: "OK", content } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvk(resource, resource.kind),
  };
}

function bodyOf(resource: Resource) {
  const schema = reference(componentName(resource));
  return { required: true, content: { "application/json": { schema } } };
}

/** A strategic merge patch is offered only where one is taken: kubectl chooses by this. */
function patches({ builtIn }: Resource) {
  const forms = ["application/apply-patch+yaml", "application/json-patch+json"];
  forms.push("application/merge-patch+json");
  if (builtIn) forms.push("application/strategic-merge-patch+json");
  const content = Object.fromEntries(forms.map((form) => [form, { schema: { type: "object" } }]));
  return { required: true, content };
}
