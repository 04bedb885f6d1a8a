import { apiVersionOf } from "@postern/core/kind.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { type Cluster, describeOnCluster } from "../setup/cluster.ts";
import { installKinds } from "./kinds/install.ts";
import type { Refusal, Row } from "./kinds/row.ts";
import { tables } from "./kinds/tables.ts";

describeOnCluster("the real API server, asked about our kinds", (cluster) => {
  let namespace = "";

  beforeAll(async () => {
    await installKinds(cluster);
    namespace = await cluster.namespace();
  });

  for (const [table, [name, rows]] of Object.entries(tables).entries()) {
    describe(name, () => {
      test.each(rows.map((row, at) => [row.says, row, `row-${table}-${at}`] as const))(
        "%s",
        async (_says, row, at) => {
          // Objects of the whole cluster outlive the namespace and must not meet those of another run.
          const object = row.name ?? (row.kind.namespaced ? at : `${namespace}-${at}`);
          const answer = await lastAnswer(cluster, namespace, object, row);
          if (row.refused === undefined) {
            expect(answer.status, JSON.stringify(answer.body)).toBeOneOf([200, 201]);
          } else {
            expect(answer.status, JSON.stringify(answer.body)).toBe(422);
            expect(refusals(answer.body, row.refused)).toEqual(row.refused.toSorted(byText));
          }
        },
      );
    });
  }
});

interface Answered {
  status: number;
  body: Body;
}

interface Body {
  metadata: { name: string };
  details?: { causes?: { field: string; message: string }[] };
}

/** Creates the object and, where the row says so, writes over it. Only the last write may be refused. */
async function lastAnswer(
  cluster: Cluster,
  namespace: string,
  name: string,
  row: Row,
): Promise<Answered> {
  const { kind, spec } = row;
  const within = kind.namespaced ? `namespaces/${namespace}/` : "";
  const path = `/apis/${apiVersionOf(kind)}/${within}${kind.plural}`;
  const object = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name },
    spec,
  };
  const created = await cluster.request<Body>("POST", path, object);
  if (row.becomes === undefined && row.status === undefined) return created;
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  if (row.status !== undefined) {
    return cluster.request("PATCH", `${path}/${name}/status`, { status: row.status });
  }
  const { metadata } = created.body;
  return cluster.request("PUT", `${path}/${name}`, { ...object, metadata, spec: row.becomes });
}

/**
 * The causes in one order (the server's is that of a Go map), each cut to the message that the row expects
 * where it ends with that: before it the server puts the value.
 */
function refusals(body: Body, expected: readonly Refusal[]): Refusal[] {
  const causes = body.details?.causes ?? [];
  return causes
    .filter(({ message }) => !message.includes("some validation rules were not checked"))
    .map(({ field, message }): Refusal => {
      const known = expected.find(([path, end]) => path === field && message.endsWith(end));
      return known ?? [field, message];
    })
    .sort(byText);
}

function byText(a: Refusal, b: Refusal): number {
  return a.join(" ").localeCompare(b.join(" "));
}
