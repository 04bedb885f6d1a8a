import type { Cause, Resource, Stored } from "../resource.ts";
import { ageOf } from "./ages.ts";
import { ageColumn, builtIn, column, nameColumn, wide } from "./built-in.ts";
import { duplicate, required } from "./causes.ts";
import { podSpec } from "./pod-spec.ts";
import { podStatus } from "./pod-status.ts";

interface Pod {
  spec?: { containers?: Container[]; initContainers?: Container[]; nodeName?: string } & Record<
    string,
    unknown
  >;
  status?: {
    phase?: string;
    reason?: string;
    podIP?: string;
    nominatedNodeName?: string;
    containerStatuses?: ContainerStatus[];
  };
}

interface Container {
  name: string;
  image?: string;
}

interface ContainerStatus {
  ready?: boolean;
  restartCount?: number;
  state?: { waiting?: { reason?: string }; terminated?: { reason?: string; exitCode?: number } };
  lastState?: { terminated?: { finishedAt?: string } };
}

/** The kind of programs that run. Nothing here runs them: pods can be written and read, and that is all. */
export const pod: Resource = builtIn({
  kind: "Pod",
  plural: "pods",
  shortNames: ["po"],
  categories: ["all"],
  namespaced: true,
  status: true,
  description: "Containers that run together on one node.",
  properties: { spec: podSpec, status: podStatus },
  columns: [
    nameColumn,
    column("Ready", ready),
    column("Status", statusText),
    column("Restarts", restarts),
    ageColumn,
    wide("IP", (object) => (object as Pod).status?.podIP || "<none>"),
    wide("Node", (object) => (object as Pod).spec?.nodeName || "<none>"),
    wide("Nominated Node", (object) => (object as Pod).status?.nominatedNodeName || "<none>"),
    wide("Readiness Gates", () => "<none>"),
  ],
  strategy: { fill, prepare, problems, counted: true },
  fieldSelectors: {
    "spec.nodeName": specText("nodeName"),
    "spec.restartPolicy": specText("restartPolicy"),
    "spec.schedulerName": specText("schedulerName"),
    "spec.serviceAccountName": specText("serviceAccountName"),
    "spec.hostNetwork": (object) => String((object as Pod).spec?.hostNetwork ?? false),
    "status.phase": (object) => (object as Pod).status?.phase ?? "",
    "status.podIP": (object) => (object as Pod).status?.podIP ?? "",
    "status.nominatedNodeName": (object) => (object as Pod).status?.nominatedNodeName ?? "",
  },
});

function specText(field: string): (object: Stored) => string {
  return (object) => String((object as Pod).spec?.[field] ?? "");
}

function prepare(object: Stored, old: Stored | undefined): Stored {
  if (old !== undefined) return object;
  return { ...object, status: { phase: "Pending", qosClass: "BestEffort" } };
}

function fill(object: Stored): Stored {
  const { spec = {} } = object as Pod;
  const defaults = {
    dnsPolicy: "ClusterFirst",
    enableServiceLinks: true,
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  };
  return { ...object, spec: { ...defaults, ...spec, ...containersOf(spec) } };
}

function containersOf({ containers, initContainers }: NonNullable<Pod["spec"]>) {
  return {
    ...(containers && { containers: containers.map(withDefaults) }),
    ...(initContainers && { initContainers: initContainers.map(withDefaults) }),
  };
}

function withDefaults(container: Container): Container {
  const newest =
    !/(:[^/]*|@.*)$/.test(container.image ?? "") || container.image?.endsWith(":latest");
  return {
    imagePullPolicy: newest ? "Always" : "IfNotPresent",
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    ...container,
  } as Container;
}

function problems(object: Stored): Cause[] {
  const containers = (object as Pod).spec?.containers ?? [];
  if (containers.length === 0) return [required("spec.containers")];
  return containers.flatMap(({ name, image }, index) => {
    const at = `spec.containers[${index}]`;
    const causes: Cause[] = image ? [] : [required(`${at}.image`)];
    const first = containers.findIndex((each) => each.name === name);
    if (first < index) causes.push(duplicate(`${at}.name`, name));
    return causes;
  });
}

function statusesOf(object: Stored): ContainerStatus[] {
  return (object as Pod).status?.containerStatuses ?? [];
}

function ready(object: Stored): string {
  const all = (object as Pod).spec?.containers?.length ?? 0;
  return `${statusesOf(object).filter((status) => status.ready).length}/${all}`;
}

function statusText(object: Stored): string {
  const { phase = "", reason } = (object as Pod).status ?? {};
  const done = phase === "Succeeded" || phase === "Failed";
  if (object.metadata.deletionTimestamp !== undefined && !done) return "Terminating";
  for (const { state } of statusesOf(object)) {
    if (state?.waiting?.reason) return state.waiting.reason;
    if (state?.terminated)
      return state.terminated.reason || `ExitCode:${state.terminated.exitCode}`;
  }
  return reason || phase;
}

function restarts(object: Stored, now: number): string {
  const statuses = statusesOf(object);
  const count = statuses.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
  const ends = statuses.map(({ lastState }) => lastState?.terminated?.finishedAt ?? "").sort();
  const last = ends.at(-1);
  return count > 0 && last ? `${count} (${ageOf(last, now)} ago)` : String(count);
}
