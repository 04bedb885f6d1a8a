import { expect, test } from "vitest";
import { staticToken } from "../azure/tokens.ts";
import { lateCredential } from "./azure.ts";

test("a credential that is not there is looked for again, and then counts as who it is", async () => {
  const answers = [
    () => Promise.reject(new Error("not yet")),
    () => Promise.resolve(staticToken("t", "Tenant/Client")),
  ];
  let asked = 0;
  const credential = lateCredential(() => answers[asked++]?.() ?? Promise.reject(new Error()));
  await expect(credential.token()).rejects.toThrow("not yet");
  expect(credential.identity).toBe("operator");
  expect(await credential.token()).toBe("t");
  expect(await credential.token()).toBe("t");
  expect(credential.identity).toBe("tenant/client");
  expect(asked).toBe(2);
});
