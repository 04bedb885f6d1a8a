import { startImds } from "@postern/azure-simulator/imds/imds.ts";
import { expect, onTestFinished, test } from "vitest";
import { fc } from "../setup/random.ts";
import { group, identityWorld, tenant } from "./identity-world.ts";

const word = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    tenant,
    "..",
    "%2f",
    "%",
    "{}",
    "eyJhIjoxfQ.eyJpc3MiOnsiYSI6MX19.",
    "a.b.c",
    "/.default",
    "\u0000",
  ),
);

test("no request makes the sign-in or the metadata service fail", async () => {
  const { simulator } = await identityWorld();
  const app = simulator.directory.addApplication({
    tenant,
    federated: [{ name: "f", issuer: "https://i.example", subject: "s", audiences: ["a"] }],
  });
  const imds = await startImds(
    simulator,
    `${group}/providers/Microsoft.Compute/virtualMachines/vm`,
  );
  onTestFinished(() => imds.close());
  const form = fc.record(
    {
      grant_type: fc.oneof(fc.constant("client_credentials"), word),
      client_id: fc.oneof(fc.constant(app.appId), word),
      client_assertion: word,
      client_assertion_type: fc.oneof(
        fc.constant("urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        word,
      ),
      client_secret: word,
      scope: fc.oneof(fc.constant("https://management.azure.com/.default"), word),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.constant(tenant), word), form, word, async (at, fields, path) => {
      const token = await fetch(
        `${simulator.url}/${encodeURIComponent(at) || "x"}/oauth2/v2.0/token`,
        { method: "POST", body: new URLSearchParams(fields) },
      );
      expect(token.status).toBeLessThan(500);
      expect(await token.json()).toHaveProperty("error");
      const found = await fetch(
        `${imds.url}/metadata/${encodeURIComponent(path)}?api-version=${encodeURIComponent(path)}`,
        {
          headers: { metadata: "true" },
        },
      );
      expect([400, 404, 429]).toContain(found.status);
      await found.text();
      const authorization = `Bearer ${encodeURIComponent(path)}.${encodeURIComponent(at)}.x`;
      const refused = await fetch(`${simulator.url}/subscriptions?api-version=2022-12-01`, {
        headers: { authorization },
      });
      expect(refused.status).toBe(401);
      await refused.text();
    }),
    { numRuns: 300 },
  );
});
