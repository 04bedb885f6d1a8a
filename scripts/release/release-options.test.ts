import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { releaseOptions } from "./release.ts";

const root = join(import.meta.dirname, "../..");
const { version } = JSON.parse(
  readFileSync(join(root, "packages/postern/package.json"), "utf8"),
) as { version: string };
const tag = `v${version}`;
const passphrase = "open sesame";

/** A checkout with one commit that has the tag, and keys beside it. */
function startCheckout() {
  const folder = mkdtempSync(join(tmpdir(), "postern-release-options-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const checkout = join(folder, "checkout");
  const by = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
  const git = (...args: string[]) =>
    execFileSync("git", [...by, ...args], { cwd: checkout, encoding: "utf8", stdio: "pipe" });
  execFileSync("git", ["init", "-q", checkout]);
  writeFileSync(join(checkout, "a"), "1");
  git("add", "a");
  git("commit", "-qm", "one");
  git("tag", tag);
  const keyFile = (name: string, curve: string, secret?: string) => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: curve });
    const form = { type: "pkcs8", format: "pem" } as const;
    const pem = privateKey.export(
      secret ? { ...form, cipher: "aes-256-cbc", passphrase: secret } : form,
    );
    writeFileSync(join(folder, name), pem);
    return join(folder, name);
  };
  const flags = {
    tag,
    key: keyFile("key", "prime256v1"),
    image: "registry.example.com/postern",
    out: join(folder, "out"),
    source: "https://git.example.com/postern",
    downloads: "https://downloads.example.com",
  };
  const ask = (
    given: Partial<typeof flags> = {},
    env: NodeJS.ProcessEnv = {},
    more: string[] = [],
  ) =>
    releaseOptions(
      [
        ...Object.entries({ ...flags, ...given }).flatMap(([name, value]) =>
          value === "" ? [] : [`--${name}`, value],
        ),
        ...more,
      ],
      { env, checkout },
    );
  return { ask, checkout, folder, git, keyFile };
}

test("a release is made from a checkout of its tag, and names the commit", () => {
  const { ask, git } = startCheckout();
  expect(ask().origin).toEqual({
    commit: git("rev-parse", "HEAD").trim(),
    tag,
    source: "https://git.example.com/postern",
  });
});

test.each(["tag", "key", "image", "out", "source", "downloads"])(
  "without --%s it is not made, and one message names all flags",
  (flag) => {
    const { ask } = startCheckout();
    expect(() => ask({ [flag]: "" })).toThrow(
      "give --tag, --key, --image, --out, --source and --downloads",
    );
  },
);

test("what is not the tag's commit without changes is not released", () => {
  const { ask, checkout, git } = startCheckout();
  writeFileSync(join(checkout, "b"), "2");
  expect(() => ask()).toThrow("the checkout has changes");
  git("add", "b");
  git("commit", "-qm", "two");
  expect(() => ask()).toThrow(`${tag} is not checked out`);
  git("tag", "-d", tag);
  expect(() => ask()).toThrow(`there is no tag ${tag}`);
  expect(() => ask({ tag: "v99.0.0" })).toThrow(`the tag v99.0.0 is not ${tag}`);
});

test("a key that cannot be used is named with the reason", () => {
  const { ask, folder, keyFile } = startCheckout();
  const key = keyFile("encrypted", "prime256v1", passphrase);
  expect(() => ask({ key })).toThrow("--key is encrypted: set RELEASE_KEY_PASSPHRASE");
  expect(() => ask({ key }, { RELEASE_KEY_PASSPHRASE: "other" })).toThrow(
    "RELEASE_KEY_PASSPHRASE does not open --key",
  );
  const opened = ask({ key }, { RELEASE_KEY_PASSPHRASE: passphrase });
  expect(opened.key.asymmetricKeyType).toBe("ec");
  expect(() => ask({ key: keyFile("p384", "secp384r1") })).toThrow("on the curve P-256");
  expect(() => ask({ key: join(folder, "none") })).toThrow(/--key .* cannot be read/);
  expect(() => ask({ key: join(folder, "checkout/a") })).toThrow(
    "--key must be a private key in PEM",
  );
});

test("a flag that does not exist is rejected", () => {
  const { ask } = startCheckout();
  expect(() => ask({}, {}, ["--push"])).toThrow("--push");
});
