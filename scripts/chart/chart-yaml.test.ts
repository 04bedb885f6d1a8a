import { definitions } from "@postern/core/definitions.ts";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { chartYaml, crdExamples } from "./chart-yaml.ts";

const annotationsOf = (text: string) => parse(text).annotations as Record<string, string>;

test("each kind that the chart brings has an example, which is valid", () => {
  const own = definitions.filter(({ standIn }) => !standIn);
  expect(crdExamples.map(({ kind }) => kind).sort()).toEqual(own.map(({ kind }) => kind).sort());
  for (const { kind, spec } of crdExamples) {
    const definition = own.find((each) => each.kind === kind);
    const schema = JSON.parse(JSON.stringify(definition?.spec));
    const valid = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    expect(valid(spec), JSON.stringify(valid.errors)).toBe(true);
  }
});

test("a release names its image, its changes, and whether one of them is about security", () => {
  const image = `registry.example.com/postern@sha256:${"0".repeat(64)}`;
  const changes = [{ kind: "security" as const, description: "A credential is not logged" }];
  const released = annotationsOf(chartYaml({ version: "1.2.3", image, changes }));
  expect(parse(released["artifacthub.io/images"] ?? "")).toEqual([
    { name: "operator", image, platforms: ["linux/amd64", "linux/arm64"] },
  ]);
  expect(parse(released["artifacthub.io/changes"] ?? "")).toEqual(changes);
  expect(released["artifacthub.io/containsSecurityUpdates"]).toBe("true");
  expect(released["artifacthub.io/prerelease"]).toBe("false");
  const other = annotationsOf(chartYaml({ version: "1.2.3-rc.1" }));
  expect(other["artifacthub.io/prerelease"]).toBe("true");
  expect(other["artifacthub.io/containsSecurityUpdates"]).toBe("false");
});
