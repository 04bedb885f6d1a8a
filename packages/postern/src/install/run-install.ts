import type { Clock } from "@postern/core/clock.ts";
import { counted } from "@postern/core/counted.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { CommandFailure } from "../cli/command-failure.ts";
import type { KubeClient } from "../kube/client.ts";
import { type InstallFlags, imageIn, inFlags, settingsGiven } from "./flags.ts";
import { settingsFrom } from "./install-settings.ts";
import { nameOf } from "./kinds.ts";
import { applyChanges, deleteObjects, untilAvailable, untilEstablished } from "./live/apply.ts";
import { withLock } from "./live/lock.ts";
import { type Change, type InstallPlan, planInstall } from "./live/plan.ts";
import {
  ensureUnchanged,
  entryOf,
  type InstallRecord,
  readRecord,
  writeRecord,
} from "./live/record.ts";
import { credentialsSecretName } from "./objects/pods.ts";
import { objectsOf } from "./objects.ts";
import type { Settings } from "./settings.ts";

/** What an installation consists of. */
export interface Installation {
  given: unknown;
  registryOverrides?: string;
  /** What it is an upgrade of. */
  before?: InstallRecord;
  settings: Settings;
  objects: KubeObject[];
  /** The Secret of `--azure-private-creds`. It is printed only on request. */
  secret?: KubeObject;
}

/** The installation that the flags describe; all that is wrong with them is one `UsageError`. */
export async function installationOf(
  flags: InstallFlags,
  version: string,
  before?: InstallRecord,
): Promise<Installation> {
  const { namespace } = flags;
  const asked = await settingsGiven(flags, before);
  const { given, registryOverrides, credentials, violations } = asked;
  if (before !== undefined && before.version !== version && !asked.namesImage)
    violations.push(...imageThatStays(before, version));
  const settings = settingsFrom(asked.settings, { further: violations, named: inFlags });
  const objects = objectsOf(settings, { namespace, version });
  const installation = {
    given,
    ...(registryOverrides !== undefined && { registryOverrides }),
    ...(before !== undefined && { before }),
    settings,
    objects,
  };
  if (credentials === undefined) return installation;
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: credentialsSecretName,
      namespace,
      labels: { "app.kubernetes.io/name": "postern", "app.kubernetes.io/part-of": "postern" },
    },
    type: "Opaque",
    data: { [settings.azure.credentialsSecret.key]: Buffer.from(credentials).toString("base64") },
  };
  return { ...installation, secret };
}

/** An upgrade that goes on with the image of another version is a mistake, unless that image is named. */
function imageThatStays(before: InstallRecord, version: string): string[] {
  const { tag, digest } = imageIn(before.settings);
  const fixed = digest || tag;
  if (!fixed) return [];
  return [
    `the image would remain ${fixed} of version ${before.version}, while everything else is of version ${version}: set --image, even to keep the image`,
  ];
}

/** What `postern install render` prints. */
export type Outputs = "all" | "crds" | "resources";

/** The objects of an installation that are printed. */
export function outputsOf(
  { objects, secret }: Installation,
  outputs: Outputs,
  sensitive: boolean,
): KubeObject[] {
  const isCrd = ({ kind }: KubeObject) => kind === "CustomResourceDefinition";
  if (outputs === "crds") return objects.filter(isCrd);
  const resources = outputs === "all" ? objects : objects.filter((each) => !isCrd(each));
  return sensitive && secret ? withSecret(resources, secret) : resources;
}

/** The Secret stands behind the Namespace, before what uses it. */
function withSecret(objects: readonly KubeObject[], secret: KubeObject): KubeObject[] {
  const first = objects.filter(({ kind }) => kind === "Namespace");
  return [...first, secret, ...objects.filter(({ kind }) => kind !== "Namespace")];
}

export interface InstallOptions {
  namespace: string;
  version: string;
  waitUntilAvailable: boolean;
  waitUntilCrdsEstablished: boolean;
  timeoutMs: number;
  forceConflicts?: boolean;
  dryRun?: boolean;
}

/** What a run needs of the outside. */
export interface Surroundings {
  kube: KubeClient;
  clock: Clock;
  signal: AbortSignal;
  print: (line: string) => void;
}

/** What an installation changes, or would change. */
export interface Installed {
  namespace: string;
  version: string;
  dryRun: boolean;
  changes: ShownChange[];
}

/** A change of one object, as people and programs read it. */
interface ShownChange {
  do: "create" | "update" | "delete" | "leave alone";
  object: string;
  /** What an update changes. */
  differences?: string[];
  why?: string;
}

/** Install or upgrade: plan, show the differences, apply, and wait. */
export async function install(
  installation: Installation,
  options: InstallOptions,
  surroundings: Surroundings,
): Promise<Installed> {
  const { kube, signal, print } = surroundings;
  const { namespace, version, forceConflicts: force = false } = options;
  const { objects: resources, secret, given, registryOverrides } = installation;
  const objects = secret ? withSecret(resources, secret) : resources;
  const before = installation.before ?? (await readRecord(kube, namespace, signal));
  const plan = await planInstall(kube, objects, { namespace, version, force, signal });
  if (plan.violations.length > 0) throw refused(plan.violations);
  const entries = entriesOf(installation, objects, before, namespace);
  const surplus = surplusOf(before, entries);
  const dryRun = options.dryRun === true;
  const installed = { namespace, version, dryRun, changes: shownChanges(plan, surplus) };
  for (const line of planLines(installed.changes)) print(line);
  if (dryRun) return installed;
  // The Namespace comes first: lock and record are in it.
  const [first, rest] = [
    plan.changes.filter(({ object }) => object.kind === "Namespace"),
    plan.changes.filter(({ object }) => object.kind !== "Namespace"),
  ];
  await applyChanges(first, force, surroundings);
  await withLock(kube, namespace, surroundings, async (signal) => {
    const locked = { ...surroundings, signal };
    await ensureUnchanged(kube, namespace, before, signal);
    const record = {
      version,
      settings: given,
      ...(registryOverrides !== undefined && { registryOverrides }),
      objects: entries,
    };
    // What a run that fails halfway leaves is in the record of both.
    await writeRecord(kube, namespace, { ...record, objects: [...entries, ...surplus] }, signal);
    const crds = rest.filter(({ object }) => object.kind === "CustomResourceDefinition");
    await applyChanges(crds, force, locked);
    if (options.waitUntilCrdsEstablished) await untilEstablished(crds, options.timeoutMs, locked);
    await applyChanges(
      rest.filter((change) => !crds.includes(change)),
      force,
      locked,
    );
    await deleteObjects(surplus, locked);
    await writeRecord(kube, namespace, record, signal);
  });
  if (options.waitUntilAvailable) await untilAvailable(objects, options.timeoutMs, surroundings);
  print(
    options.waitUntilAvailable
      ? `Postern ${version} is available in namespace ${namespace}.`
      : `Postern ${version} is installed in namespace ${namespace}.`,
  );
  return installed;
}

type Entry = InstallRecord["objects"][number];

/** What an installation consists of, for the record: with the Secret of an earlier run as long as the pods use it. */
function entriesOf(
  { settings }: Installation,
  objects: readonly KubeObject[],
  before: InstallRecord | undefined,
  namespace: string,
): Entry[] {
  const entries = objects.map(entryOf);
  const secret: Entry = { kind: "Secret", namespace, name: credentialsSecretName };
  const isUsed = settings.azure.credentialsSecret.name === credentialsSecretName;
  const known = (list: readonly Entry[] = []) => list.some((each) => key(each) === key(secret));
  return isUsed && known(before?.objects) && !known(entries) ? [...entries, secret] : entries;
}

function key({ kind, namespace, name }: Entry): string {
  return `${kind} ${namespace ?? ""}/${name}`;
}

/** What was installed before and is not installed any more. */
function surplusOf(before: InstallRecord | undefined, entries: readonly Entry[]): Entry[] {
  const present = new Set(entries.map(key));
  return (before?.objects ?? []).filter((each) => !present.has(key(each)));
}

function refused(violations: readonly string[]): CommandFailure {
  return new CommandFailure(
    violations.length === 1
      ? `nothing was changed · ${violations[0]}`
      : `nothing was changed · ${counted(violations.length, "object")} ${violations.length === 1 ? "was" : "were"} rejected: ${violations.map((each, at) => `(${at + 1}) ${each}`).join("; ")}`,
  );
}

function shownChanges({ changes }: InstallPlan, surplus: readonly Entry[]): ShownChange[] {
  return [...changes.flatMap(shownChange), ...surplus.map(shownDeletion)];
}

function shownChange(change: Change): ShownChange[] {
  const object = nameOf(change.object);
  switch (change.do) {
    case "keep":
      return [];
    case "create":
      return [{ do: change.do, object }];
    case "leave alone":
      return [{ do: change.do, object, why: change.why }];
    case "update":
      return [{ do: change.do, object, differences: change.lines }];
  }
}

function shownDeletion({ kind, namespace, name }: Entry): ShownChange {
  const metadata = { name, ...(namespace !== undefined && { namespace }) };
  return { do: "delete", object: nameOf({ kind, metadata }) };
}

const shownLines = 12;
const signs = { create: "+", update: "~", delete: "-", "leave alone": "=" } as const;

/** The differences, as a person reads them. */
function planLines(changes: readonly ShownChange[]): string[] {
  const lines = changes.flatMap(({ do: verb, object, differences = [], why }) => {
    const more = differences.length - shownLines;
    return [
      `${signs[verb]} ${object}${why === undefined ? "" : `: unchanged, ${why}`}`,
      ...differences.slice(0, shownLines).map((line) => `    ${line}`),
      ...(more > 0 ? [`    and ${more} more`] : []),
    ];
  });
  return lines.length === 0 ? ["No changes."] : lines;
}

/** The settings of an installation that exists; a `UsageError` where there is none. */
export async function settingsBefore(
  kube: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<InstallRecord> {
  const record = await readRecord(kube, namespace, signal);
  if (record !== undefined) return record;
  throw new UsageError(
    `no installation by postern install was found in namespace ${namespace}: run postern install, or set --namespace; for an installation by Helm, use helm upgrade or helm uninstall`,
  );
}
