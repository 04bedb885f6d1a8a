import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { imageOf, inFlags } from "./flags.ts";
import { isNewer } from "./live/versions.ts";
import { installationOf, outputsOf } from "./run-install.ts";

test.each([
  ["registry.example.com:5000/team/postern:v1", "registry.example.com:5000/team/postern", "v1", ""],
  ["registry.example.com:5000/postern", "registry.example.com:5000/postern", "", ""],
  ["postern@sha256:ab", "postern", "", "sha256:ab"],
])("the image %s has a repository, a tag and a digest", (image, repository, tag, digest) => {
  expect(imageOf(image)).toEqual({ repository, tag, digest });
});

test("a violation names flags where there are flags, and settings elsewhere", () => {
  expect(inFlags("azure.clientId needs azure.subscriptionId and azure.cloudy")).toBe(
    "--azure-pls-managed-identity-client-id needs --azure-pls-subscription-id and azure.cloudy",
  );
});

test("a Secret is printed on request only, and the pods use it either way", async () => {
  const folder = mkdtempSync(join(tmpdir(), "postern-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "credentials");
  const secret = "a-client-secret";
  const ids = { subscriptionId: "s", tenantId: "t", clientId: "c", clientSecret: secret };
  writeFileSync(file, JSON.stringify(ids));
  const installation = await installationOf(
    {
      namespace: "postern",
      image: "registry.example.com/postern:v1",
      azurePrivateCreds: file,
      azurePlsResourceGroup: "management",
    },
    "1.2.3",
  );
  const encoded = Buffer.from(JSON.stringify(ids)).toString("base64");
  const printed = JSON.stringify(outputsOf(installation, "all", false));
  expect(printed).not.toContain(encoded);
  expect(printed).toContain('"secretName":"postern-azure-credentials"');
  expect(JSON.stringify(outputsOf(installation, "all", true))).toContain(encoded);
  expect(outputsOf(installation, "crds", true).map(({ kind }) => kind)).toEqual([
    "CustomResourceDefinition",
  ]);
  expect(outputsOf(installation, "resources", true).map(({ kind }) => kind)).not.toContain(
    "CustomResourceDefinition",
  );
});

test("tags of link services become an argument of the operator, with and without one", async () => {
  const flags = {
    namespace: "postern",
    image: "registry.example.com/postern:v1",
    azurePrivateSecret: "azure",
    azurePlsResourceGroup: "management",
  };
  const printed = async (more: object) =>
    JSON.stringify(
      outputsOf(await installationOf({ ...flags, ...more }, "1.2.3"), "resources", false),
    );
  expect(await printed({ azureTags: "team=blue,paid=the platform" })).toContain(
    '"--azure-tags=team=blue,paid=the platform"',
  );
  expect(await printed({})).not.toContain("--azure-tags");
});

test("kinds are limited to platforms in any case of letters", async () => {
  const flags = {
    namespace: "postern",
    image: "registry.example.com/postern:v1",
    azurePrivateSecret: "azure",
    azurePlsResourceGroup: "management",
  };
  const kinds = async (limitCrdInstall: string) =>
    outputsOf(await installationOf({ ...flags, limitCrdInstall }, "1.2.3"), "crds", false).length;
  expect(await kinds("aws, AZURE")).toBe(1);
  expect(await kinds("AWS")).toBe(0);
});

test.each([
  ["1.10.0", "1.9.9", true],
  ["1.9.9", "1.10.0", false],
  ["1.0.0", "1.0.0", false],
  ["v2.0.0-rc.1", "1.9.9", true],
  ["nonsense", "1.0.0", false],
])("version %s newer than %s: %s", (version, than, newer) => {
  expect(isNewer(version, than)).toBe(newer);
});
