import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ApplianceError } from "./errors.ts";
import { type ApplianceCode, applianceCodes } from "./known-codes.ts";

const page = readFileSync(
  new URL("../../../../docs/reference/agent-errors.md", import.meta.url),
  "utf8",
);
const sections = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf("\n")), section] as const),
);

test("the page describes every code of the agent, and none that it has not", () => {
  expect([...sections.keys()].sort()).toEqual(Object.keys(applianceCodes).sort());
});

test.each(Object.entries(applianceCodes))(
  "the page says of %s what the table says",
  (code, row) => {
    const section = sections.get(code)?.toLowerCase();
    expect(section).toContain(row.why.toLowerCase());
    expect(section).toContain(row.hint.toLowerCase());
  },
);

test("an error says what, why and what to do, and points to its section", () => {
  const code: ApplianceCode = "PoolNotFound";
  const error = new ApplianceError({ code, what: "find it", detail: "a has b" });
  const { why, hint } = applianceCodes[code];
  expect(error.explain().message).toBe(`cannot find it · ${why}: a has b (${code}) · ${hint}`);
  expect(error.doc).toBe("docs/reference/agent-errors.md#poolnotfound");
});
