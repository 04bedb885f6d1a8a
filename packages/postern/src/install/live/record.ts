import type { KubeObject } from "@postern/core/kind.ts";
import { CommandFailure } from "../../cli/command-failure.ts";
import type { KubeClient } from "../../kube/client.ts";
import { configMap } from "../kinds.ts";
import { fieldManager } from "./plan.ts";

/** The ConfigMap that says what was installed: `upgrade` and `uninstall` go by it. */
export const recordName = "postern-install";

/** What was installed. */
export interface InstallRecord {
  version: string;
  /** The settings as they were given, without the defaults, which may change with the version. */
  settings: unknown;
  objects: { kind: string; namespace?: string; name: string }[];
}

/** What is installed in a namespace; undefined where nothing is. */
export async function readRecord(
  kube: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<InstallRecord | undefined> {
  const found = await kube.get<KubeObject & { data?: Record<string, string> }>(
    { kind: configMap, namespace, name: recordName },
    signal,
  );
  if (found === undefined) return undefined;
  const { version = "", settings = "{}", objects = "[]" } = found.data ?? {};
  try {
    return { version, settings: JSON.parse(settings), objects: JSON.parse(objects) };
  } catch (cause) {
    throw new CommandFailure(
      `ConfigMap ${namespace}/${recordName} cannot be read · somebody changed it · delete it and run postern install with all settings`,
      { cause },
    );
  }
}

/** Write down what is installed: before the first change what will be, so that a second run finds everything. */
export async function writeRecord(
  kube: KubeClient,
  namespace: string,
  record: InstallRecord,
  signal: AbortSignal,
): Promise<void> {
  const place = { kind: configMap, namespace, name: recordName };
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: recordName,
      namespace,
      labels: { "app.kubernetes.io/name": "postern", "app.kubernetes.io/part-of": "postern" },
    },
    data: {
      version: record.version,
      settings: JSON.stringify(record.settings),
      objects: JSON.stringify(record.objects),
    },
  };
  await kube.patch(place, "apply", object, { fieldManager, force: true, signal });
}

/** How an object is written down. */
export function entryOf({ kind = "", metadata }: KubeObject): InstallRecord["objects"][number] {
  const { namespace, name } = metadata;
  return { kind, ...(namespace !== undefined && { namespace }), name };
}
