import type { Resource, Stored } from "../resource.ts";
import { ageColumn, builtIn, column, nameColumn, wide } from "./built-in.ts";
import { condition } from "./condition.ts";
import {
  anything,
  fields,
  flag,
  int32,
  int64,
  list,
  listBy,
  mapOf,
  oneOf,
  quantity,
  text,
  textSet,
  texts,
  time,
} from "./fields.ts";

interface Node {
  spec?: { unschedulable?: boolean };
  status?: {
    addresses?: { type: string; address: string }[];
    conditions?: { type: string; status: string }[];
    nodeInfo?: Record<string, string>;
  };
}

const taint = fields(
  "Something that keeps pods away.",
  {
    effect: oneOf(["NoExecute", "NoSchedule", "PreferNoSchedule"], "How far they are kept away."),
    key: text("What it is."),
    timeAdded: time("Since when."),
    value: text("More about it."),
  },
  ["key", "effect"],
);

const spec = fields("What is wanted of it.", {
  configSource: anything("Not used any more."),
  externalID: text("Not used any more."),
  podCIDR: text("The addresses of its pods."),
  podCIDRs: { ...textSet("The same, one of each family."), "x-kubernetes-patch-strategy": "merge" },
  providerID: text("What the cloud calls it."),
  taints: list(taint, "What keeps pods away."),
  unschedulable: flag("True where no further pods are to be put on it."),
});

const nodeInfo = fields("What it is made of.", {
  architecture: text("Of its processor."),
  bootID: text("Changes with every start."),
  containerRuntimeVersion: text("What runs its containers."),
  kernelVersion: text("The version of its kernel."),
  kubeProxyVersion: text("Not used any more."),
  kubeletVersion: text("The version of its kubelet."),
  machineID: text("What the machine calls itself."),
  operatingSystem: text("What it runs."),
  osImage: text("The image that it was started from."),
  swap: fields("Its swap space.", { capacity: int64("In bytes.") }),
  systemUUID: text("What its firmware says."),
});

const address = fields(
  "One address of the node.",
  { address: text("The address."), type: text("What kind of address it is.") },
  ["type", "address"],
);

const attachedVolume = fields(
  "A volume that is attached.",
  { devicePath: text("Where."), name: text("Which.") },
  ["name", "devicePath"],
);

const image = fields("An image that is on the node.", {
  names: texts("Its names."),
  sizeBytes: int64("Its size."),
});

const runtimeHandler = fields("One way to run containers.", {
  features: anything("What it can do."),
  name: text("Its name."),
});

const status = fields("What is known of it.", {
  addresses: listBy(["type"], address, "Where it can be reached."),
  allocatable: mapOf(quantity("How much."), "What is left for pods."),
  capacity: mapOf(quantity("How much."), "What it has."),
  conditions: listBy(
    ["type"],
    condition("One thing that is known of the node.", {
      lastHeartbeatTime: time("When it was last heard of."),
    }),
    "What is known of it.",
  ),
  config: anything("Not used any more."),
  daemonEndpoints: fields("Where its programs listen.", {
    kubeletEndpoint: fields("Where its kubelet listens.", { Port: int32("The port.") }, ["Port"]),
  }),
  declaredFeatures: texts("What it says it can do."),
  features: fields("What it can do.", {
    supplementalGroupsPolicy: flag("Whether pods can choose how their groups are found."),
  }),
  images: list(image, "The images that are on it."),
  nodeInfo,
  phase: text("Not used any more."),
  runtimeHandlers: list(runtimeHandler, "The ways to run containers."),
  volumesAttached: list(attachedVolume, "The volumes that are attached to it."),
  volumesInUse: texts("The volumes that its pods use."),
});

/** The kind that stands for a machine of the cluster. */
export const node: Resource = builtIn({
  kind: "Node",
  plural: "nodes",
  shortNames: ["no"],
  namespaced: false,
  status: true,
  description: "A machine of the cluster.",
  properties: { spec, status },
  columns: [
    nameColumn,
    column("Status", statusText),
    column("Roles", roles),
    ageColumn,
    column("Version", (object) => info(object, "kubeletVersion")),
    wide("Internal-IP", (object) => addressOf(object, "InternalIP")),
    wide("External-IP", (object) => addressOf(object, "ExternalIP")),
    wide("OS-Image", (object) => info(object, "osImage") || "<unknown>"),
    wide("Kernel-Version", kernel),
    wide("Container-Runtime", (object) => info(object, "containerRuntimeVersion") || "<unknown>"),
  ],
  // A machine registers with all that it knows of itself.
  strategy: { keepsStatus: true },
  fieldSelectors: {
    "spec.unschedulable": (object) => String((object as Node).spec?.unschedulable ?? false),
  },
});

function statusText(object: Stored): string {
  const { spec: wanted, status: known } = object as Node;
  const ready = known?.conditions?.find(({ type }) => type === "Ready");
  const state = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return wanted?.unschedulable ? `${state},SchedulingDisabled` : state;
}

const rolePrefix = "node-role.kubernetes.io/";

function roles({ metadata }: Stored): string {
  const found = new Set<string>();
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith(rolePrefix)) found.add(key.slice(rolePrefix.length));
    else if (key === "kubernetes.io/role") found.add(value);
  }
  found.delete("");
  return [...found].sort().join(",") || "<none>";
}

function info(object: Stored, field: string): string {
  return (object as Node).status?.nodeInfo?.[field] ?? "";
}

function kernel(object: Stored): string {
  const architecture = info(object, "architecture");
  const version = info(object, "kernelVersion") || "<unknown>";
  return architecture === "" ? version : `${version} (${architecture})`;
}

function addressOf(object: Stored, wanted: string): string {
  const found = (object as Node).status?.addresses?.find(({ type }) => type === wanted);
  return found?.address ?? "<none>";
}
