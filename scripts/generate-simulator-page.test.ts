import { readFileSync } from "node:fs";
import { resourceTypes } from "@postern/azure-simulator/arm/registry.ts";
import { command } from "@postern/azure-simulator/command/command.ts";
import { entraDifferences } from "@postern/azure-simulator/entra/entra.ts";
import { imdsDifferences } from "@postern/azure-simulator/imds/imds.ts";
import { expect, test } from "vitest";
import { simulatorPage } from "./generate-simulator-page.ts";

const page = readFileSync(new URL("../docs/reference/simulator.md", import.meta.url), "utf8");

/** The part of the page about a provider. */
function section(namespace: string): string {
  const from = page.indexOf(`\n## ${namespace}\n`);
  const end = page.indexOf("\n## ", from + 1);
  return from < 0 ? "" : page.slice(from, end < 0 ? undefined : end);
}

test("the page is in step with the code", () => {
  expect(page).toBe(simulatorPage());
});

test.each(resourceTypes.map(({ type }) => type))("the page names %s", (type) => {
  const at = type.indexOf("/");
  expect(section(type.slice(0, at))).toContain(`\`${type.slice(at + 1)}\``);
});

test.each(resourceTypes.map((type) => [type.type, type] as const))(
  "%s says how it differs from Azure, or that it does not",
  (type, { differences }) => {
    const about = section(type.slice(0, type.indexOf("/")));
    for (const each of differences) expect(about).toContain(`- ${each}\n`);
    const name = type.slice(type.indexOf("/") + 1);
    if (differences.length === 0) expect(about).toContain(`### ${name}\n\nNo difference is known.`);
  },
);

test.each([...entraDifferences, ...imdsDifferences])(
  "the page describes sign-in and metadata: %s",
  (each) => {
    expect(section("Entra and instance metadata")).toContain(`- ${each}\n`);
  },
);

test.each([
  "InvalidResourceType",
  "MissingSubscription",
  "InvalidSkipToken",
  "InvalidOperationUri",
])("the page says that %s has no evidence", (code) => {
  const [about] = /\nThese codes of Resource Manager itself.*?(?=\n\n)/s.exec(page) ?? [];
  expect(about).toContain("[?]");
  expect(about).toContain(code);
});

test.each(command().options.map(({ flags }) => flags))("the page describes %s", (flags) => {
  expect(page).toContain(`| \`${flags}\` |`);
});
