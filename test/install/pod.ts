// Runs a container of a rendered Deployment as a kubelet would, with runc and without a registry.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { imageBase, whyNoBase } from "../../scripts/release/image-base.ts";
import type { Cluster } from "../setup/cluster.ts";

const root = join(import.meta.dirname, "../..");

/** Why containers cannot be run on this machine; undefined where they can. */
export function whyNoContainers(): string | undefined {
  if (process.platform !== "linux") return "containers need Linux";
  if (process.getuid?.() !== 0) return "runc needs root here";
  const { error } = spawnSync("runc", ["--version"], { stdio: "ignore" });
  return error === undefined ? undefined : "runc is not on the PATH (Debian: apt-get install runc)";
}

/** What the image has, by its Dockerfile. */
export function imageConfig(): { entrypoint: string[]; user: string; workdir: string } {
  const text = readFileSync(join(root, "Dockerfile"), "utf8");
  const last = text.slice(text.lastIndexOf("FROM "));
  const value = (word: string) => new RegExp(`^${word} (.*)$`, "m").exec(last)?.[1] ?? "";
  return {
    entrypoint: JSON.parse(value("ENTRYPOINT")),
    user: value("USER"),
    workdir: value("WORKDIR"),
  };
}

/**
 * The files of the image: the base of a release, and below /app what the Dockerfile puts there. Where no base can be made, Node with
 * the libraries of this machine stands in.
 */
export function buildRootfs(folder: string): void {
  const architecture = ({ x64: "amd64", arm64: "arm64" } as const)[process.arch as "x64"];
  if (whyNoBase() === undefined && architecture !== undefined)
    cpSync(imageBase(architecture).folder, folder, { recursive: true, verbatimSymlinks: true });
  else putNodeOfThisMachine(folder);
  for (const each of ["proc", "dev", "tmp", "etc/azure-provider", "etc/postern", "var/run/secrets"])
    mkdirSync(join(folder, each), { recursive: true });
  // A kubelet mounts these.
  writeFileSync(join(folder, "etc/hosts"), `127.0.0.1 ${namedHost}\n`);
  writeFileSync(join(folder, "etc/resolv.conf"), "");
  const script = join(root, "scripts/build-image-root.ts");
  execFileSync(process.execPath, [script, join(folder, "app")], { cwd: root, stdio: "ignore" });
}

/** The name by which containers find this machine: like every name, the libraries of the image resolve it. */
export const namedHost = "localhost";

function putNodeOfThisMachine(folder: string): void {
  const put = (from: string, to: string) => {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(realpathSync(from), join(folder, to));
  };
  const node = realpathSync(process.execPath);
  put(node, "nodejs/bin/node");
  const libraries = execFileSync("ldd", [node], { encoding: "utf8" }).match(/\/\S+/g) ?? [];
  for (const library of libraries.filter((each) => each.includes(".so"))) put(library, library);
}

interface Volume {
  name: string;
  emptyDir?: object;
  configMap?: { name: string };
  secret?: { secretName: string };
  projected?: { sources: { serviceAccountToken?: { path: string; audience: string } }[] };
}

interface PodSpec {
  serviceAccountName: string;
  terminationGracePeriodSeconds: number;
  securityContext?: { runAsUser?: number; runAsGroup?: number };
  containers: {
    args: string[];
    env: { name: string; value?: string; valueFrom?: { fieldRef: { fieldPath: string } } }[];
    ports?: { name: string; containerPort: number }[];
    securityContext: { readOnlyRootFilesystem: boolean; allowPrivilegeEscalation: boolean };
    volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
    livenessProbe?: Probe;
    readinessProbe?: Probe;
  }[];
  volumes: Volume[];
}

interface Probe {
  httpGet: { path: string; port: string };
}

/** A Deployment, as far as a kubelet reads it. */
export interface PodOwner {
  metadata: { name: string; namespace: string };
  spec: { template: { metadata: { labels: Record<string, string> }; spec: PodSpec } };
}

/** A container that runs. */
export interface RunningContainer {
  name: string;
  log(): string;
  signal(which: "TERM" | "KILL"): void;
  /** Its exit code. */
  ended: Promise<number>;
}

/** How a container is run. */
interface ContainerSpec {
  name: string;
  args: readonly string[];
  env: Record<string, string>;
  mounts?: readonly object[];
  uid?: number;
  gid?: number;
  readOnly?: boolean;
  noNewPrivileges?: boolean;
}

/** Run the image with runc, without capabilities. Its network is that of the machine: API server and simulator are on loopback. */
export function startContainer(
  spec: ContainerSpec,
  { bundle, rootfs }: { bundle: string; rootfs: string },
): RunningContainer {
  const { name, args, env, mounts = [], uid = 65_532, gid = 65_532 } = spec;
  const image = imageConfig();
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] };
  const config = {
    ociVersion: "1.0.2",
    process: {
      terminal: false,
      user: { uid, gid },
      args: [...image.entrypoint, ...args],
      env: Object.entries(env).map(([variable, value]) => `${variable}=${value}`),
      cwd: image.workdir,
      capabilities: none,
      noNewPrivileges: spec.noNewPrivileges ?? true,
    },
    root: { path: rootfs, readonly: spec.readOnly ?? true },
    hostname: name,
    mounts: [
      { destination: "/proc", type: "proc", source: "proc" },
      { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755"] },
      ...mounts,
    ],
    linux: { namespaces: ["pid", "ipc", "uts", "mount"].map((type) => ({ type })) },
  };
  mkdirSync(bundle, { recursive: true });
  writeFileSync(join(bundle, "config.json"), JSON.stringify(config));
  const state = ["--root", join(bundle, "state")];
  const child: ChildProcess = spawn("runc", [...state, "run", "--bundle", bundle, name], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  return {
    name,
    log: () => log,
    signal: (which) => void spawnSync("runc", [...state, "kill", name, which]),
    ended: once(child, "close").then(() => child.exitCode ?? -1),
  };
}

/** The container of a pod. */
export interface RunningPod extends RunningContainer {
  /** The status of a probe; 0 where nobody answers. */
  probe(which: "liveness" | "readiness"): Promise<number>;
  /** Ends it as a kubelet does: SIGTERM, and SIGKILL after the grace period. Gives the exit code. */
  stop(): Promise<number>;
  kill(): void;
}

/** Run the container of a Deployment with its args, environment, volumes, ServiceAccount and security context. */
export async function runPod(
  owner: PodOwner,
  cluster: Cluster,
  { bundle, rootfs, tenant }: { bundle: string; rootfs: string; tenant: string },
): Promise<RunningPod> {
  const { namespace } = owner.metadata;
  const { metadata, spec } = owner.spec.template;
  const [container] = spec.containers;
  if (container === undefined) throw new Error("no container");
  const name = `${owner.metadata.name}-${randomBytes(4).toString("hex")}`;
  // OpenShift gives a user of the namespace's range to pods that ask for none.
  const { runAsUser = 1_000_660_000, runAsGroup = 0 } = spec.securityContext ?? {};
  const identity = metadata.labels["azure.workload.identity/use"] === "true";
  const token = async (audiences?: string[]) => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${spec.serviceAccountName}/token`;
    const body = { spec: { expirationSeconds: 3600, ...(audiences && { audiences }) } };
    return (await cluster.request<{ status: { token: string } }>("POST", path, body)).body.status
      .token;
  };
  const folder = (files: Record<string, string>): string => {
    const path = join(bundle, "volumes", randomBytes(4).toString("hex"));
    mkdirSync(path, { recursive: true });
    for (const [file, text] of Object.entries(files)) {
      writeFileSync(join(path, file), text);
      chmodSync(join(path, file), 0o444);
    }
    return path;
  };
  const bind = (destination: string, source: string, readOnly = true) => ({
    destination,
    type: "bind",
    source,
    options: ["rbind", readOnly ? "ro" : "rw"],
  });
  const filesOf = async ({ configMap, secret }: Volume): Promise<Record<string, string>> => {
    const at = configMap ? `configmaps/${configMap.name}` : `secrets/${secret?.secretName}`;
    const { body } = await cluster.request<{ data: Record<string, string> }>(
      "GET",
      `/api/v1/namespaces/${namespace}/${at}`,
    );
    const decoded = (text: string) => (configMap ? text : Buffer.from(text, "base64").toString());
    return Object.fromEntries(Object.entries(body.data).map(([key, text]) => [key, decoded(text)]));
  };
  const account = "/var/run/secrets/kubernetes.io/serviceaccount";
  const wanted = container.volumeMounts.filter(({ mountPath }) => mountPath !== account);
  const mounts = await Promise.all(
    wanted.map(async ({ name: volumeName, mountPath, readOnly }) => {
      const volume = spec.volumes.find((each) => each.name === volumeName);
      if (volume === undefined) throw new Error(`no volume ${volumeName}`);
      const projected = volume.projected?.sources[0]?.serviceAccountToken;
      if (projected)
        return bind(mountPath, folder({ [projected.path]: await token([projected.audience]) }));
      if (volume.emptyDir)
        return { destination: mountPath, type: "tmpfs", source: "tmpfs", options: ["mode=1777"] };
      return bind(mountPath, folder(await filesOf(volume)), readOnly === true);
    }),
  );
  mounts.push(bind(account, folder({ token: await token(), "ca.crt": cluster.ca, namespace })));
  const serviceAccount = await cluster.request<{
    metadata: { annotations?: Record<string, string> };
  }>("GET", `/api/v1/namespaces/${namespace}/serviceaccounts/${spec.serviceAccountName}`);
  const { hostname, port } = new URL(cluster.url);
  const env: Record<string, string> = {
    PATH: "/usr/bin",
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
  };
  if (identity) {
    // What the webhook of workload identity adds to pods with its label.
    const folderOfToken = "/var/run/secrets/azure/tokens";
    const file = { "azure-identity-token": await token(["api://AzureADTokenExchange"]) };
    mounts.push(bind(folderOfToken, folder(file)));
    env.AZURE_CLIENT_ID =
      serviceAccount.body.metadata.annotations?.["azure.workload.identity/client-id"] ?? "";
    env.AZURE_TENANT_ID = tenant;
    env.AZURE_FEDERATED_TOKEN_FILE = `${folderOfToken}/azure-identity-token`;
  }
  for (const { name: variable, value, valueFrom } of container.env)
    env[variable] = value ?? (valueFrom?.fieldRef.fieldPath === "metadata.name" ? name : "");
  const running = startContainer(
    {
      name,
      args: container.args,
      env,
      mounts,
      uid: runAsUser,
      gid: runAsGroup,
      readOnly: container.securityContext.readOnlyRootFilesystem,
      noNewPrivileges: !container.securityContext.allowPrivilegeEscalation,
    },
    { bundle, rootfs },
  );
  return {
    ...running,
    probe: async (which) => {
      const { path, port: portName } = container[`${which}Probe`]?.httpGet ?? {};
      const { containerPort } = container.ports?.find((each) => each.name === portName) ?? {};
      const url = `http://127.0.0.1:${containerPort}${path}`;
      return await fetch(url).then(
        ({ status }) => status,
        () => 0,
      );
    },
    stop: async () => {
      const graceMs = spec.terminationGracePeriodSeconds * 1_000;
      const timer = setTimeout(() => running.signal("KILL"), graceMs);
      running.signal("TERM");
      const code = await running.ended;
      clearTimeout(timer);
      return code;
    },
    kill: () => running.signal("KILL"),
  };
}
