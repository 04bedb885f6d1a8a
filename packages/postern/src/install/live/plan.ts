import { standInLabel } from "@postern/core/crd.ts";
import { isExplained } from "@postern/core/failure.ts";
import { apiVersionOf, type KubeObject } from "@postern/core/kind.ts";
import { namespace as namespaceKind } from "@postern/core/kinds/core.ts";
import { supportedKubernetes } from "../../cli/doctor-cluster.ts";
import { type KubeClient, parseBody } from "../../kube/client.ts";
import { KubeError } from "../../kube/errors.ts";
import { isOfAnother, kindNamed, nameOf, placeOf } from "../kinds.ts";
import { versionAnnotation } from "../objects/crds.ts";
import { differences } from "./differences.ts";
import { installedElsewhere } from "./elsewhere.ts";
import { isNewer } from "./versions.ts";

/** By whom the fields of an installation are managed. */
export const fieldManager = "postern-install";

/** What would be done with an object. */
export type Change =
  | { do: "create"; object: KubeObject }
  | { do: "update"; object: KubeObject; lines: string[] }
  | { do: "keep"; object: KubeObject }
  | { do: "leave alone"; object: KubeObject; why: string };

/** What an installation would change, and why it cannot be done. */
export interface InstallPlan {
  changes: Change[];
  violations: string[];
}

interface Crd extends KubeObject {
  spec?: { versions?: { name: string; served?: boolean }[] };
}

interface Options {
  namespace: string;
  version: string;
  /** Whether fields that others manage are taken over. */
  force: boolean;
  signal: AbortSignal;
}

/**
 * Try every object on the API server, which changes nothing: what would be refused is known before anything is written.
 * The truth table:
 *
 *   live CRD is absent                          → create
 *   live CRD of another project                 → leave alone; rejected where it does not serve our version
 *   live CRD of a newer Postern                 → leave alone
 *   any other object                            → what the dry run of its apply says
 *
 * Beside another installation nothing is planned: it would lose its permissions.
 */
export async function planInstall(
  kube: KubeClient,
  objects: readonly KubeObject[],
  options: Options,
): Promise<InstallPlan> {
  const plan: InstallPlan = { changes: [], violations: [] };
  const named = objects.map(({ kind = "", metadata }) => ({ kind, name: metadata.name }));
  const elsewhere = await installedElsewhere(kube, named, options.namespace, options.signal);
  if (elsewhere !== undefined) {
    plan.violations.push(
      `Postern is installed in namespace ${elsewhere}: give -n ${elsewhere}, or uninstall it there first, by postern uninstall -n ${elsewhere} or by what installed it`,
    );
    return plan;
  }
  const missing = await missingNamespaces(kube, objects, options.signal);
  const unserved = await unservedKinds(kube, objects, options.signal);
  for (const kind of unserved) plan.violations.push(unservedViolation(kind));
  const tried = objects.filter(({ kind = "" }) => !unserved.has(kind));
  const live = await Promise.all(
    tried.map((object) => kube.get<KubeObject>(placeOf(object), options.signal).catch(refusal)),
  );
  for (const [at, object] of tried.entries()) {
    const before = live[at];
    if (before instanceof Error) plan.violations.push(`${nameOf(object)}: ${messageOf(before)}`);
    else {
      const { change, violation } = await planObject(kube, object, before, missing, options);
      if (change) plan.changes.push(change);
      if (violation) plan.violations.push(violation);
    }
  }
  return plan;
}

async function planObject(
  kube: KubeClient,
  object: KubeObject,
  before: KubeObject | undefined,
  missing: ReadonlySet<string>,
  options: Options,
): Promise<{ change?: Change; violation?: string }> {
  if (object.kind === "CustomResourceDefinition" && before !== undefined) {
    const left = leftAlone(object, before, options.version);
    if (left) return left;
  }
  // The Namespace is created first: nothing in it can be tried before.
  if (missing.has(object.metadata.namespace ?? "")) return { change: { do: "create", object } };
  const after = await tryApply(kube, object, options).catch(refusal);
  if (after instanceof Error) return { violation: `${nameOf(object)}: ${messageOf(after)}` };
  if (before === undefined) return { change: { do: "create", object } };
  const lines = differences(before, after);
  return { change: lines.length > 0 ? { do: "update", object, lines } : { do: "keep", object } };
}

/** Why a kind stays as it is, where it does. */
function leftAlone(
  object: Crd,
  before: Crd,
  version: string,
): { change?: Change; violation?: string } | undefined {
  const { labels = {}, annotations = {} } = before.metadata;
  const owned =
    labels["app.kubernetes.io/part-of"] === "postern" || labels[standInLabel] === "true";
  if (!owned) {
    if (labelsOf(object)[standInLabel] === "true")
      return {
        violation: `${nameOf(object)} is installed by another project: act in HyperShift's place only on a cluster without it (leave out hosted.replaceHyperShift)`,
      };
    const needed = object.spec?.versions?.[0]?.name ?? "";
    const served = (before.spec?.versions ?? []).filter((each) => each.served);
    if (!served.some(({ name }) => name === needed))
      return {
        violation: `${nameOf(object)} is installed by another project, and serves ${served.map(({ name }) => name).join(", ") || "nothing"}: Postern needs ${needed}`,
      };
    return { change: { do: "leave alone", object, why: "it belongs to another project" } };
  }
  const installed = annotations[versionAnnotation];
  if (installed !== undefined && isNewer(installed, version))
    return {
      change: {
        do: "leave alone",
        object,
        why: `it is of version ${installed}, and never downgraded`,
      },
    };
  return undefined;
}

function labelsOf({ metadata }: KubeObject): Record<string, string> {
  return metadata.labels ?? {};
}

async function tryApply(
  kube: KubeClient,
  object: KubeObject,
  { force, signal }: Options,
): Promise<KubeObject> {
  const options = { fieldManager, force, dryRun: true, signal };
  return parseBody<KubeObject>(await kube.patch(placeOf(object), "apply", object, options));
}

/** The namespaces of objects that do not exist yet. */
async function missingNamespaces(
  kube: KubeClient,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<Set<string>> {
  const created = objects
    .filter(({ kind }) => kind === "Namespace")
    .map(({ metadata }) => metadata.name);
  const found = await Promise.all(
    created.map((name) => kube.get({ kind: namespaceKind, name }, signal)),
  );
  return new Set(created.filter((_, at) => found[at] === undefined));
}

function unservedViolation(kind: string): string {
  const { group, version } = kindNamed(kind);
  return isOfAnother({ kind })
    ? `the cluster does not serve the kind ${kind}: install what brings it, such as the Prometheus operator, or leave out the setting that asks for it`
    : `the cluster does not serve the kind ${kind} of ${group}/${version}: use ${supportedKubernetes} with this API enabled`;
}

/** The kinds that the API server does not know. */
async function unservedKinds(
  kube: KubeClient,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<Set<string>> {
  const kinds = new Map(objects.map(({ kind = "" }) => [kind, kindNamed(kind)]));
  const groups = new Set([...kinds.values()].map(apiVersionOf));
  const served = new Set<string>();
  for (const group of groups) {
    const { resources = [] } = await resourcesOf(kube, group, signal);
    for (const { kind } of resources) served.add(`${group} ${kind}`);
  }
  return new Set(
    [...kinds]
      .filter(([name, kind]) => !served.has(`${apiVersionOf(kind)} ${name}`))
      .map(([name]) => name),
  );
}

interface ResourceList {
  resources?: { kind: string }[];
}

async function resourcesOf(
  kube: KubeClient,
  apiVersion: string,
  signal: AbortSignal,
): Promise<ResourceList> {
  const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  try {
    return JSON.parse(await kube.request("GET", path, { signal })) as ResourceList;
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return {};
    throw error;
  }
}

/** What the API server refused; anything else is thrown. */
function refusal(error: unknown): Error {
  if (error instanceof KubeError && error.status >= 400) return error;
  throw error;
}

/** Why the API server refused something, in its words. */
export function messageOf(error: Error): string {
  if (error instanceof KubeError && error.code === "Conflict")
    return `${error.message} · use what installed it, such as helm upgrade, or use --force-conflicts`;
  return isExplained(error) ? error.explain().message : error.message;
}
