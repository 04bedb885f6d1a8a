import { expect, test } from "vitest";
import { azureLimit } from "./azure-limits.ts";

test("a limit is a count in a time, or a burst and a rate; further ones are added", () => {
  const limits = azureLimit("writes=200+2.5", azureLimit("dns-reads=600/300"));
  expect(limits).toEqual({
    "dns-reads": { burst: 600, perSecond: 2 },
    writes: { burst: 200, perSecond: 2.5 },
  });
});

test.each([
  "dns-reads",
  "dns-reads=",
  "dns-reads=500",
  "dns-reads=0/300",
  "dns-reads=500/0",
  "writes=1+0",
  "reeds=5/5",
  "constructor=5/5",
  "reads=1e9/1",
])("%s is rejected with the names that exist", (text) => {
  expect(() => azureLimit(text)).toThrow(/NAME=COUNT\/SECONDS.*dns-reads/);
});
