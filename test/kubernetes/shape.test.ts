import type { Cause, Schema, Shape, Stored } from "@postern/kubernetes-embedded/resource.ts";
import { shapeOf } from "@postern/kubernetes-embedded/schema/shape.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { fc, seed, seeded } from "../setup/random.ts";
import { type Api, describeApi, eventually, type Status, type Thing } from "./api.ts";
import { everyFeature } from "./every-feature.ts";
import { valuesOf } from "./random-values.ts";
import { crdOf, installWidgets, type Widgets } from "./widgets.ts";

const runs = Number(process.env.POSTERN_SHAPE_RUNS ?? 150);
const parameters = { seed, numRuns: runs };

/** Random objects of a schema that has every feature, on the API server and on what the embedded one judges with. */
describeApi(`schemas, with random objects (${seeded})`, (api) => {
  const schema: Schema = { type: "object", required: ["spec"], properties: { spec: everyFeature } };
  const shape = shapeOf(schema);
  let tight: Widgets;
  let namespace = "";

  beforeAll(async () => {
    tight = await installWidgets(api, { schema });
    namespace = await api.namespace();
  }, 60_000);

  test("create comes to the same", async () => {
    await fc.assert(
      fc.asyncProperty(valuesOf(everyFeature), async (spec) => {
        const given = tight.widget("w", { spec });
        const path = `${tight.path(namespace)}?dryRun=All&fieldValidation=Ignore`;
        expect(predicted(shape, given)).toEqual(await answered(api, "POST", path, given));
      }),
      parameters,
    );
  }, 300_000);

  test("unknown fields are reported in the same words", async () => {
    await fc.assert(
      fc.asyncProperty(valuesOf(everyFeature), async (spec) => {
        const given = tight.widget("w", { spec });
        const path = `${tight.path(namespace)}?dryRun=All&fieldValidation=Strict`;
        const { status, body } = await api.request<Status>("POST", path, given);
        const told = status === 400 ? [...body.message.matchAll(/unknown field "([^"]*)"/g)] : [];
        const { unknown } = shape.prune(plain(given) as Stored);
        expect(unknown).toEqual(told.map(([, field]) => field));
      }),
      parameters,
    );
  }, 300_000);

  describe("over objects that were taken before the schema was so strict", () => {
    const old: Thing[] = [];
    let loose: Widgets;

    beforeAll(async () => {
      loose = await installWidgets(api);
      const specs = fc.sample(valuesOf(everyFeature), { seed, numRuns: 40 });
      for (const [index, spec] of specs.entries()) {
        const given = loose.widget(`w${index}`, { spec });
        const answer = await api.request<Thing>("POST", loose.path(namespace), given);
        if (answer.status === 201) old.push(answer.body);
      }
      const crd = await api.ok<Thing>("GET", loose.crd);
      const { spec } = crdOf(loose, { schema }) as Thing;
      await api.ok("PUT", loose.crd, {
        ...crd,
        spec: { ...spec, conversion: { strategy: "None" } },
      });
      await eventually(() => api.refused("POST", loose.path(namespace), loose.widget("none")));
    }, 60_000);

    test("update comes to the same", async () => {
      const changes = fc.nat().chain((index) => {
        const before = old[index % old.length] as Thing;
        return fc.tuple(fc.constant(before), changesOf(before.spec), fc.boolean());
      });
      await fc.assert(
        fc.asyncProperty(changes, async ([before, spec, touch]) => {
          // Something always changes: a write that changes nothing is not looked at.
          const labels = touch ? { labels: { touched: "yes" } } : {};
          const given = { ...before, metadata: { ...before.metadata, ...labels }, spec };
          const path = loose.path(namespace, before.metadata.name);
          const query = "?dryRun=All&fieldValidation=Ignore";
          const known = shape.fill(shape.prune(before as unknown as Stored).object);
          const answer = await answered(api, "PUT", `${path}${query}`, given);
          expect(predicted(shape, given, known)).toEqual(answer);
        }),
        parameters,
      );
    }, 300_000);
  });
});

/** A spec with some of its fields made anew. */
function changesOf(spec: unknown): fc.Arbitrary<unknown> {
  if (typeof spec !== "object" || spec === null || Array.isArray(spec)) return fc.constant(spec);
  const fields = spec as Record<string, unknown>;
  const names = Object.keys(fields);
  const leave = fc.subarray(names, { maxLength: Math.min(2, names.length) });
  return fc.tuple(leave, valuesOf(everyFeature)).map(([gone, made]) => {
    const kept = Object.entries(fields).filter(([name]) => !gone.includes(name));
    const few = typeof made === "object" && made !== null ? Object.entries(made).slice(0, 2) : [];
    return Object.fromEntries([...kept, ...few]);
  });
}

interface Outcome {
  spec?: unknown;
  causes?: string[];
}

function predicted(shape: Shape, given: unknown, old?: Stored): Outcome {
  const object = shape.fill(shape.prune(plain(given) as Stored).object);
  const causes = shape.problems(object, old);
  return causes.length === 0 ? { spec: object.spec } : { causes: causeLines(causes) };
}

async function answered(api: Api, method: string, path: string, given: unknown): Promise<Outcome> {
  const { status, body } = await api.request<Thing & Status>(method, path, given);
  if (status < 300) return { spec: body.spec };
  if (status !== 422) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return { causes: causeLines(body.details.causes ?? []) };
}

/** Causes in one order: the server's is that of a Go map. */
function causeLines(causes: readonly Cause[]): string[] {
  return causes
    .map(({ reason, field, message }) => `${reason} ${field}: ${withoutFailure(message)}`)
    .sort();
}

/**
 * Why a rule could not be asked is told in the words of a library, and those differ; so does, over values that
 * were let be though they are of the wrong type, whether it is false or cannot be asked.
 */
function withoutFailure(message: string): string {
  return message.replace(/^Invalid value: "\w*": .* (?:evaluating|for) rule: /s, "Invalid value: ");
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
