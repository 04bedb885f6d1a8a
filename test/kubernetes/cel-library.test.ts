import type { Cause, Schema, Stored } from "@postern/kubernetes-embedded/resource.ts";
import { shapeOf } from "@postern/kubernetes-embedded/schema/shape.ts";
import { expect, test } from "vitest";
import { describeApi } from "./api.ts";
import { asked, expressions } from "./cel-expressions.ts";
import { withWidgets } from "./widgets.ts";

const text: Schema = { type: "string", maxLength: 50 };
const listOf = (items: Schema): Schema => ({ type: "array", maxItems: 5, items });

const spec: Schema = {
  type: "object",
  properties: {
    text,
    missing: text,
    names: listOf(text),
    numbers: listOf({ type: "integer" }),
    doubles: listOf({ type: "number" }),
    map: { type: "object", maxProperties: 4, additionalProperties: text },
    url: text,
    when: { type: "string", format: "date-time" },
    wait: { type: "string", format: "duration" },
    data: { type: "string", format: "byte", maxLength: 20 },
    port: { "x-kubernetes-int-or-string": true },
    flag: { type: "boolean" },
    ratio: { type: "number" },
    people: listOf({
      type: "object",
      required: ["name"],
      properties: { name: text, age: { type: "integer" } },
    }),
  },
  "x-kubernetes-validations": expressions.map((rule) => ({ rule, message: `<${rule}>` })),
};

describeApi("the functions of CEL", (api) => {
  const schema: Schema = { type: "object", properties: { spec } };
  const widgets = withWidgets(api, { schema });

  test("give the same answers, and fail where the real ones fail", async () => {
    const namespace = await api.namespace();
    const given = widgets.widget("w", { spec: asked });
    const path = `${widgets.path(namespace)}?dryRun=All`;
    const { details } = await api.refused("POST", path, given);
    const ours = shapeOf(schema).problems(given as unknown as Stored);
    expect(answersOf(ours)).toEqual(answersOf(details.causes ?? []));
  });
});

/** For each expression that is not true: whether it is false or could not be asked. */
function answersOf(causes: readonly Cause[]): Record<string, string> {
  return Object.fromEntries(
    causes.map(({ message }) => {
      const failed = message.includes(" evaluating rule: ");
      return [message.slice(message.indexOf("<") + 1, -1), failed ? "fails" : "is false"];
    }),
  );
}
