import type { Resource, Schema, Stored } from "../resource.ts";
import { ageColumn, builtIn, column, nameColumn, wide } from "./built-in.ts";
import { commonCondition } from "./condition.ts";
import {
  fields,
  flag,
  int32,
  intOrString,
  list,
  listBy,
  oneOf,
  text,
  textMap,
  texts,
} from "./fields.ts";
import { problems, refused } from "./service-rules.ts";
import type { Service } from "./service-spec.ts";
import { fill, prepare } from "./service-values.ts";

const protocol = (description: string): Schema => oneOf(["TCP", "UDP", "SCTP"], description);

const port = fields(
  "One port that it listens on.",
  {
    appProtocol: text("What is spoken on it."),
    name: text("Its name; needed where there are several."),
    nodePort: int32("The same port on every node; given out where the type needs one."),
    port: int32("The number under which clients reach it."),
    protocol: { ...protocol("What carries it."), default: "TCP" },
    targetPort: intOrString(
      "The port behind it, as a number or a name; the same where it is left out.",
    ),
  },
  ["port"],
);

const spec = fields("What is wanted of it.", {
  allocateLoadBalancerNodePorts: flag("Whether a load balancer needs ports on the nodes."),
  clusterIP: text("Its address in the cluster; given out, or None for a Service without one."),
  clusterIPs: texts("The same as a list, one of each family."),
  externalIPs: texts("Addresses of nodes at which it takes traffic as well."),
  externalName: text("The name that it stands for, where its type is ExternalName."),
  externalTrafficPolicy: oneOf(
    ["Cluster", "Local"],
    "Whether traffic from outside goes to all endpoints or to those on the same node.",
  ),
  healthCheckNodePort: int32("The port on which a node says whether it has endpoints."),
  internalTrafficPolicy: oneOf(
    ["Cluster", "Local"],
    "Whether traffic from inside goes to all endpoints or to those on the same node.",
  ),
  ipFamilies: list(
    oneOf(["IPv4", "IPv6"], "A family of addresses."),
    "The families of its addresses.",
  ),
  ipFamilyPolicy: oneOf(
    ["PreferDualStack", "RequireDualStack", "SingleStack"],
    "Whether it has addresses of one family or of both.",
  ),
  loadBalancerClass: text("Which implementation makes its load balancer."),
  loadBalancerIP: text("The address that its load balancer is asked to take."),
  loadBalancerSourceRanges: texts("Who may reach its load balancer, as CIDRs."),
  ports: listBy(["port", "protocol"], port, "The ports that it listens on."),
  publishNotReadyAddresses: flag("Whether endpoints are told of before they are ready."),
  selector: textMap("The labels of the pods behind it.", { "x-kubernetes-map-type": "atomic" }),
  sessionAffinity: oneOf(["ClientIP", "None"], "Whether a client stays with one endpoint."),
  sessionAffinityConfig: fields("How it does.", {
    clientIP: fields("How long a client's address is remembered.", {
      timeoutSeconds: int32("For how many seconds."),
    }),
  }),
  trafficDistribution: text("Which endpoints are preferred."),
  type: oneOf(
    ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"],
    "From where it can be reached.",
  ),
});

const ingress = fields("One address of the load balancer.", {
  hostname: text("Its name."),
  ip: text("Its address."),
  ipMode: oneOf(["Proxy", "VIP"], "Whether traffic arrives with this address as its destination."),
  ports: list(
    fields(
      "What is known of one port.",
      {
        error: text("What is wrong with it."),
        port: int32("Its number."),
        protocol: protocol("What carries it."),
      },
      ["port", "protocol"],
    ),
    "What is known of its ports.",
  ),
});

const status = fields("What is known of it.", {
  conditions: listBy(["type"], commonCondition, "What is known of it."),
  loadBalancer: {
    ...fields("Its load balancer.", {
      ingress: list(ingress, "The addresses of the load balancer."),
    }),
    default: {},
  },
});

/** The kind by which programs are reached under one name and address. */
export const service: Resource = builtIn({
  kind: "Service",
  plural: "services",
  shortNames: ["svc"],
  categories: ["all"],
  namespaced: true,
  status: true,
  description: "One name and address for the programs that its selector picks.",
  properties: { spec, status },
  columns: [
    nameColumn,
    column("Type", (object) => specOf(object).type ?? ""),
    column("Cluster-IP", (object) => specOf(object).clusterIP || "<none>"),
    column("External-IP", externalAddress),
    column("Port(s)", ports),
    ageColumn,
    wide("Selector", (object) => pairs(specOf(object).selector)),
  ],
  strategy: { fill, prepare, refused, problems, names: "dns-label" },
  fieldSelectors: {
    "spec.clusterIP": (object) => specOf(object).clusterIP ?? "",
    "spec.type": (object) => specOf(object).type ?? "",
  },
});

function specOf(object: Stored): NonNullable<Service["spec"]> {
  return (object as Service).spec ?? {};
}

function externalAddress(object: Stored): string {
  const { type, externalName, externalIPs = [] } = specOf(object);
  if (type === "ExternalName") return externalName ?? "";
  if (type !== "LoadBalancer") return externalIPs.join(",") || "<none>";
  const entries = (object as Service).status?.loadBalancer?.ingress ?? [];
  const own = entries.map(({ ip, hostname }) => ip || hostname || "").filter((it) => it !== "");
  return [...[...new Set(own)].sort(), ...externalIPs].join(",") || "<pending>";
}

function ports(object: Stored): string {
  const all = (specOf(object).ports ?? []).map(({ port: number, nodePort, protocol: carrier }) =>
    nodePort ? `${number}:${nodePort}/${carrier}` : `${number}/${carrier}`,
  );
  return all.join(",") || "<none>";
}

function pairs(labels: Record<string, string> = {}): string {
  const all = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return all.sort().join(",") || "<none>";
}
