import { rm, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { isExplained } from "@postern/core/failure.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import { packageVersion } from "@postern/core/process/package-version.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { redactData } from "@postern/core/redact.ts";
import { packTar } from "modern-tar";
import { eventKind } from "../kube/events.ts";
import type { Finding } from "../view/checks/check.ts";
import { gatherKube } from "../view/gather.ts";
import { pictureOf } from "../view/picture.ts";
import { treeOf } from "../view/tree.ts";
import { kubernetesCheck } from "./doctor-cluster.ts";
import { gatherWorld } from "./gather-world.ts";
import { Pseudonyms } from "./pseudonyms.ts";
import { diagnose } from "./run-doctor.ts";
import { asData, plansOf } from "./run-plan.ts";
import type { Session } from "./session.ts";

export interface DumpPart {
  name: string;
  data: unknown;
}

type Had<T> = { data: T } | { data: { missing: string } };

/** Everything that a report needs. A part that cannot be collected has the reason in its place. */
export async function gatherDump(session: Session): Promise<DumpPart[]> {
  const { kube, signal } = session;
  const had = async <T>(get: () => Promise<T>): Promise<Had<T>> => {
    try {
      return { data: await get() };
    } catch (error) {
      signal.throwIfAborted();
      if (!isExplained(error)) throw error;
      return { data: { missing: error.explain().message } };
    }
  };
  const about = {
    postern: packageVersion(),
    node: process.versions.node,
    platform: process.platform,
  };
  const version = await had(async () =>
    JSON.parse(await kube.request("GET", "/version", { signal })),
  );
  const { data: world } = await had(() => gatherWorld(session));
  // Without Azure there is still the cluster.
  const { data: objects } = isMissing(world)
    ? await had(() => gatherKube({ kube, signal }, []))
    : { data: world.kube };
  const seen = isMissing(world) ? undefined : world;
  return [
    { name: "about.json", data: { ...about, kubernetes: version.data } },
    { name: "kubernetes.json", data: objects },
    { name: "azure.json", data: isMissing(world) ? world : world.azure },
    { name: "unread.json", data: isMissing(world) ? world : world.unread },
    { name: "tree.json", data: isMissing(world) ? world : treeOf(pictureOf(world)) },
    {
      name: "plan.json",
      ...(await had(async () => asData(await plansOf(session, {}, undefined)))),
    },
    { name: "doctor.json", ...(await had(() => diagnose(session, {}, seen))) },
    { name: "events.json", ...(await had(() => eventsOf(session, objects))) },
  ];
}

/** Whether a part could not be collected. */
export function isMissing(data: unknown): data is { missing: string } {
  return typeof data === "object" && data !== null && "missing" in data;
}

async function eventsOf({ kube, signal }: Session, objects: object): Promise<KubeObject[]> {
  const all = isMissing(objects) ? [] : (Object.values(objects) as KubeObject[][]).flat();
  const uids = new Set(all.map(({ metadata }) => metadata.uid));
  const found: KubeObject[] = [];
  for await (const { items } of kube.list<KubeObject>(eventKind, { signal }))
    found.push(
      ...items.filter((event) =>
        uids.has((event as { regarding?: { uid?: string } }).regarding?.uid),
      ),
    );
  return found;
}

/** Write the archive, to standard output if the file is `-`. Only its owner may read it. */
export async function writeDump(
  file: string,
  parts: readonly DumpPart[],
  hide: boolean,
): Promise<void> {
  const names = hide ? new Pseudonyms(parts.map(({ data }) => data)) : undefined;
  const entries = parts.map(({ name, data }) => {
    const text = JSON.stringify(redactData(data), hide ? withoutPeoples : withoutNoise, 2);
    const body = names?.in(text) ?? text;
    return {
      header: { name: `postern-dump/${name}`, size: Buffer.byteLength(body), mode: 0o600 },
      body,
    };
  });
  const archive = gzipSync(await packTar(entries));
  if (file === "-") {
    await new Promise<void>((resolve) => process.stdout.write(archive, () => resolve()));
    return;
  }
  try {
    await writeFile(file, archive, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    // Leave no incomplete archive.
    if (code !== "EEXIST") await rm(file, { force: true }).catch(() => undefined);
    const why = code === "EEXIST" ? "the file exists" : code || "unknown error";
    throw new UsageError(`cannot write ${file}: ${why}; use another file with --file`, { cause });
  }
}

/** The labels, tags and annotations of products; all others are written by people. */
const ours =
  /(k8s\.io|kubernetes\.io|openshift\.io|postern\.io|giantswarm\.io)\/|^(postern|kubernetes\.io|hypershift\.openshift\.io|sigs\.k8s\.io)_/i;

function withoutNoise(key: string, value: unknown): unknown {
  return /^(managedFields|kubectl\.kubernetes\.io\/last-applied-configuration)$/.test(key)
    ? undefined
    : value;
}

function isCallerFinding(value: unknown): value is Finding {
  const { check, result } = (value ?? {}) as Partial<Finding>;
  return check === kubernetesCheck && result === "ok";
}

/** Tags, labels and annotations written by people may contain anything, and so may the name of the caller. */
function withoutPeoples(key: string, value: unknown): unknown {
  if (isCallerFinding(value)) return { ...value, found: "Authenticated." };
  if (!/^(tags|labels|annotations)$/.test(key) || typeof value !== "object" || value === null)
    return withoutNoise(key, value);
  return Object.fromEntries(Object.entries(value).filter(([name]) => ours.test(name)));
}
