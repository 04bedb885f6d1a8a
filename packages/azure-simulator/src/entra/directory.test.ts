import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { guidFrom } from "../state/guid.ts";
import { Directory } from "./directory.ts";

const tenant = "11111111-1111-4111-8111-111111111111";

test("a token is good wherever the key that signed it was kept, and nowhere else", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const signingKey = String(privateKey.export({ type: "pkcs8", format: "pem" }));
  const first = directory();
  const app = first.addApplication({ tenant, secrets: [{ value: "hush" }] });
  const kept = { ...first.save(), signingKey };
  const [second, third] = [directory(), directory()];
  second.load(kept);
  third.load(second.save());
  const token = second.tokenFor(app);
  expect(third.authenticate(`Bearer ${token}`).objectId).toBe(app.objectId);
  expect(() => first.authenticate(`Bearer ${token}`)).toThrow("The access token is invalid.");
  expect(third.application(app.appId)?.secrets).toEqual([{ value: "hush" }]);
});

test("no key is made before the first token", () => {
  const fresh = directory();
  fresh.addSubscription("22222222-2222-4222-8222-222222222222", tenant);
  expect(fresh.save()).not.toHaveProperty("signingKey");
  fresh.tokenFor(fresh.addApplication({ tenant }));
  expect(fresh.save().signingKey).toContain("PRIVATE KEY");
});

test("managed identities are not kept here: they come back with their resources", () => {
  const fresh = directory();
  fresh.addSystemIdentity({
    tenant,
    objectId: guidFrom("machine"),
    resourceId: "/subscriptions/s/vm",
  });
  expect(fresh.save().applications).toEqual([]);
});

function directory(): Directory {
  let made = 0;
  const clock = { now: () => Date.UTC(2026, 0, 1), after: () => () => undefined };
  return new Directory({ clock, guid: () => guidFrom(String(made++)) });
}
