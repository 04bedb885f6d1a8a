import type { Stored } from "../resource.ts";
import { nodePortsOf, takeAddress, takeNodePorts } from "./service-allocations.ts";
import {
  isReachedFromOutside,
  mayHaveNodePorts,
  needsAddress,
  needsHealthPort,
  type Service,
  type ServicePort,
  type ServiceSpec,
  type ServiceStatus,
  standsForAnything,
} from "./service-spec.ts";

const threeHours = 3 * 60 * 60;

/** Fills in what a Service leaves out. */
export function fill(object: Stored): Stored {
  return { ...object, spec: withDefaults((object as Service).spec ?? {}) };
}

/** Gives a Service an address and ports on the nodes. */
export function prepare(
  object: Stored,
  old: Stored | undefined,
  others: () => Iterable<Stored>,
): Stored {
  const before = (old as Service | undefined)?.spec;
  const named = withAddressTwice((object as Service).spec ?? {});
  const kept = before === undefined ? named : withoutLeftovers(carriedOver(named, before), before);
  const self = (other: Stored) => other.metadata.uid === object.metadata.uid;
  const rivals = () => [...others()].filter((other) => !self(other)) as Service[];
  const spec = takeNodePorts(withFamilies(takeAddress(kept, rivals)), before === undefined, rivals);
  return { ...object, spec, status: statusFor(object as Service, spec) };
}

function withDefaults(given: ServiceSpec): ServiceSpec {
  const type = given.type || "ClusterIP";
  const spec: ServiceSpec = { ...given, type, sessionAffinity: given.sessionAffinity || "None" };
  if (given.ports) spec.ports = given.ports.map(withTarget);
  if (spec.sessionAffinity === "ClientIP") {
    const timeoutSeconds = given.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? threeHours;
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds } };
  } else if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  if (isReachedFromOutside(spec)) spec.externalTrafficPolicy ||= "Cluster";
  if (type !== "ExternalName") spec.internalTrafficPolicy ||= "Cluster";
  if (type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
  // The API server cannot tell this one from an absent one.
  if (spec.publishNotReadyAddresses === false) delete spec.publishNotReadyAddresses;
  return spec;
}

/** Whoever gives the address by itself or as the only one of a list means the same. */
function withAddressTwice(given: ServiceSpec): ServiceSpec {
  const spec = { ...given };
  if (!spec.clusterIP && spec.clusterIPs?.[0]) spec.clusterIP = spec.clusterIPs[0];
  if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
  if (!needsAddress(spec)) {
    // A name has neither an address nor traffic of its own.
    if (spec.clusterIP === "") delete spec.clusterIP;
    delete spec.internalTrafficPolicy;
  }
  return spec;
}

function withTarget(port: ServicePort): ServicePort {
  const protocol = port.protocol || "TCP";
  const { targetPort } = port;
  const leftOut = targetPort === undefined || targetPort === 0 || targetPort === "";
  return { ...port, protocol, targetPort: leftOut ? port.port : targetPort };
}

/** What was given out once and is not said again stays as it is. */
function carriedOver(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  const kept = { ...spec };
  if (needsAddress(before) && needsAddress(spec)) {
    if (!kept.clusterIP && before.clusterIP) kept.clusterIP = before.clusterIP;
    if (!kept.clusterIPs?.length && before.clusterIPs) kept.clusterIPs = before.clusterIPs;
    if (!kept.ipFamilies && before.ipFamilies) kept.ipFamilies = before.ipFamilies;
    if (!kept.ipFamilyPolicy && before.ipFamilyPolicy) kept.ipFamilyPolicy = before.ipFamilyPolicy;
  }
  if (mayHaveNodePorts(before) && mayHaveNodePorts(spec) && kept.ports) {
    kept.ports = withOldNodePorts(kept.ports, before.ports ?? []);
  }
  if (needsHealthPort(before) && needsHealthPort(spec) && before.healthCheckNodePort) {
    kept.healthCheckNodePort ||= before.healthCheckNodePort;
  }
  return kept;
}

/** Ports are known by their name here, since a number is what people change. */
function withOldNodePorts(ports: ServicePort[], before: ServicePort[]): ServicePort[] {
  const said = new Set(ports.map(({ nodePort }) => nodePort));
  return ports.map((port) => {
    if (port.nodePort) return port;
    const known = before.findLast(({ name = "" }) => name === (port.name ?? ""))?.nodePort;
    return known && !said.has(known) ? { ...port, nodePort: known } : port;
  });
}

/** What a former type needed, and nobody has changed since, goes with that type. */
function withoutLeftovers(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  const kept = { ...spec };
  if (needsAddress(before) && !needsAddress(spec)) {
    for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] as const) {
      if (String(kept[field] ?? "") === String(before[field] ?? "")) delete kept[field];
    }
  }
  const portsOf = ({ ports = [] }: ServiceSpec) => [...nodePortsOf([{ ports }])];
  const had = new Set(portsOf(before));
  const noneIsNew = portsOf(spec).every((port) => had.has(port));
  if (mayHaveNodePorts(before) && !mayHaveNodePorts(spec) && noneIsNew) {
    kept.ports = (spec.ports ?? []).map(({ nodePort: _, ...port }) => port);
  }
  const lost = {
    healthCheckNodePort: needsHealthPort(before) && !needsHealthPort(spec),
    allocateLoadBalancerNodePorts: before.type === "LoadBalancer" && spec.type !== "LoadBalancer",
    loadBalancerClass: before.type === "LoadBalancer" && spec.type !== "LoadBalancer",
    externalTrafficPolicy: isReachedFromOutside(before) && !isReachedFromOutside(spec),
  };
  for (const field of Object.keys(lost) as (keyof typeof lost)[]) {
    if (lost[field] && kept[field] === before[field]) delete kept[field];
  }
  return kept;
}

function withFamilies(spec: ServiceSpec): ServiceSpec {
  if (!needsAddress(spec)) return spec;
  const unknown = standsForAnything(spec);
  const ipFamilyPolicy = spec.ipFamilyPolicy ?? (unknown ? "RequireDualStack" : "SingleStack");
  const both = unknown && ipFamilyPolicy !== "SingleStack";
  const ipFamilies = spec.ipFamilies ?? (both ? ["IPv4", "IPv6"] : ["IPv4"]);
  return { ...spec, ipFamilyPolicy, ipFamilies };
}

function statusFor({ status = {} }: Service, { type }: ServiceSpec): ServiceStatus {
  if (type !== "LoadBalancer") return { ...status, loadBalancer: {} };
  const { ingress, ...rest } = status.loadBalancer ?? {};
  if (ingress === undefined) return { ...status, loadBalancer: rest };
  const modes = ingress.map((entry) => (entry.ip ? { ipMode: "VIP", ...entry } : entry));
  return { ...status, loadBalancer: { ...rest, ingress: modes } };
}
