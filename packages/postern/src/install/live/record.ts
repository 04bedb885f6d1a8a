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
  /** Which registries take the place of others in the name of the image, as the flag has them. */
  registryOverrides?: string;
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
  const { version = "", settings = "{}", objects = "[]", registryOverrides } = found.data ?? {};
  try {
    return {
      version,
      settings: JSON.parse(settings),
      ...(registryOverrides !== undefined && { registryOverrides }),
      objects: JSON.parse(objects),
    };
  } catch (cause) {
    throw new CommandFailure(
      `ConfigMap ${namespace}/${recordName} cannot be read · somebody changed it · delete it and run postern install with all settings`,
      { cause },
    );
  }
}

/** End a command whose plan is out of date: another one has ended since the record was read. To be called under the lock. */
export async function ensureUnchanged(
  kube: KubeClient,
  namespace: string,
  before: InstallRecord | undefined,
  signal: AbortSignal,
): Promise<void> {
  const now = await readRecord(kube, namespace, signal);
  if (JSON.stringify(now) === JSON.stringify(before)) return;
  throw new CommandFailure(
    `nothing was changed · another install, upgrade or uninstall has ended in namespace ${namespace} meanwhile · run the same command again to see what is left to change`,
  );
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
      ...(record.registryOverrides !== undefined && {
        registryOverrides: record.registryOverrides,
      }),
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
