import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crdOf } from "@postern/core/crd.ts";
import { definitions } from "@postern/core/definitions.ts";
import type { Definition } from "@postern/core/kinds/definition.ts";
import { stringify } from "yaml";

const folder = join(import.meta.dirname, "..", "manifests", "crds");

/** The manifests as the kinds say they are: name of the file → text. */
export function wantedManifests(): Map<string, string> {
  return new Map(definitions.map((definition) => [fileOf(definition), manifestOf(definition)]));
}

/** The files under `manifests/crds` that are missing, stale or of no kind. */
export function outOfStep(): string[] {
  const wanted = wantedManifests();
  const surplus = present().filter((name) => !wanted.has(name));
  const stale = [...wanted].filter(([name, text]) => read(name) !== text).map(([name]) => name);
  return [...stale, ...surplus];
}

function fileOf({ group, plural }: Definition): string {
  return `${group}_${plural}.yaml`;
}

function manifestOf(definition: Definition): string {
  const lines = ["# Made by scripts/generate-crds.ts from packages/core/src/kinds. Do not edit."];
  if (definition.standIn) {
    const origin = originOf(definition);
    lines.push(`# For a machine without ${origin}. Never install it over ${origin}'s own.`);
  }
  const yaml = stringify(crdOf(definition), { lineWidth: 0, aliasDuplicateObjects: false });
  return `${lines.join("\n")}\n${yaml}`;
}

/** Whose place a stand-in takes. */
function originOf({ group }: Definition): string {
  if (group.startsWith("hypershift.")) return "HyperShift";
  if (group.endsWith("cluster.x-k8s.io")) return "Cluster API";
  return group.endsWith(".upbound.io") ? "Crossplane" : "OpenShift";
}

function present(): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), "utf8");
  } catch {
    return undefined;
  }
}

function writeAll(): void {
  mkdirSync(folder, { recursive: true });
  const wanted = wantedManifests();
  for (const name of present()) if (!wanted.has(name)) rmSync(join(folder, name));
  for (const [name, text] of wanted) writeFileSync(join(folder, name), text);
}

if (import.meta.main) {
  if (process.argv.includes("--check")) {
    const names = outOfStep();
    for (const name of names) {
      console.error(`manifests/crds/${name} is out of step: run node scripts/generate-crds.ts`);
    }
    process.exitCode = names.length > 0 ? 1 : 0;
  } else {
    writeAll();
  }
}
