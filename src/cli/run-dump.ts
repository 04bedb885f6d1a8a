import { writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { eventKind } from "../kube/events.ts";
import { isExplained } from "../model/failure.ts";
import type { KubeObject } from "../model/kind.ts";
import { redact } from "../model/redact.ts";
import { pictureOf } from "../view/picture.ts";
import { treeOf } from "../view/tree.ts";
import { look } from "./look.ts";
import { packageVersion } from "./package-version.ts";
import { Pseudonyms } from "./pseudonyms.ts";
import { diagnose } from "./run-doctor.ts";
import { asData, plansOf } from "./run-plan.ts";
import type { Session } from "./session.ts";
import { UsageError } from "./usage-error.ts";

export interface DumpPart {
  name: string;
  data: unknown;
}

/** Everything that a report needs. A part that cannot be had says why in its place. */
export async function gatherDump(session: Session): Promise<DumpPart[]> {
  const { kube, signal } = session;
  const world = await look(session);
  const or = async (name: string, get: () => Promise<unknown>): Promise<DumpPart> => {
    try {
      return { name, data: await get() };
    } catch (error) {
      signal.throwIfAborted();
      if (!isExplained(error)) throw error;
      return { name, data: { missing: error.explain().message } };
    }
  };
  const about = {
    postern: packageVersion(),
    node: process.versions.node,
    platform: process.platform,
  };
  return [
    await or("about.json", async () => ({
      ...about,
      kubernetes: JSON.parse(await kube.request("GET", "/version", { signal })) as unknown,
    })),
    { name: "kubernetes.json", data: world.kube },
    { name: "azure.json", data: world.azure },
    { name: "unread.json", data: world.unread },
    { name: "tree.json", data: treeOf(pictureOf(world)) },
    await or("plan.json", async () => asData(await plansOf(session, {}, undefined))),
    await or("doctor.json", () => diagnose(session, false, world)),
    await or("events.json", () => eventsOf(session, world.kube)),
  ];
}

async function eventsOf({ kube, signal }: Session, objects: object): Promise<KubeObject[]> {
  const all = (Object.values(objects) as KubeObject[][]).flat();
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

/** Write the archive. It may hold what only its owner should read. */
export async function writeDump(
  file: string,
  parts: readonly DumpPart[],
  hide: boolean,
): Promise<void> {
  const names = hide ? new Pseudonyms(parts.map(({ data }) => data)) : undefined;
  const entries = parts.map(({ name, data }) => {
    const text = redact(JSON.stringify(data, hide ? withoutPeoples : withoutNoise, 2));
    const body = names?.in(text) ?? text;
    return {
      header: { name: `postern-dump/${name}`, size: Buffer.byteLength(body), mode: 0o600 },
      body,
    };
  });
  try {
    await writeFile(file, gzipSync(await packTar(entries)), { mode: 0o600, flag: "wx" });
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? "it exists already" : code || "it cannot be written";
    throw new UsageError(`${file} is not written: ${why}; name another with --file`, { cause });
  }
}

/** The words that products write beside an object; whatever else stands there is people's. */
const ours =
  /(k8s\.io|kubernetes\.io|openshift\.io|postern\.io|giantswarm\.io)\/|^(postern|kubernetes\.io|hypershift\.openshift\.io|sigs\.k8s\.io)_/i;

function withoutNoise(key: string, value: unknown): unknown {
  return /^(managedFields|kubectl\.kubernetes\.io\/last-applied-configuration)$/.test(key)
    ? undefined
    : value;
}

/** Tags, labels and annotations of people may say anything, and so may the name of who asked. */
function withoutPeoples(key: string, value: unknown): unknown {
  if (key === "found" && typeof value === "string" && value.startsWith("answers "))
    return "answers";
  if (!/^(tags|labels|annotations)$/.test(key) || typeof value !== "object" || value === null)
    return withoutNoise(key, value);
  return Object.fromEntries(Object.entries(value).filter(([name]) => ours.test(name)));
}
