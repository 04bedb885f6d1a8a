import type { Schema } from "../resource.ts";
import {
  anything,
  atomic,
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
  textMap,
  texts,
} from "./fields.ts";
import { commonSecurity, containerFields, resources } from "./pod-containers.ts";
import { volume } from "./pod-volumes.ts";
import { localReference } from "./references.ts";

const container = fields("One program of the pod.", containerFields, ["name"]);
const ephemeral = fields(
  "A program that is added to look at the others.",
  { ...containerFields, targetContainerName: text("The container that it looks at.") },
  ["name"],
);

const named = (description: string) => fields(description, { name: text("Its name.") }, ["name"]);

const preferences = (description: string) =>
  fields(description, {
    preferredDuringSchedulingIgnoredDuringExecution: list(
      anything("One wish and its weight."),
      "What is preferred.",
    ),
    requiredDuringSchedulingIgnoredDuringExecution: list(anything("One rule."), "What must be."),
  });

const nodeAffinity = fields("Which nodes it wants.", {
  preferredDuringSchedulingIgnoredDuringExecution: list(
    anything("One wish and its weight."),
    "What is preferred.",
  ),
  requiredDuringSchedulingIgnoredDuringExecution: atomic(
    fields(
      "What must be.",
      { nodeSelectorTerms: list(atomic(anything("One rule.")), "One of these must hold.") },
      ["nodeSelectorTerms"],
    ),
  ),
});

const labelSelector = atomic(
  fields("Which pods are counted.", {
    matchExpressions: list(
      fields(
        "One rule.",
        {
          key: text("The label."),
          operator: text("In, NotIn, Exists or DoesNotExist."),
          values: texts("Its values."),
        },
        ["key", "operator"],
      ),
      "All of these must hold.",
    ),
    matchLabels: textMap("All of these must be there."),
  }),
);

const spread = fields(
  "How evenly it is spread.",
  {
    labelSelector,
    matchLabelKeys: texts("Labels of the pod that count as well."),
    maxSkew: int32("How uneven it may get."),
    minDomains: int32("How many places there must be."),
    nodeAffinityPolicy: text("Whether nodes that it does not want count."),
    nodeTaintsPolicy: text("Whether nodes that keep it away count."),
    topologyKey: text("What a place is."),
    whenUnsatisfiable: text("What becomes of it otherwise."),
  },
  ["maxSkew", "topologyKey", "whenUnsatisfiable"],
);

const toleration = fields("Something that does not keep it away.", {
  effect: text("How far others are kept away by it."),
  key: text("What it is."),
  operator: text("Exists or Equal."),
  tolerationSeconds: int64("For how long."),
  value: text("More about it."),
});

const securityContext = fields("How its containers are run.", {
  ...commonSecurity,
  fsGroup: int64("The group of its volumes."),
  fsGroupChangePolicy: text("When volumes are given to that group."),
  seLinuxChangePolicy: text("How volumes get their label."),
  supplementalGroups: list({ type: "integer", format: "int64" }, "More groups that it runs as."),
  supplementalGroupsPolicy: text("Where further groups come from."),
  sysctls: list(
    fields("A setting.", { name: text("Which."), value: text("Its value.") }, ["name", "value"]),
    "Settings of the kernel.",
  ),
});

const dnsConfig = fields("How names are looked up.", {
  nameservers: texts("Who is asked."),
  options: list(
    fields("An option.", { name: text("Which."), value: text("Its value.") }),
    "How they are asked.",
  ),
  searches: texts("What is tried after a name."),
});

const hostAlias = fields(
  "Names of an address.",
  { hostnames: texts("The names."), ip: text("The address.") },
  ["ip"],
);

const resourceClaim = fields(
  "A device that it uses.",
  {
    name: text("What its containers call it."),
    resourceClaimName: text("The claim."),
    resourceClaimTemplateName: text("What the claim is made from."),
  },
  ["name"],
);

/** What is wanted of a pod. */
export const podSpec: Schema = fields(
  "What is wanted of it.",
  {
    activeDeadlineSeconds: int64("How long it may run."),
    affinity: fields("Where it wants to be.", {
      nodeAffinity,
      podAffinity: preferences("Which pods it wants to be near."),
      podAntiAffinity: preferences("Which pods it wants to be far from."),
    }),
    automountServiceAccountToken: flag("Whether it is given a token."),
    containers: listBy(["name"], container, "The programs that run in it."),
    dnsConfig,
    dnsPolicy: text("Who looks names up."),
    enableServiceLinks: flag("Whether Services are told in the environment."),
    ephemeralContainers: listBy(["name"], ephemeral, "Programs that look at the others."),
    hostAliases: listBy(["ip"], hostAlias, "Names that it knows by itself."),
    hostIPC: flag("Whether it shares the node's shared memory."),
    hostNetwork: flag("Whether it shares the node's network."),
    hostPID: flag("Whether it sees the node's processes."),
    hostUsers: flag("Whether it shares the node's users."),
    hostname: text("What it calls itself."),
    hostnameOverride: text("What it calls itself in full."),
    imagePullSecrets: listBy(["name"], localReference("A Secret."), "How its images are fetched."),
    initContainers: listBy(["name"], container, "Programs that run before the others."),
    nodeName: text("The node that it is on."),
    nodeSelector: textMap("The labels of nodes that it wants.", {
      "x-kubernetes-map-type": "atomic",
    }),
    os: named("The operating system that it needs."),
    overhead: mapOf(quantity("How much."), "What running it costs beside its containers."),
    preemptionPolicy: text("Whether others go to make place for it."),
    priority: int32("How important it is."),
    priorityClassName: text("The same by name."),
    readinessGates: list(
      fields("A condition.", { conditionType: text("Which.") }, ["conditionType"]),
      "What else must be true before it is ready.",
    ),
    resourceClaims: listKeeping(["name"], resourceClaim, "The devices that it uses."),
    resources,
    restartPolicy: oneOf(
      ["Always", "OnFailure", "Never"],
      "When its containers are started again.",
    ),
    runtimeClassName: text("What runs its containers."),
    schedulerName: text("Who finds a node for it."),
    schedulingGates: listBy(["name"], named("One of them."), "What it waits for."),
    schedulingGroup: anything("The pods that it is placed together with."),
    securityContext,
    serviceAccount: text("Not used any more."),
    serviceAccountName: text("The account that it runs as."),
    setHostnameAsFQDN: flag("Whether it calls itself by its full name."),
    shareProcessNamespace: flag("Whether its containers see each other's processes."),
    subdomain: text("The domain that it is in."),
    terminationGracePeriodSeconds: int64("How long it has to end."),
    tolerations: list(toleration, "What does not keep it away."),
    topologySpreadConstraints: listBy(
      ["topologyKey", "whenUnsatisfiable"],
      spread,
      "How evenly it is spread.",
    ),
    volumes: listKeeping(["name"], volume, "The volumes that its containers can see."),
  },
  ["containers"],
);
