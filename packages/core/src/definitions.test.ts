import { expect, test } from "vitest";
import { definitions } from "./definitions.ts";

interface WithConditions {
  properties?: { conditions?: Record<string, unknown> };
}

test.each(definitions.map((definition) => [definition.kind, definition] as const))(
  "%s says of its conditions what its schema says",
  (_kind, definition) => {
    const { properties } = definition.status as WithConditions;
    const whole = properties?.conditions?.["x-kubernetes-list-type"] === "atomic";
    expect(definition.conditionList).toBe(whole ? "whole" : undefined);
  },
);

test("only one kind is ours alone, and all others stand in", () => {
  const own = definitions.filter(({ standIn }) => !standIn).map(({ kind }) => kind);
  expect(own).toEqual(["AzurePrivateLinkService"]);
});
