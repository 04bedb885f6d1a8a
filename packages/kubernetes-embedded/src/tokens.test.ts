import { memoryKeyValue } from "@postern/core/test-bed/key-value.ts";
import { expect, test } from "vitest";
import { ManualClock } from "../../../test/manual-clock.ts";
import { issuer, makeTokens } from "./tokens.ts";

const robot = { namespace: "n", name: "robot", uid: "1", expirationSeconds: 600 };

function tokens(things = memoryKeyValue(), accounts = ["n/robot/1"], clock = new ManualClock()) {
  const exists = (...parts: string[]) => accounts.includes(parts.join("/"));
  return { made: makeTokens({ alice: "wonderland" }, things, clock, exists), accounts, clock };
}

test("a given token is its user's, and the admin has one in any case", () => {
  const { made } = tokens();
  expect(made.whoHas("wonderland")?.username).toBe("alice");
  expect(made.whoHas(made.admin)).toMatchObject({
    username: "admin",
    groups: ["system:masters", "system:authenticated"],
  });
  expect(made.whoHas("")).toBeUndefined();
  expect(made.whoHas("a.b.c")).toBeUndefined();
});

test("tokens are good after a restart where things are kept, and nowhere else", () => {
  const things = memoryKeyValue();
  const { made } = tokens(things);
  const { token } = made.mint({ ...robot, audiences: [issuer] });
  expect(tokens(things).made.admin).toBe(made.admin);
  expect(tokens(things).made.whoHas(token)?.username).toBe("system:serviceaccount:n:robot");
  expect(tokens().made.whoHas(token)).toBeUndefined();
});

test("a service account's token ends with its time, or with the account", async () => {
  const { made, accounts, clock } = tokens();
  const { token } = made.mint({ ...robot, audiences: [issuer] });
  await clock.move(599_000);
  expect(made.whoHas(token)?.groups).toContain("system:serviceaccounts:n");
  await clock.move(2000);
  expect(made.whoHas(token)).toBeUndefined();
  const another = made.mint({ ...robot, audiences: [issuer] });
  expect(made.whoHas(another.token)).toBeDefined();
  accounts.pop();
  expect(made.whoHas(another.token)).toBeUndefined();
});

test("a token is good for those whom it is for", () => {
  const { made } = tokens();
  const { token } = made.mint({ ...robot, audiences: ["elsewhere"] });
  expect(made.whoHas(token)).toBeUndefined();
  expect(made.whoHas(token, ["elsewhere", "here"])?.uid).toBe("1");
});

test("a token that was changed is nobody's", () => {
  const { made } = tokens();
  const [head = "", claims = "", signature = ""] = made
    .mint({ ...robot, audiences: [issuer] })
    .token.split(".");
  const said = JSON.parse(Buffer.from(claims, "base64url").toString());
  const forged = Buffer.from(JSON.stringify({ ...said, exp: said.exp + 1 })).toString("base64url");
  expect(made.whoHas(`${head}.${forged}.${signature}`)).toBeUndefined();
});
