// Makes a release from a tag: chart, images, bundle, manifests, SBOMs, schemas, notes, checksums, provenance and signatures.
// Nothing is published. Usage: release.ts --tag v0.1.0 --key cosign.key --image registry.example.com/postern --out FOLDER
import { spawnSync } from "node:child_process";
import type { KeyObject } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { imageOf } from "postern/install/flags.ts";
import { mergeSettings, type Settings } from "postern/install/settings.ts";
import { stringify } from "yaml";
import { buildImageRoot } from "../build-image-root.ts";
import { chartYaml } from "../chart/chart-yaml.ts";
import { olmBundle } from "../chart/olm-bundle.ts";
import { configurationOf, configured } from "../generate-chart.ts";
import { type Architecture, imageBase } from "./image-base.ts";
import { configOfDockerfile, writeImageLayout } from "./image-layout.ts";
import { krewManifest } from "./krew.ts";
import { changesOf, notesOf } from "./notes.ts";
import { type Origin, provenance } from "./provenance.ts";
import { sbom } from "./sboms.ts";
import { envelope, imagePayload, publicKey, signBlob, signingKey } from "./signatures.ts";
import { readJson, sha256, tarGzOf, tarOf, writeJson } from "./tar.ts";

const root = join(import.meta.dirname, "../..");

/** What a release is made of. */
export interface ReleaseOptions {
  out: string;
  key: KeyObject;
  /** The repository to which the image will be pushed. */
  image: string;
  origin: Pick<Origin, "commit" | "tag" | "source">;
  /** Where the files will be downloaded. */
  downloads: string;
  /** The id that Artifact Hub gave to the repository of the chart. */
  artifactHubId?: string;
  architectures?: readonly Architecture[];
}

/** Make all files of a release in a folder. */
export function makeRelease(options: ReleaseOptions): void {
  const { out, key, origin, downloads } = options;
  const version = versionOf(origin.tag);
  if (existsSync(out) && readdirSync(out).length > 0) throw new UsageError(`${out} is not empty`);
  const work = mkdtempSync(join(tmpdir(), "postern-release-"));
  const file = (name: string, bytes: Buffer | string) => {
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, name), bytes);
  };
  try {
    const app = join(work, "image/app");
    buildImageRoot(app);
    const digest = image(options, version, work, file);
    const reference = `${options.image}@${digest}`;
    const notes = notesOf(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version);

    file(`postern-${version}.tgz`, chart(version, reference, notes, work));
    for (const [name, bytes] of bundle(version, reference, work)) file(name, bytes);
    file("install.yaml", manifests("hosted", reference));
    file("crd-schemas.tar.gz", tarGzOf(root, ["schemas"]));
    const parts = architecturesOf(options).flatMap((each) => imageBase(each).parts);
    writeJson(join(out, `postern-${version}.spdx.json`), sbom("spdx", parts));
    writeJson(join(out, `postern-${version}.cdx.json`), sbom("cyclonedx", parts));
    const plugin = `kubectl-postern-${version}.tar.gz`;
    const pluginBytes = tarGzOf(app);
    file(plugin, pluginBytes);
    const uri = `${downloads}/${plugin}`;
    const homepage = origin.source;
    file("krew.yaml", krewManifest({ version, uri, homepage, sha256: sha256(pluginBytes) }));
    if (options.artifactHubId !== undefined)
      file("artifacthub-repo.yml", stringify({ repositoryID: options.artifactHubId }));
    file(
      "RELEASE_NOTES.md",
      `# Postern ${version}\n\n${notes}\n\n${verification(version, reference)}`,
    );

    const payload = imagePayload(options.image, digest);
    file("image.payload.json", payload);
    file("image.sig", signBlob(key, payload));
    const made = readdirSync(out)
      .filter((name) => !name.endsWith(".sig"))
      .sort();
    const subjects = made.map((name) => ({ name, sha256: sha256(readFileSync(join(out, name))) }));
    const statement = provenance(
      [...subjects, { name: options.image, sha256: digest.slice("sha256:".length) }],
      {
        ...origin,
        node: process.version,
        lockfile: sha256(readFileSync(join(root, "package-lock.json"))),
      },
    );
    file("provenance.intoto.jsonl", `${JSON.stringify(envelope(key, statement))}\n`);
    const sums = [
      ...subjects,
      {
        name: "provenance.intoto.jsonl",
        sha256: sha256(readFileSync(join(out, "provenance.intoto.jsonl"))),
      },
    ];
    const text = sums.map(({ name, sha256: sum }) => `${sum}  ${name}\n`).join("");
    file("SHA256SUMS", text);
    file("SHA256SUMS.sig", signBlob(key, text));
    file("cosign.pub", publicKey(key));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The version of a tag, which must be that of the package. */
export function versionOf(tag: string): string {
  const { version } = readJson<{ version: string }>(join(root, "packages/postern/package.json"));
  if (tag !== `v${version}`)
    throw new UsageError(`the tag ${tag} is not v${version}, the version of packages/postern`);
  return version;
}

function architecturesOf({ architectures = ["amd64", "arm64"] }: ReleaseOptions) {
  return architectures;
}

/** The images of all platforms as one layout, and its digest. */
function image(
  options: ReleaseOptions,
  version: string,
  work: string,
  file: (name: string, bytes: Buffer) => void,
): string {
  const layout = join(work, "layout");
  const { origin } = options;
  const sources = architecturesOf(options).map((architecture) => ({
    architecture,
    layers: [
      { folder: imageBase(architecture).folder, what: "Node and the libraries of Debian" },
      { folder: join(work, "image"), what: "scripts/build-image-root.ts /app" },
    ],
  }));
  const digest = writeImageLayout(layout, sources, {
    config: configOfDockerfile(join(root, "Dockerfile")),
    tag: `v${version}`,
    labels: {
      "org.opencontainers.image.title": "postern",
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.revision": origin.commit,
      "org.opencontainers.image.source": origin.source,
      "org.opencontainers.image.licenses": "Apache-2.0",
    },
  });
  file(`postern-${version}.oci.tar`, tarOf(layout));
  return digest;
}

/** The package of the chart. A package of Helm is a tar of its folder. */
function chart(version: string, reference: string, notes: string, work: string): Buffer {
  const folder = join(work, "charts");
  cpSync(join(root, "charts/postern"), join(folder, "postern"), { recursive: true });
  const changes = changesOf(notes);
  const options = { version, image: reference, ...(changes.length > 0 && { changes }) };
  writeFileSync(join(folder, "postern/Chart.yaml"), chartYaml(options));
  return tarGzOf(folder, ["postern"]);
}

function bundle(version: string, reference: string, work: string): [string, Buffer | string][] {
  const createdAt = new Date().toISOString();
  const files = olmBundle(configured(withImage("olm", reference)), { version, createdAt });
  const before = files.get("before.yaml") ?? "";
  files.delete("before.yaml");
  const folder = join(work, "bundle");
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return [
    [`postern-olm-bundle-${version}.tar.gz`, tarGzOf(folder)],
    ["olm-before.yaml", before],
  ];
}

function manifests(name: string, reference: string): string {
  return configured(withImage(name, reference))
    .map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }))
    .join("---\n");
}

function withImage(name: string, reference: string): Settings {
  const given = { image: imageOf(reference) };
  return mergeSettings(configurationOf(name), given) as Settings;
}

function verification(version: string, reference: string): string {
  return `## Verify

\`\`\`sh
cosign verify-blob --key cosign.pub --signature SHA256SUMS.sig --insecure-ignore-tlog SHA256SUMS
sha256sum --check SHA256SUMS
skopeo copy --all oci-archive:postern-${version}.oci.tar docker://${reference.split("@")[0]}:v${version}
cosign attach signature --payload image.payload.json --signature image.sig ${reference}
cosign verify --key cosign.pub --insecure-ignore-tlog ${reference}
\`\`\`
`;
}

/** What the flags ask for, once the checkout is that of the tag and the key can be used. */
export function releaseOptions(
  args: readonly string[],
  { env, checkout }: { env: NodeJS.ProcessEnv; checkout: string },
): ReleaseOptions {
  const { tag, key, image, out, source, downloads, "artifact-hub-id": hub } = flagsIn(args);
  if (!tag || !key || !image || !out || !source || !downloads)
    throw new UsageError("give --tag, --key, --image, --out, --source and --downloads");
  versionOf(tag);
  const git = (...words: string[]) => {
    const { status, stdout } = spawnSync("git", words, { cwd: checkout, encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  };
  const commit = git("rev-list", "-n1", `refs/tags/${tag}`);
  if (commit === undefined) throw new UsageError(`there is no tag ${tag}`);
  if (commit !== git("rev-parse", "HEAD")) throw new UsageError(`${tag} is not checked out`);
  if (git("status", "--porcelain") !== "") throw new UsageError("the checkout has changes");
  return {
    out,
    key: signingKey(pemIn(key), env.RELEASE_KEY_PASSPHRASE),
    image,
    origin: { commit, tag, source },
    downloads,
    ...(hub && { artifactHubId: hub }),
  };
}

const text = { type: "string" } as const;
const flags = {
  tag: text,
  key: text,
  image: text,
  out: text,
  source: text,
  downloads: text,
  "artifact-hub-id": text,
};

function flagsIn(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags }).values;
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function pemIn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`--key ${file} cannot be read`, { cause });
  }
}

if (import.meta.main) {
  try {
    makeRelease(releaseOptions(process.argv.slice(2), { env: process.env, checkout: root }));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    process.exitCode = 64;
  }
}
