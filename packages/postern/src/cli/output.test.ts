import { expect, test } from "vitest";
import { table } from "./output.ts";

test("a table that does not fit has its columns one below the other", () => {
  const rows = [
    ["pe-one", "asks to be let in"],
    ["pe-two", "asks too"],
  ];
  expect(table(["NAME", "SAYS"], rows, 80)).toBe(
    "NAME     SAYS\npe-one   asks to be let in\npe-two   asks too",
  );
  expect(table(["NAME", "SAYS"], rows, 20)).toBe(
    "NAME pe-one\nSAYS asks to be let in\n\nNAME pe-two\nSAYS asks too",
  );
});
