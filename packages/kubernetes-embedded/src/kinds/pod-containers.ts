import type { Schema } from "../resource.ts";
import {
  anything,
  atomic,
  fields,
  flag,
  int32,
  int64,
  intOrString,
  list,
  listBy,
  mapOf,
  oneOf,
  quantity,
  text,
  texts,
} from "./fields.ts";

const protocol = oneOf(["TCP", "UDP", "SCTP"], "What carries it.");

const port = fields(
  "A port that the container listens on.",
  {
    containerPort: int32("Its number."),
    hostIP: text("The node's address that it is bound to."),
    hostPort: int32("The same port on the node."),
    name: text("Its name."),
    protocol: { ...protocol, default: "TCP" },
  },
  ["containerPort"],
);

/** One key of a ConfigMap or a Secret. */
function keyOf(what: string): Schema {
  return atomic(
    fields(
      `One value of a ${what}.`,
      {
        key: text("Its key."),
        name: text(`The ${what}.`),
        optional: flag("Whether it may be absent."),
      },
      ["key"],
    ),
  );
}

/** A field of the pod itself. */
export const fieldRef: Schema = atomic(
  fields(
    "A field of the pod.",
    { apiVersion: text("The version that the path is in."), fieldPath: text("Where it is.") },
    ["fieldPath"],
  ),
);

/** What a container of the pod asks for, or may use. */
export const resourceFieldRef: Schema = atomic(
  fields(
    "What a container asks for.",
    {
      containerName: text("Which container."),
      divisor: quantity("The unit."),
      resource: text("What of it."),
    },
    ["resource"],
  ),
);

const fileKeyRef = atomic(
  fields(
    "One value of a file.",
    {
      key: text("Its key."),
      optional: flag("Whether it may be absent."),
      path: text("The file."),
      volumeName: text("The volume that it is on."),
    },
    ["volumeName", "path", "key"],
  ),
);

const environment = fields(
  "A variable of the environment.",
  {
    name: text("Its name."),
    value: text("Its value."),
    valueFrom: fields("Where its value comes from.", {
      configMapKeyRef: keyOf("ConfigMap"),
      fieldRef,
      fileKeyRef,
      resourceFieldRef,
      secretKeyRef: keyOf("Secret"),
    }),
  },
  ["name"],
);

const wholeOf = (what: string) =>
  fields(`All values of a ${what}.`, {
    name: text(`The ${what}.`),
    optional: flag("Whether it may be absent."),
  });

const environmentFrom = fields("Variables from elsewhere.", {
  configMapRef: wholeOf("ConfigMap"),
  prefix: text("What stands before each name."),
  secretRef: wholeOf("Secret"),
});

const exec = fields("A command.", { command: texts("The program and its arguments.") });
const header = fields(
  "A header of the request.",
  { name: text("Its name."), value: text("Its value.") },
  ["name", "value"],
);
const httpGet = fields(
  "A request.",
  {
    host: text("To whom; the pod where it is left out."),
    httpHeaders: list(header, "Its headers."),
    path: text("Its path."),
    port: intOrString("Its port."),
    scheme: text("HTTP or HTTPS."),
  },
  ["port"],
);
const tcpSocket = fields(
  "A connection.",
  { host: text("To whom."), port: intOrString("To which port.") },
  ["port"],
);

const probe = (description: string) =>
  fields(description, {
    exec,
    failureThreshold: int32("After how many failures it counts as failed."),
    grpc: fields("A call.", { port: int32("Its port."), service: text("Its service.") }, ["port"]),
    httpGet,
    initialDelaySeconds: int32("How long it waits at first."),
    periodSeconds: int32("How often it is asked."),
    successThreshold: int32("After how many successes it counts as well again."),
    tcpSocket,
    terminationGracePeriodSeconds: int64("How long the container has to end."),
    timeoutSeconds: int32("How long an answer may take."),
  });

const handler = (description: string) =>
  fields(description, {
    exec,
    httpGet,
    sleep: fields("A pause.", { seconds: int64("How long.") }, ["seconds"]),
    tcpSocket,
  });

const claim = fields(
  "A device that it uses.",
  { name: text("The claim."), request: text("The part of it.") },
  ["name"],
);
const claims: Schema = {
  type: "array",
  description: "The devices that it uses.",
  items: claim,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
};

/** What a container or a pod asks for, and what it may use at most. */
export const resources: Schema = fields("What it needs.", {
  claims,
  limits: mapOf(quantity("How much."), "What it may use at most."),
  requests: mapOf(quantity("How much."), "What it is given at least."),
});

const profile = (what: string) =>
  fields(what, { localhostProfile: text("A file on the node."), type: text("Which.") }, ["type"]);

/** What containers and pods say alike of how they are run. */
export const commonSecurity: Record<string, Schema> = {
  appArmorProfile: profile("What AppArmor allows."),
  runAsGroup: int64("The group that it runs as."),
  runAsNonRoot: flag("Whether it must not run as root."),
  runAsUser: int64("The user that it runs as."),
  seLinuxOptions: fields("Its SELinux label.", {
    level: text("Its level."),
    role: text("Its role."),
    type: text("Its type."),
    user: text("Its user."),
  }),
  seccompProfile: profile("Which system calls it may make."),
  windowsOptions: anything("How it is run on Windows."),
};

const securityContext = fields("How it is run.", {
  ...commonSecurity,
  allowPrivilegeEscalation: flag("Whether it may gain more rights than its parent."),
  capabilities: fields("What it may do beyond others.", {
    add: texts("What it gains."),
    drop: texts("What it loses."),
  }),
  privileged: flag("Whether it may do everything on the node."),
  procMount: text("How much of /proc it sees."),
  readOnlyRootFilesystem: flag("Whether it cannot write to its root."),
});

const mount = fields(
  "A volume that it sees.",
  {
    mountPath: text("Where."),
    mountPropagation: text("Whether mounts of others are seen."),
    name: text("The volume."),
    readOnly: flag("Whether it can only be read."),
    recursiveReadOnly: text("Whether that goes for mounts below it."),
    subPath: text("The part of it."),
    subPathExpr: text("The part of it, with variables."),
  },
  ["name", "mountPath"],
);

const device = fields(
  "A device that it sees.",
  { devicePath: text("Where."), name: text("The claim.") },
  ["name", "devicePath"],
);

/** The fields of a container. */
export const containerFields: Record<string, Schema> = {
  args: texts("The arguments of the program."),
  command: texts("The program, in place of the image's."),
  env: listBy(["name"], environment, "Its environment."),
  envFrom: list(environmentFrom, "Environment that comes from elsewhere."),
  image: text("The image that it is made from."),
  imagePullPolicy: oneOf(["Always", "IfNotPresent", "Never"], "When the image is fetched."),
  lifecycle: fields("What is done when it starts and ends.", {
    postStart: handler("What is done after it started."),
    preStop: handler("What is done before it ends."),
    stopSignal: text("The signal that ends it."),
  }),
  livenessProbe: probe("How one sees that it lives."),
  name: text("Its name."),
  ports: listBy(["containerPort", "protocol"], port, "The ports that it listens on."),
  readinessProbe: probe("How one sees that it is ready."),
  resizePolicy: list(anything("One rule."), "What a change of its size means."),
  resources,
  restartPolicy: text("When it is started again."),
  restartPolicyRules: list(anything("One rule."), "When it is started again, by how it ended."),
  securityContext,
  startupProbe: probe("How one sees that it has started."),
  stdin: flag("Whether it has an input."),
  stdinOnce: flag("Whether its input ends with the first reader."),
  terminationMessagePath: text("Where it says why it ended."),
  terminationMessagePolicy: text("What counts as its last words."),
  tty: flag("Whether it has a terminal."),
  volumeDevices: listBy(["devicePath"], device, "The devices that it sees."),
  volumeMounts: listBy(["mountPath"], mount, "The volumes that it sees."),
  workingDir: text("Where its program starts."),
};
