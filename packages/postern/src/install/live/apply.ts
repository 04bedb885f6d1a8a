import { type Clock, wait } from "@postern/core/clock.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import { customResourceDefinition } from "@postern/core/kinds/core.ts";
import { CommandFailure } from "../../cli/command-failure.ts";
import type { KubeClient } from "../../kube/client.ts";
import { KubeError } from "../../kube/errors.ts";
import { kindNamed, nameOf, placeOf } from "../kinds.ts";
import { type Change, fieldManager, messageOf } from "./plan.ts";
import type { InstallRecord } from "./record.ts";

interface Context {
  kube: KubeClient;
  clock: Clock;
  signal: AbortSignal;
  print: (line: string) => void;
}

/** Apply the changes in their order. What fails ends it; the message says how far it came. */
export async function applyChanges(
  changes: readonly Change[],
  force: boolean,
  context: Context,
): Promise<void> {
  const { kube, signal, print } = context;
  const due = changes.filter((change) => change.do === "create" || change.do === "update");
  for (const [at, { object, ...change }] of due.entries()) {
    try {
      await kube.patch(placeOf(object), "apply", object, { fieldManager, force, signal });
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      throw new CommandFailure(
        `${nameOf(object)} cannot be written after ${at} of ${due.length} objects · ${messageOf(error)} · then run the same command again: it completes what is missing`,
        { cause: error },
      );
    }
    print(`${change.do === "create" ? "created" : "updated"} ${nameOf(object)}`);
  }
}

interface Crd extends KubeObject {
  status?: { conditions?: { type: string; status: string; message?: string }[] };
}

/** Wait until the API server serves kinds. */
export async function untilEstablished(
  changes: readonly Change[],
  timeoutMs: number,
  { kube, clock, signal }: Context,
): Promise<void> {
  const names = changes
    .filter(
      ({ object, ...change }) =>
        object.kind === "CustomResourceDefinition" && change.do !== "leave alone",
    )
    .map(({ object }) => object.metadata.name);
  const deadline = clock.now() + timeoutMs;
  for (const name of names) {
    for (;;) {
      const crd = await kube.get<Crd>({ kind: customResourceDefinition, name }, signal);
      const conditions = crd?.status?.conditions ?? [];
      if (conditions.some(({ type, status }) => type === "Established" && status === "True")) break;
      if (clock.now() >= deadline) {
        const rejected = conditions.find(
          ({ type, status }) => type === "NamesAccepted" && status === "False",
        );
        throw new CommandFailure(
          `the kind ${name} is not established after ${timeoutMs / 1_000} s · ${rejected?.message ?? "the API server does not say why"} · run the same command again when it is`,
        );
      }
      await wait(clock, 200, signal);
    }
  }
}

interface Deployment extends KubeObject {
  spec?: { replicas?: number };
  status?: {
    observedGeneration?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    replicas?: number;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
  };
}

/** Wait until every Deployment runs the pods that it should. */
export async function untilAvailable(
  objects: readonly KubeObject[],
  timeoutMs: number,
  { kube, clock, signal, print }: Context,
): Promise<void> {
  const deadline = clock.now() + timeoutMs;
  const shown = new Map<string, string>();
  for (const object of objects.filter(({ kind }) => kind === "Deployment")) {
    for (;;) {
      const found = await kube.get<Deployment>(placeOf(object), signal);
      const state = stateOf(found);
      if (shown.get(nameOf(object)) !== state.text) {
        shown.set(nameOf(object), state.text);
        print(`${nameOf(object)}: ${state.text}`);
      }
      if (state.available) break;
      if (clock.now() >= deadline)
        throw new CommandFailure(
          `${nameOf(object)} is not available after ${timeoutMs / 1_000} s · ${await whyNot(kube, object, found, signal)} · kubectl describe pods -n ${object.metadata.namespace} -l app.kubernetes.io/name=postern says more; everything is installed, and postern doctor checks it`,
        );
      await wait(clock, 1_000, signal);
    }
  }
}

function stateOf(found: Deployment | undefined): { available: boolean; text: string } {
  const desired = found?.spec?.replicas ?? 0;
  const { updatedReplicas = 0, availableReplicas = 0, replicas = 0 } = found?.status ?? {};
  const observed = (found?.status?.observedGeneration ?? 0) >= (found?.metadata.generation ?? 1);
  const available =
    observed &&
    updatedReplicas >= desired &&
    availableReplicas >= desired &&
    replicas === updatedReplicas;
  const counted = observed ? availableReplicas : 0;
  return { available, text: `${counted} of ${desired} pods are available` };
}

interface PodObject extends KubeObject {
  status?: {
    containerStatuses?: { state?: { waiting?: { reason?: string; message?: string } } }[];
    conditions?: { type: string; status: string; message?: string }[];
  };
}

/** What a pod waits for, or what the Deployment says. */
async function whyNot(
  kube: KubeClient,
  { metadata }: KubeObject,
  deployment: Deployment | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { namespace, name } = metadata;
  const query = `labelSelector=${encodeURIComponent(`app.kubernetes.io/component=${name}`)}`;
  for await (const { items } of kube.list<PodObject>(kindNamed("Pod"), {
    namespace,
    query,
    signal,
  })) {
    for (const { status } of items) {
      const waiting = status?.containerStatuses?.find((each) => each.state?.waiting)?.state
        ?.waiting;
      if (waiting?.reason)
        return `${waiting.reason}${waiting.message ? `: ${waiting.message}` : ""}`;
      const unscheduled = status?.conditions?.find(
        (each) => each.type === "PodScheduled" && each.status === "False",
      );
      if (unscheduled?.message) return unscheduled.message;
    }
    if (items.length > 0) return "its pods run and are not ready: /readyz and the log say why";
  }
  const failed = deployment?.status?.conditions?.find(
    ({ type, status }) => type === "ReplicaFailure" && status === "True",
  );
  return failed?.message ?? "it has no pods yet";
}

/** What neither an upgrade nor an uninstall deletes: with it everything in it would be deleted. */
const retained = ["Namespace", "CustomResourceDefinition"];

/** Delete what was installed before and is not a part of the installation any more; the names of what was deleted. */
export async function deleteObjects(
  entries: InstallRecord["objects"],
  { kube, signal, print }: Context,
): Promise<string[]> {
  // Deployments first: nothing may run without its permissions.
  const ordered = [...entries].sort(
    (a, b) => Number(b.kind === "Deployment") - Number(a.kind === "Deployment"),
  );
  const deleted: string[] = [];
  for (const { kind, namespace, name } of ordered) {
    if (retained.includes(kind)) continue;
    await kube.remove({ kind: kindNamed(kind), namespace, name }, signal);
    const object = nameOf({
      kind,
      metadata: { name, ...(namespace !== undefined && { namespace }) },
    });
    print(`deleted ${object}`);
    deleted.push(object);
  }
  return deleted;
}
