import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AzureError } from "./errors.ts";
import { knownCodes } from "./known-codes.ts";

const page = readFileSync(
  new URL("../../../../docs/reference/azure-errors.md", import.meta.url),
  "utf8",
);
const sections = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf("\n")), section] as const),
);

test("the page describes every code that we know, and none that we do not", () => {
  expect([...sections.keys()].sort()).toEqual(Object.keys(knownCodes).sort());
});

test.each(Object.entries(knownCodes))("the page says of %s what the table says", (code, known) => {
  const section = sections.get(code)?.toLowerCase();
  expect(section).toContain(known.why.toLowerCase());
  expect(section).toContain(known.hint.toLowerCase());
});

test("an error points to a heading of the page", () => {
  const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) =>
    text.toLowerCase().replaceAll(" ", "-"),
  );
  for (const code of ["AuthorizationFailed", "SomethingNew", "AADSTS700016"]) {
    const { doc } = new AzureError({ code, what: "write x" });
    expect(headings).toContain(doc.split("#")[1]);
  }
});
