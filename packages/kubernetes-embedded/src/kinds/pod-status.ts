import type { Schema } from "../resource.ts";
import { condition } from "./condition.ts";
import {
  anything,
  fields,
  flag,
  int32,
  int64,
  list,
  listBy,
  listKeeping,
  mapOf,
  oneOf,
  quantity,
  text,
  time,
} from "./fields.ts";
import { resources } from "./pod-containers.ts";

const state = (description: string) =>
  fields(description, {
    running: fields("It runs.", { startedAt: time("Since when.") }),
    terminated: fields(
      "It has ended.",
      {
        containerID: text("What it was called."),
        exitCode: int32("With which code."),
        finishedAt: time("When."),
        message: text("Its last words."),
        reason: text("Why, in one word."),
        signal: int32("By which signal."),
        startedAt: time("Since when it ran."),
      },
      ["exitCode"],
    ),
    waiting: fields("It has not started.", {
      message: text("Why, for a person."),
      reason: text("Why, in one word."),
    }),
  });

const parts: Schema = {
  ...list(anything("A part."), "Its parts."),
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["resourceID"],
};

const container = fields(
  "What is known of a container.",
  {
    allocatedResources: mapOf(quantity("How much."), "What it has been given."),
    allocatedResourcesStatus: listBy(
      ["name"],
      fields("One device.", { name: text("Which."), resources: parts }, ["name"]),
      "How its devices are.",
    ),
    containerID: text("What it is called."),
    image: text("The image that it was made from."),
    imageID: text("The same, to the byte."),
    lastState: state("How it was before."),
    name: text("Its name."),
    ready: flag("Whether it is ready."),
    resources,
    restartCount: int32("How often it was started again."),
    started: flag("Whether it has started."),
    state: state("How it is."),
    stopSignal: text("The signal that ends it."),
    user: anything("Who it runs as."),
    volumeMounts: listBy(
      ["mountPath"],
      fields(
        "A volume that it sees.",
        {
          mountPath: text("Where."),
          name: text("Which."),
          readOnly: flag("Whether it can only be read."),
          recursiveReadOnly: text("Whether that goes for mounts below it."),
          volumeStatus: anything("How the volume is."),
        },
        ["name", "mountPath"],
      ),
      "The volumes that it sees.",
    ),
  },
  ["name"],
);

const address = fields("An address.", { ip: text("The address.") }, ["ip"]);

/** What is known of a pod. */
export const podStatus: Schema = fields("What is known of it.", {
  allocatedResources: mapOf(quantity("How much."), "What it has been given."),
  conditions: listBy(
    ["type"],
    condition("One thing that is known of the pod.", {
      lastProbeTime: time("When it was last looked at."),
      observedGeneration: int64("The generation that it speaks of."),
    }),
    "What is known of it.",
  ),
  containerStatuses: list(container, "How its containers are."),
  ephemeralContainerStatuses: list(container, "How those are that look at the others."),
  extendedResourceClaimStatus: anything("The devices that were claimed for it."),
  hostIP: text("The address of its node."),
  hostIPs: {
    ...list(address, "The addresses of its node."),
    "x-kubernetes-patch-merge-key": "ip",
    "x-kubernetes-patch-strategy": "merge",
  },
  initContainerStatuses: list(container, "How those are that run before the others."),
  message: text("Why it is so, for a person."),
  nodeAllocatableResourceClaimStatuses: list(anything("One claim."), "What it takes of its node."),
  nominatedNodeName: text("The node that place is made on for it."),
  observedGeneration: int64("The generation that it speaks of."),
  phase: oneOf(
    ["Pending", "Running", "Succeeded", "Failed", "Unknown"],
    "Where it is in its life.",
  ),
  podIP: text("Its address."),
  podIPs: listBy(["ip"], address, "Its addresses, one of each family."),
  qosClass: text("How soon it goes when the node is full."),
  reason: text("Why it is so, in one word."),
  resize: text("What becomes of a change of its size."),
  resourceClaimStatuses: listKeeping(
    ["name"],
    fields(
      "One claim.",
      { name: text("What the pod calls it."), resourceClaimName: text("The claim.") },
      ["name"],
    ),
    "The claims that were made for it.",
  ),
  resources,
  startTime: time("When its node began with it."),
});
