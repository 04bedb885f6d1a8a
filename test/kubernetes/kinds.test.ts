import { crdOf } from "@postern/core/crd.ts";
import { definitions } from "@postern/core/definitions.ts";
import { apiVersionOf } from "@postern/core/kind.ts";
import type { Cause, Resource, Stored } from "@postern/kubernetes-embedded/resource.ts";
import { problemsOfCrd } from "@postern/kubernetes-embedded/schema/definition.ts";
import { resourcesOf } from "@postern/kubernetes-embedded/schema/resources.ts";
import { describe, expect, test } from "vitest";
import type { Refusal, Row } from "../system/kinds/row.ts";
import { tables } from "../system/kinds/tables.ts";

const crds = definitions.map((definition) => plain(crdOf(definition)) as Stored);
const resources = crds.flatMap(resourcesOf);

describe("the embedded API, asked about our kinds", () => {
  test.each(crds.map((crd) => [crd.metadata.name, crd] as const))("takes %s", (_name, crd) => {
    expect(problemsOfCrd(crd)).toEqual([]);
  });

  for (const [name, rows] of Object.entries(tables)) {
    describe(name, () => {
      test.each(rows.map((row) => [row.says, row] as const))("%s", (_says, row) => {
        const causes = lastCauses(row);
        const refused = row.refused ?? [];
        expect(refusals(causes, refused)).toEqual(refused.toSorted(byText));
      });
    });
  }
});

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** What is said to the last write that a row speaks of; those before it are accepted. */
function lastCauses(row: Row): Cause[] {
  const resource = resources.find(({ kind }) => kind === row.kind.kind) as Resource;
  const write = (fields: object, old?: Stored): { object: Stored; causes: Cause[] } => {
    const given = plain({
      apiVersion: apiVersionOf(row.kind),
      kind: row.kind.kind,
      metadata: { name: row.name ?? "row" },
      ...fields,
    }) as Stored;
    const object = resource.shape.fill(resource.shape.prune(given).object);
    return { object, causes: resource.shape.problems(object, old) };
  };
  const created = write({ spec: row.spec });
  if (row.becomes === undefined && row.status === undefined) return created.causes;
  expect(created.causes).toEqual([]);
  const { spec } = created.object;
  if (row.status !== undefined) return write({ spec, status: row.status }, created.object).causes;
  return write({ spec: row.becomes }, created.object).causes;
}

function refusals(causes: readonly Cause[], expected: readonly Refusal[]): Refusal[] {
  return causes
    .filter(({ message }) => !message.includes("some validation rules were not checked"))
    .map(({ field, message }): Refusal => {
      return (
        expected.find(([path, end]) => path === field && message.endsWith(end)) ?? [field, message]
      );
    })
    .sort(byText);
}

function byText(a: Refusal, b: Refusal): number {
  return a.join(" ").localeCompare(b.join(" "));
}
