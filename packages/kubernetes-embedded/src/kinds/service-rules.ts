import { parseCidr } from "@postern/core/cidr.ts";
import { isIp } from "@postern/core/ip.ts";
import type { Cause, Stored } from "../resource.ts";
import { changed, duplicate, forbidden, invalid, required } from "./causes.ts";
import { labelProblems } from "./metadata.ts";
import {
  wrongLabel,
  wrongPort,
  wrongPortName,
  wrongQualifiedName,
  wrongSubdomain,
} from "./names.ts";
import {
  addressesOf,
  addressPrefix,
  isNodePort,
  isServiceAddress,
  nodePortsOf,
} from "./service-allocations.ts";
import {
  isReachedFromOutside,
  needsAddress,
  needsHealthPort,
  type Service,
  type ServicePort,
  type ServiceSpec,
  standsForAnything,
} from "./service-spec.ts";

/** The addresses and ports that it asks for and cannot have. */
export function refused(
  object: Stored,
  old: Stored | undefined,
  others: () => Iterable<Stored>,
): Cause[] {
  const spec = (object as Service).spec ?? {};
  const before = (old as Service | undefined)?.spec;
  const failed = [...addressProblems(spec), ...familyProblems(spec)];
  if (failed.length > 0) return failed;
  const rivals = [...others()].filter(({ metadata }) => metadata.uid !== object.metadata.uid);
  return takenProblems(spec, before, rivals as Service[]);
}

/** What is wrong with a Service beyond its schema. */
export function problems(object: Stored, old: Stored | undefined): Cause[] {
  const spec = (object as Service).spec ?? {};
  const before = (old as Service | undefined)?.spec;
  return [
    ...typeProblems(spec),
    ...(spec.ports ?? []).flatMap((port, index) => portProblems(port, index, spec)),
    ...repeatedPorts(spec.ports ?? []),
    ...labelProblems(spec.selector, "spec.selector"),
    ...(before === undefined ? [] : movedAddress(spec, before)),
    ...classProblems(spec, before),
    ...outsideProblems(spec),
  ];
}

function typeProblems(spec: ServiceSpec): Cause[] {
  const { type = "", clusterIP, ports = [] } = spec;
  const headless = clusterIP === "None";
  const causes: Cause[] = [];
  if (ports.length === 0 && !headless && type !== "ExternalName") {
    causes.push(required("spec.ports"));
  }
  if (headless && (type === "LoadBalancer" || type === "NodePort")) {
    causes.push(invalid("spec.clusterIPs[0]", "None", `a ${type} Service needs an address`));
  }
  if (type !== "ExternalName") return causes;
  for (const field of ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] as const) {
    if (spec[field]?.length) {
      causes.push(forbidden(`spec.${field}`, "may not be set for ExternalName services"));
    }
  }
  const name = (spec.externalName ?? "").replace(/\.$/, "");
  const why = name === "" ? undefined : wrongSubdomain(name);
  if (name === "") causes.push(required("spec.externalName"));
  else if (why !== undefined) causes.push(invalid("spec.externalName", name, why));
  return causes;
}

function portProblems(
  port: ServicePort,
  index: number,
  { ports = [], type }: ServiceSpec,
): Cause[] {
  const at = `spec.ports[${index}]`;
  const causes: Cause[] = [];
  const say = (field: string, value: unknown, why: string | undefined) => {
    if (why !== undefined) causes.push(invalid(`${at}.${field}`, value, why));
  };
  if (port.name) {
    say("name", port.name, wrongLabel(port.name));
    const first = ports.findIndex(({ name }) => name === port.name);
    if (first < index) causes.push(duplicate(`${at}.name`, port.name));
  } else if (ports.length > 1) causes.push(required(`${at}.name`));
  say("port", port.port, wrongPort(port.port));
  const { targetPort } = port;
  if (typeof targetPort === "number") say("targetPort", targetPort, wrongPort(targetPort));
  else if (targetPort !== undefined) say("targetPort", targetPort, wrongPortName(targetPort));
  const { appProtocol } = port as { appProtocol?: string };
  if (appProtocol) say("appProtocol", appProtocol, wrongQualifiedName(appProtocol));
  if (port.nodePort && type === "ClusterIP") {
    causes.push(forbidden(`${at}.nodePort`, "may not be used when `type` is 'ClusterIP'"));
  }
  return causes;
}

function repeatedPorts(ports: readonly ServicePort[]): Cause[] {
  const causes: Cause[] = [];
  const seen = new Set<string>();
  for (const [index, { port, protocol, nodePort }] of ports.entries()) {
    if (seen.has(`${protocol}/${port}`)) {
      causes.push(duplicate(`spec.ports[${index}]`, { port, protocol }));
    }
    if (nodePort && seen.has(`node ${protocol}/${nodePort}`)) {
      causes.push(duplicate(`spec.ports[${index}].nodePort`, nodePort));
    }
    seen.add(`${protocol}/${port}`).add(`node ${protocol}/${nodePort}`);
  }
  return causes;
}

function movedAddress(spec: ServiceSpec, before: ServiceSpec): Cause[] {
  const [first = "", old = ""] = [spec.clusterIPs?.[0], before.clusterIPs?.[0]];
  if (!needsAddress(spec) || !needsAddress(before) || first === old) return [];
  return [changed("spec.clusterIPs[0]", spec.clusterIPs, "may not change once set")];
}

/** Who makes its load balancer is decided once, also where nobody was named. */
function classProblems(spec: ServiceSpec, before: ServiceSpec | undefined): Cause[] {
  const { type, loadBalancerClass: name } = spec;
  if (type !== "LoadBalancer") return [];
  const field = "spec.loadBalancerClass";
  const causes: Cause[] = [];
  if (before?.type === "LoadBalancer" && name !== before.loadBalancerClass) {
    causes.push(changed(field, name ?? null, "may not change once set"));
  }
  const why = name === undefined ? undefined : wrongQualifiedName(name);
  if (why !== undefined) causes.push(invalid(field, name, why));
  return causes;
}

function addressProblems(spec: ServiceSpec): Cause[] {
  const { clusterIP = "", clusterIPs = [] } = spec;
  if (!needsAddress(spec)) return [];
  const first = clusterIPs[0] ?? "";
  if (clusterIP !== first) {
    return [invalid("spec.clusterIPs", clusterIPs, "first value must match `clusterIP`")];
  }
  return clusterIPs
    .map((address, index) => ({ address, field: `spec.clusterIPs[${index}]` }))
    .filter(({ address }) => address !== "None" && !isIp(address))
    .map(({ address, field }) => invalid(field, address, "must be a valid IP address"));
}

/** Addresses here are of one family; only a Service of which nobody knows the endpoints may speak of both. */
function familyProblems(spec: ServiceSpec): Cause[] {
  if (!needsAddress(spec) || standsForAnything(spec)) return [];
  const causes = (spec.ipFamilies ?? []).flatMap((family, index) =>
    family === "IPv6"
      ? [invalid(`spec.ipFamilies[${index}]`, family, "not configured on this cluster")]
      : [],
  );
  if (spec.ipFamilyPolicy === "RequireDualStack") {
    const why = "this cluster is not configured for dual-stack services";
    causes.push(invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, why));
  }
  return causes;
}

const onlyForLoadBalancers = "may only be used when `type` is 'LoadBalancer'";

function outsideProblems(spec: ServiceSpec): Cause[] {
  const causes: Cause[] = [];
  const { loadBalancerSourceRanges = [], externalIPs = [] } = spec;
  if (spec.type !== "LoadBalancer") {
    if (loadBalancerSourceRanges.length > 0) {
      causes.push(forbidden("spec.LoadBalancerSourceRanges", onlyForLoadBalancers));
    }
    for (const field of ["allocateLoadBalancerNodePorts", "loadBalancerClass"] as const) {
      if (spec[field] !== undefined) causes.push(forbidden(`spec.${field}`, onlyForLoadBalancers));
    }
  }
  for (const [index, range] of loadBalancerSourceRanges.entries()) {
    if (isCidr(range.trim())) continue;
    const field = `spec.LoadBalancerSourceRanges[${index}]`;
    causes.push(invalid(field, range, "must be a CIDR, such as 10.9.8.0/24"));
  }
  for (const [index, address] of externalIPs.entries()) {
    if (isIp(address)) continue;
    causes.push(invalid(`spec.externalIPs[${index}]`, address, "must be a valid IP address"));
  }
  if (spec.externalTrafficPolicy && !isReachedFromOutside(spec)) {
    const why = "may only be set where the Service is reached from outside";
    causes.push(invalid("spec.externalTrafficPolicy", spec.externalTrafficPolicy, why));
  }
  if (spec.healthCheckNodePort && !needsHealthPort(spec)) {
    const why = "needs type LoadBalancer and externalTrafficPolicy Local";
    causes.push(invalid("spec.healthCheckNodePort", spec.healthCheckNodePort, why));
  }
  return causes;
}

function isCidr(text: string): boolean {
  try {
    parseCidr(text);
    return true;
  } catch {
    return false;
  }
}

/** What another Service has already, or none may have: the first of it. What it had before it keeps. */
function takenProblems(
  spec: ServiceSpec,
  before: ServiceSpec | undefined,
  rivals: readonly Service[],
): Cause[] {
  const { clusterIP = "", type } = spec;
  if (needsAddress(spec) && clusterIP !== "None" && clusterIP !== before?.clusterIP) {
    const why = wrongAddress(clusterIP, rivals);
    if (why !== undefined) return [invalid("spec.clusterIPs", [clusterIP], why)];
  }
  if (type !== "NodePort" && type !== "LoadBalancer") return [];
  const had = nodePortsOf([before ?? {}]);
  const taken = nodePortsOf(rivals.map((rival) => rival.spec ?? {}));
  const byNumber = new Map<number, number>();
  for (const [index, { port, nodePort = 0 }] of (spec.ports ?? []).entries()) {
    const isKnown = before === undefined ? byNumber.get(port) === nodePort : had.has(nodePort);
    if (nodePort === 0 || isKnown) continue;
    const why = wrongNodePort(nodePort, taken);
    if (why !== undefined) return [invalid(`spec.ports[${index}].nodePort`, nodePort, why)];
    if (!byNumber.has(port)) byNumber.set(port, nodePort);
    taken.add(nodePort);
    had.add(nodePort);
  }
  return [];
}

function wrongAddress(address: string, rivals: readonly Service[]): string | undefined {
  if (address === "") return "no address is left";
  const failed = `failed to allocate IP ${address}`;
  if (!isServiceAddress(address)) return `${failed}: it is not in ${addressPrefix}0.0/16`;
  return addressesOf(rivals).has(address)
    ? `${failed}: provided IP is already allocated`
    : undefined;
}

function wrongNodePort(nodePort: number, taken: ReadonlySet<number>): string | undefined {
  if (!isNodePort(nodePort)) return "provided port is not in the range 30000-32767";
  return taken.has(nodePort) ? "provided port is already allocated" : undefined;
}
