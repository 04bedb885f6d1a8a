import { builtIns } from "@postern/kubernetes-embedded/kinds/built-ins.ts";
import type { Resource, Schema } from "@postern/kubernetes-embedded/resource.ts";
import { describe, expect, test } from "vitest";
import { describeOnCluster } from "../setup/cluster.ts";

type Schemas = Record<string, Schema>;

/** By these lists are merged, and fields owned. */
const words = [
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-patch-merge-key",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-map-type",
];

/** Where the schemas of the embedded API differ from those of the API server. */
function differences(ours: Schema, theirs: Schema, all: Schemas, path: string): string[] {
  const named = resolved(theirs, all);
  const found = words
    .filter((word) => JSON.stringify(ours[word]) !== JSON.stringify(theirs[word] ?? named[word]))
    .map((word) => `${path}: ${word}`);
  // What is kept as it is has no fields here.
  if (ours["x-kubernetes-preserve-unknown-fields"]) return found;
  if (!ours["x-kubernetes-int-or-string"] && ours.type !== named.type) found.push(`${path}: type`);
  const names = new Set([
    ...Object.keys(ours.properties ?? {}),
    ...Object.keys(named.properties ?? {}),
  ]);
  for (const name of names) {
    const [own, other] = [ours.properties?.[name], named.properties?.[name]];
    const at = `${path}.${name}`;
    if (own && other) found.push(...differences(own, other, all, at));
    else found.push(`${at}: ${own ? "only here" : "missing here"}`);
  }
  const inside: [Schema | undefined, Schema | undefined][] = [
    [ours.items, named.items],
    [objectOf(ours.additionalProperties), objectOf(named.additionalProperties)],
  ];
  for (const [own, other] of inside) {
    if (own && other) found.push(...differences(own, other, all, `${path}[]`));
  }
  return found;
}

function resolved(schema: Schema, all: Schemas): Schema {
  const first = (schema.allOf as Schema[] | undefined)?.[0] ?? schema;
  const name = (first.$ref as string | undefined)?.split("/").at(-1);
  return (name !== undefined && all[name]) || schema;
}

function objectOf(schema: Schema | boolean | undefined): Schema | undefined {
  return typeof schema === "object" ? schema : undefined;
}

function isOf(schema: Schema, { group, version, kind }: Resource): boolean {
  const kinds = (schema["x-kubernetes-group-version-kind"] ?? []) as Record<string, string>[];
  return kinds.some(
    (each) => each.group === group && each.version === version && each.kind === kind,
  );
}

describeOnCluster("the schemas of built-in kinds", (cluster) => {
  describe("have the fields of the API server's, and merge as they do", () => {
    test.each(
      builtIns.map((resource) => [resource.kind, resource.group || "core", resource] as const),
    )("%s of %s", async (_, __, resource) => {
      const { group, version } = resource;
      const path = group === "" ? `api/${version}` : `apis/${group}/${version}`;
      const { status, body } = await cluster.request<{ components: { schemas: Schemas } }>(
        "GET",
        `/openapi/v3/${path}`,
      );
      expect(status).toBe(200);
      const { schemas } = body.components;
      const theirs = Object.values(schemas).find((schema) => isOf(schema, resource));
      if (theirs === undefined) throw new Error(`${path} has no ${resource.kind}`);
      expect(differences(resource.schema, theirs, schemas, resource.kind)).toEqual([]);
    });
  });
});
