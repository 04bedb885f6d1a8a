import {
  type Document,
  forEach,
  isNode,
  item,
  type ObjectTemplate,
  releaseNamespace,
  setting,
  type Template,
  type TemplateMap,
  type Text,
  type TextPart,
  text,
  textOf,
  when,
} from "../template/template.ts";
import { manifestFiles, readManifests } from "./manifests.ts";
import { clusterApiApart, hosted, labels, split } from "./names.ts";

/** The ServiceAccounts of an installation, as elements of a list in CEL. */
const ownAccounts: Text = text`'system:serviceaccount:${releaseNamespace}:postern-operator'${when<TextPart>(
  clusterApiApart,
  text`, 'system:serviceaccount:${releaseNamespace}:postern-cluster-api'`,
)}${when<TextPart>(
  split,
  forEach<TextPart>(
    setting("hosted.controlPlanes"),
    text`, 'system:serviceaccount:${item("namespace")}:postern-control-plane'`,
  ),
)}`;

/** The names that the manifests have, and what stands in their place. */
const names: readonly (readonly [string, TextPart])[] = [
  ["'system:serviceaccount:postern:postern-operator'", ownAccounts],
  [
    "'system:serviceaccount:hypershift:operator'",
    text`'system:serviceaccount:${setting("hosted.hyperShiftServiceAccount.namespace")}:${setting("hosted.hyperShiftServiceAccount.name")}'`,
  ],
  [
    "|default)$",
    textOf([when<TextPart>(setting("admission.reserveDefaultNamespace"), "|default"), ")$"]),
  ],
];

/** The policies of manifests/admission, for the ServiceAccounts of this installation. */
export function admissionPolicies(): Document {
  const policies = manifestFiles("admission").map((file): Document => {
    const objects = readManifests(`admission/${file}`).map(withNames);
    return file === "link-objects.yaml" ? when<Document>(hosted, objects) : objects;
  });
  return when<Document>(setting("admission.enabled"), policies);
}

function withNames(object: ObjectTemplate): ObjectTemplate {
  const { name = "" } = object.metadata;
  return { ...(replaced(object) as ObjectTemplate), metadata: { name, labels } };
}

function replaced(value: Template): Template {
  if (typeof value === "string") return replacedText(value);
  if (Array.isArray(value)) return value.map(replaced);
  if (typeof value !== "object" || isNode(value)) return value;
  return Object.fromEntries(
    Object.entries(value as TemplateMap).map(([key, each]) => [key, replaced(each)]),
  );
}

function replacedText(value: string): Template {
  const parts = names.reduce<TextPart[]>(
    (parts, [name, by]) =>
      parts.flatMap((part) =>
        typeof part === "string"
          ? part.split(name).flatMap((rest, at) => (at === 0 ? [rest] : [by, rest]))
          : [part],
      ),
    [value],
  );
  return parts.length === 1 ? value : textOf(parts.filter((part) => part !== ""));
}
