import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findOrInstall, run } from "./cache.ts";

const tests = join(import.meta.dirname, "..");

/** Programs that are built together, from one Go module under `test`. */
interface Made {
  module: string;
  /** The folders of the module that hold one each; its root is "." and is named after the module. */
  programs: readonly string[];
  /** A program of another module, where that is built as it is. */
  package?: string;
  /** What `go.mod` requires, and which says the version. */
  requires: string;
  /** What a person reads while it is built. */
  what: string;
  /** The linker flags by which the programs know their version; Kubernetes' own where absent. */
  stamps?: (version: string) => Record<string, string>;
}

const servers: Made = {
  module: "apiserver",
  programs: ["kube-apiserver", "etcd", "collector"],
  requires: "k8s.io/kubernetes",
  what: "kube-apiserver and etcd",
};
const goClients: Made = {
  module: "go-clients",
  programs: ["."],
  requires: "k8s.io/client-go",
  what: "a controller on client-go and controller-runtime",
};
const azureClient: Made = {
  module: "azure-go",
  programs: ["."],
  requires: "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9",
  what: "a client of Azure's SDK for Go",
  stamps: () => ({}),
};
const azapi: Made = {
  module: "azure-terraform",
  programs: [],
  package: "github.com/Azure/terraform-provider-azapi",
  requires: "github.com/Azure/terraform-provider-azapi",
  what: "Terraform's provider azapi",
  stamps: () => ({}),
};
const client: Made = {
  module: "kubectl",
  programs: ["."],
  requires: "k8s.io/kubectl",
  what: "kubectl",
};
const chartClient: Made = {
  module: "helm",
  programs: ["."],
  requires: "helm.sh/helm/v4",
  what: "helm",
  stamps: (version) => ({ "helm.sh/helm/v4/internal/version.version": version }),
};

/** The programs of a real control plane, as paths. */
export interface Binaries {
  version: string;
  "kube-apiserver": string;
  etcd: string;
  /** The controllers that delete what has no owner and empty namespaces. */
  collector: string;
}

/** What a machine has: the programs, or why it cannot have them. */
export type Found = { binaries: Binaries } | { missing: string };

/** The same of kubectl, which most suites do without. */
export type FoundKubectl = { kubectl: string; version: string } | { missing: string };

/**
 * Finds kube-apiserver and etcd in the cache, or builds them from `test/apiserver` and keeps them there.
 * The cache is outside the tree, so a fresh clone of the same version builds nothing.
 */
export async function findOrBuild(tell: (line: string) => void): Promise<Found> {
  const found = await findOrMake(servers, tell);
  if ("missing" in found) return found;
  const { version, folder } = found;
  const at = (program: string) => join(folder, program);
  return {
    binaries: {
      version,
      "kube-apiserver": at("kube-apiserver"),
      etcd: at("etcd"),
      collector: at("collector"),
    },
  };
}

/** Finds a kubectl of the same version in the cache, or builds it; only for suites that ask for it. */
export async function findOrBuildKubectl(tell: (line: string) => void): Promise<FoundKubectl> {
  const found = await findOrMake(client, tell);
  if ("missing" in found) return found;
  return { version: found.version, kubectl: join(found.folder, "kubectl") };
}

/** Finds a helm in the cache, or builds it; only for suites that ask for it. */
export async function findOrBuildHelm(
  tell: (line: string) => void,
): Promise<{ helm: string; version: string } | { missing: string }> {
  const found = await findOrMake(chartClient, tell);
  if ("missing" in found) return found;
  return { version: found.version, helm: join(found.folder, "helm") };
}

/** Finds a program that is a client as Go programs are, or builds it; only for suites that ask for it. */
export async function findOrBuildGoClients(
  tell: (line: string) => void,
): Promise<{ program: string } | { missing: string }> {
  const found = await findOrMake(goClients, tell);
  if ("missing" in found) return found;
  return { program: join(found.folder, goClients.module) };
}

/** Finds a program on Azure's SDK for Go, or builds it; only for suites that ask for it. */
export async function findOrBuildAzureGo(
  tell: (line: string) => void,
): Promise<{ program: string } | { missing: string }> {
  const found = await findOrMake(azureClient, tell);
  if ("missing" in found) return found;
  return { program: join(found.folder, azureClient.module) };
}

/** Finds Terraform's provider azapi, or builds it; only for suites that ask for it. */
export async function findOrBuildAzapi(
  tell: (line: string) => void,
): Promise<{ program: string } | { missing: string }> {
  const found = await findOrMake(azapi, tell);
  if ("missing" in found) return found;
  return { program: join(found.folder, "terraform-provider-azapi") };
}

async function findOrMake(
  made: Made,
  tell: (line: string) => void,
): Promise<{ version: string; folder: string } | { missing: string }> {
  const version = await versionOf(made);
  const flags = buildFlags((made.stamps ?? kubernetesStamps)(version));
  const stamp = await stampOf(made, flags);
  const found = await findOrInstall({
    name: `${made.module}-${version}`,
    stamp,
    what: `building ${made.what} ${version}`,
    tell,
    missing: async () =>
      (await run("go", ["version"], { stdio: "ignore" })).ok
        ? undefined
        : `Go is not on the PATH, and it builds the ${programOf(made)} of these tests`,
    install: (folder) => build(made, folder, flags, stamp),
  });
  return "missing" in found ? found : { version, folder: found.folder };
}

function programOf({ module, programs: [first = "."] }: Made): string {
  return first === "." ? module : first;
}

/** The version of what `go.mod` asks for, such as `v1.36.3`: Kubernetes' own, whose libraries count from v0. */
async function versionOf({ module, requires }: Made): Promise<string> {
  const text = await readFile(join(tests, module, "go.mod"), "utf8");
  const escaped = requires.replaceAll(".", "\\.");
  const line = new RegExp(
    `^(?:require|\\s)\\s*${escaped} v(\\d+)\\.(\\d+\\.\\d+)(?: // indirect)?$`,
    "m",
  ).exec(text);
  if (line === null) throw new Error(`test/${module}/go.mod requires no ${requires}`);
  const [, major, rest] = line;
  return `v${major === "0" ? "1" : major}.${rest}`;
}

/** Without these the programs say `v0.0.0-master+$Format`, and the other side cannot tell what they are. */
function kubernetesStamps(version: string): Record<string, string> {
  const [major = "", minor = ""] = version.slice(1).split(".");
  const at = "k8s.io/component-base/version";
  return { [`${at}.gitVersion`]: version, [`${at}.gitMajor`]: major, [`${at}.gitMinor`]: minor };
}

function buildFlags(stamps: Record<string, string>): string[] {
  const variables = Object.entries(stamps).map(([name, value]) => `-X ${name}=${value}`);
  return ["-trimpath", `-ldflags=-s -w ${variables.join(" ")}`];
}

/** Changes when anything changes that the programs are made from. */
async function stampOf({ module, programs }: Made, flags: string[]): Promise<string> {
  const hash = createHash("sha256").update(flags.join("\0"));
  const sources = ["go.mod", "go.sum", ...programs.map((program) => join(program, "main.go"))];
  for (const source of sources) hash.update(await readFile(join(tests, module, source)));
  return hash.digest("hex");
}

/** Builds beside the place and moves there whole, so that a killed build leaves nothing that looks finished. */
async function build(
  { module, programs, package: other }: Made,
  folder: string,
  flags: string[],
  stamp: string,
): Promise<void> {
  const parts = join(folder, "..");
  for (const name of await readdir(parts)) {
    if (name.startsWith(`${module}-`) && /\.(building|old)$/.test(name))
      await rm(join(parts, name), { recursive: true });
  }
  const building = `${folder}.building`;
  await mkdir(building);
  const packages = other === undefined ? programs.map((program) => `./${program}`) : [other];
  const built = await run("go", ["build", ...flags, "-o", `${building}/`, ...packages], {
    cwd: join(tests, module),
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (!built.ok) throw new Error(`go build of test/${module} failed: ${built.why}`);
  await writeFile(join(building, "stamp"), stamp);
  await rename(folder, `${folder}.old`).catch(() => undefined);
  await rename(building, folder);
  await rm(`${folder}.old`, { recursive: true, force: true });
}
