import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { expect, onTestFinished, test } from "vitest";
import { imageOf, inFlags } from "./flags.ts";
import type { InstallRecord } from "./live/record.ts";
import { isNewer } from "./live/versions.ts";
import { type RunFlags, withRunOptions } from "./options.ts";
import { installationOf, outputsOf } from "./run-install.ts";

test.each([
  ["registry.example.com:5000/team/postern:v1", "registry.example.com:5000/team/postern", "v1", ""],
  ["registry.example.com:5000/postern", "registry.example.com:5000/postern", "", ""],
  ["postern@sha256:ab", "postern", "", "sha256:ab"],
])("the image %s has a repository, a tag and a digest", (image, repository, tag, digest) => {
  expect(imageOf(image)).toEqual({ registry: "", repository, tag, digest });
});

const image = async (flags: object, before?: InstallRecord) => {
  const all = {
    namespace: "postern",
    azurePrivateSecret: "azure",
    azurePlsResourceGroup: "management",
    ...flags,
  };
  const installation = await installationOf(all, "1.2.3", before);
  const [, found] = /"image":"([^"]*)"/.exec(JSON.stringify(installation.objects)) ?? [];
  return { image: found, installation };
};

test("an image of the command line stands alone, whatever registry the values name", async () => {
  const values = fileWith(JSON.stringify({ image: { registry: "mirror.example.com" } }));
  const flags = { values: [values], image: "registry.example.com/postern:v1" };
  expect((await image(flags)).image).toBe("registry.example.com/postern:v1");
});

test("registries are replaced in the whole name of an image, once, and by an upgrade as well", async () => {
  const values = fileWith(
    JSON.stringify({ image: { registry: "quay.io", repository: "team/postern", tag: "v1" } }),
  );
  const registryOverrides = "quay.io=quay.io/mirror";
  const { image: installed, installation } = await image({ values: [values], registryOverrides });
  expect(installed).toBe("quay.io/mirror/team/postern:v1");
  const record = {
    version: "1.2.3",
    settings: installation.given,
    registryOverrides,
    objects: [],
  };
  expect((await image({}, record)).image).toBe("quay.io/mirror/team/postern:v1");
  const upgraded = await image({ image: "quay.io/team/postern:v2" }, record);
  expect(upgraded.image).toBe("quay.io/mirror/team/postern:v2");
  expect(upgraded.installation).toMatchObject({ registryOverrides });
  const without = await image({ registryOverrides: "" }, record);
  expect(without.image).toBe("quay.io/team/postern:v1");
});

test("an upgrade to another version does not go on with the old image, unless it is named", async () => {
  const record = (version: string, tag: string) => ({
    version,
    settings: { image: { repository: "registry.example.com/postern", tag } },
    objects: [],
  });
  await expect(image({}, record("1.2.2", "v1.2.2"))).rejects.toThrow(
    "the image would remain v1.2.2 of version 1.2.2, while everything else is of version 1.2.3: set --image, even to keep the image",
  );
  const named = { image: "registry.example.com/postern:v1.2.2" };
  expect((await image(named, record("1.2.2", "v1.2.2"))).image).toBe(named.image);
  const values = [fileWith("image: { tag: v9 }")];
  expect((await image({ values }, record("1.2.2", "v1.2.2"))).image).toMatch(/:v9$/);
  expect((await image({}, record("1.2.3", "v5"))).image).toMatch(/:v5$/);
  // Without a tag it is that of the version.
  expect((await image({}, record("1.2.2", ""))).image).toMatch(/:v1.2.3$/);
});

test("where nothing would be served, the flags are named that change it", async () => {
  await expect(image({ image: "postern:v1", privatePlatform: "None" })).rejects.toThrow(
    "nothing is enabled: use --private-platform Azure or --management-cluster-name",
  );
});

test("a violation names flags where there are flags, and settings elsewhere", () => {
  expect(inFlags("azure.clientId needs azure.subscriptionId and azure.cloudy")).toBe(
    "--azure-pls-managed-identity-client-id needs --azure-pls-subscription-id and azure.cloudy",
  );
});

test("a Secret is printed on request only, and the pods use it either way", async () => {
  const secret = "a-client-secret";
  const ids = { subscriptionId: "s", tenantId: "t", clientId: "c", clientSecret: secret };
  const file = fileWith(JSON.stringify(ids));
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

test.each([
  [[], true],
  [["--wait-until-available"], true],
  [["--wait-until-available=true"], true],
  [["--wait-until-available=false"], false],
  [["--no-wait-until-available"], false],
])("%j waits for the pods: %s", (args, waits) => {
  const command = withRunOptions(new Command()).exitOverride();
  expect(command.parse(args, { from: "user" }).opts<RunFlags>().waitUntilAvailable).toBe(waits);
});

test("a flag that is neither true nor false is rejected", () => {
  const command = withRunOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr() {} });
  const parse = () => command.parse(["--wait-until-crds-established=maybe"], { from: "user" });
  expect(parse).toThrow("give true or false");
});

test("a platform, a namespace and an image that cannot be are violations, together", async () => {
  const flags = { namespace: "Bad_NS", limitCrdInstall: "Azur,AWS,zz" };
  const { message } = await image(flags).then(
    () => expect.fail("it was accepted"),
    (error: Error) => error,
  );
  expect(message).toMatch(/^4 settings are invalid: /);
  for (const part of [
    "--limit-crd-install must be of AWS, Azure, GCP, IBMCloud, KubeVirt, Agent, OpenStack, and not 'Azur': did you mean Azure?",
    "--limit-crd-install must be of AWS, Azure, GCP, IBMCloud, KubeVirt, Agent, OpenStack, and not 'zz'",
    "--namespace must be at most 63 lower-case letters, digits and dashes",
    "--image is missing and must be the repository of an image",
  ])
    expect(message).toContain(part);
});

test.each([
  ["a key that is there twice", "replicas: 1\nlogLevel: info\nreplicas: 2\n", "line 3 is not"],
  ["a list that does not end", "replicas: [\n", "line 2 is not"],
])("a file of values with %s is rejected with the line", async (_, text, message) => {
  await expect(image({ image: "postern:v1", values: [fileWith(text)] })).rejects.toThrow(message);
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
  expect(await kinds("")).toBe(1);
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

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "postern-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "file");
  writeFileSync(file, text);
  return file;
}
