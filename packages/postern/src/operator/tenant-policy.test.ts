import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allowsHost, allowsSubscription } from "@postern/core/tenant-policy.ts";
import { expect, test } from "vitest";
import { readTenantPolicy } from "./tenant-policy.ts";

async function fileWith(text: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "policy-")), "policy.yaml");
  await writeFile(file, text);
  return file;
}

test("a file says which namespace may use what", async () => {
  const policy = await readTenantPolicy(
    await fileWith(`
namespaces:
  - namespace: team-blue
    domains: [blue.example.com]
  - namespace: "*"
    domains: []
    subscriptions: []
`),
  );
  expect(allowsHost(policy?.rulesOf("team-blue") ?? {}, "api.blue.example.com")).toBe(true);
  expect(allowsHost(policy?.rulesOf("team-red") ?? {}, "api.blue.example.com")).toBe(false);
  expect(allowsSubscription(policy?.rulesOf("team-red") ?? {}, "s")).toBe(false);
});

test("without a file there is no policy", async () => {
  expect(await readTenantPolicy(undefined)).toBeUndefined();
});

test.each([
  ["a misspelled field", "namespaces: [{ namespace: a, domain: [x] }]", /domain|additional/],
  ["a list that is none", "namespaces: [{ namespace: a, domains: x }]", /domains/],
  ["no list of namespaces", "{}", /namespaces/],
  [
    "a second entry of a namespace",
    "namespaces: [{ namespace: a }, { namespace: b }, { namespace: a }]",
    /namespaces.2: a has an entry already, .namespaces.0/,
  ],
  [
    "a subscription that is none",
    "namespaces: [{ namespace: a, subscriptions: [x] }]",
    /id of a sub/,
  ],
  [
    "a group without its subscription",
    "namespaces: [{ namespace: a, resourceGroups: [b] }]",
    /group/,
  ],
  [
    "a domain with a scheme",
    "namespaces: [{ namespace: a, domains: ['https://x.com/'] }]",
    /domain/,
  ],
  ["an identity that is none", "namespaces: [{ namespace: a, identities: [me] }]", /client id/],
  ["what is not YAML", "namespaces: [", /not YAML/],
])("%s is refused at the start", async (_what, text, why) => {
  await expect(readTenantPolicy(await fileWith(text))).rejects.toThrow(why);
});

test("a file that is not there is refused", async () => {
  await expect(readTenantPolicy("/nowhere/policy.yaml")).rejects.toThrow(/ENOENT/);
});
