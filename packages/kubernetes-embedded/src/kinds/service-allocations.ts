import type { Service, ServicePort, ServiceSpec } from "./service-spec.ts";
import { needsAddress, needsHealthPort, needsNodePorts } from "./service-spec.ts";

/** The addresses that Services are given: those of 10.96.0.0/16. The first is that of the API itself. */
export const addressPrefix = "10.96.";
const addresses = { first: 10, last: 65_534 };
const nodePorts = { first: 30_000, last: 32_767 };
/** Those below are left, as long as there are others, to people who name one. */
const givenOut = { first: 30_086, last: nodePorts.last };

type Rivals = () => Service[];

/** The spec with an address that no other Service has. */
export function takeAddress(spec: ServiceSpec, rivals: Rivals): ServiceSpec {
  if (!needsAddress(spec) || spec.clusterIP) return spec;
  const taken = addressesOf(rivals());
  const number = firstFree(addresses, (it) => taken.has(addressAt(it)));
  // With none left it stays without, and its rules say so.
  if (number === undefined) return spec;
  return { ...spec, clusterIP: addressAt(number), clusterIPs: [addressAt(number)] };
}

/**
 * The spec with ports on the nodes that no other Service has. In a new Service, ports of the same number (as those of
 * DNS over TCP and UDP) share one.
 */
export function takeNodePorts(spec: ServiceSpec, isNew: boolean, rivals: Rivals): ServiceSpec {
  const ports = spec.ports ?? [];
  const missing = needsNodePorts(spec) && ports.some(({ nodePort }) => !nodePort);
  const health = needsHealthPort(spec) && !spec.healthCheckNodePort;
  if (!missing && !health) return spec;
  const taken = nodePortsOf([...rivals().map((rival) => rival.spec ?? {}), spec]);
  const next = () => {
    const isTaken = (it: number) => taken.has(it);
    const free = firstFree(givenOut, isTaken) ?? firstFree(nodePorts, isTaken);
    if (free !== undefined) taken.add(free);
    return free;
  };
  const given = missing ? { ports: withNodePorts(ports, isNew, next) } : {};
  const checked = health ? { healthCheckNodePort: next() ?? 0 } : {};
  return { ...spec, ...given, ...checked };
}

function withNodePorts(
  ports: readonly ServicePort[],
  isNew: boolean,
  next: () => number | undefined,
): ServicePort[] {
  const byNumber = new Map<number, number>();
  if (isNew) {
    for (const { port, nodePort } of ports.toReversed()) if (nodePort) byNumber.set(port, nodePort);
  }
  return ports.map((port) => {
    if (port.nodePort) return port;
    const nodePort = byNumber.get(port.port) ?? next();
    if (nodePort === undefined) return port;
    if (isNew) byNumber.set(port.port, nodePort);
    return { ...port, nodePort };
  });
}

/** The addresses that some Services have. */
export function addressesOf(services: readonly Service[]): Set<string> {
  return new Set(services.flatMap(({ spec }) => spec?.clusterIPs ?? []));
}

/** The ports on the nodes that some Services have. */
export function nodePortsOf(specs: readonly ServiceSpec[]): Set<number> {
  const all = specs.flatMap(({ ports = [], healthCheckNodePort }) => [
    ...ports.map(({ nodePort }) => nodePort),
    healthCheckNodePort,
  ]);
  return new Set(all.filter((port) => port !== undefined && port > 0) as number[]);
}

/** Whether Services may have this address at all. */
export function isServiceAddress(address: string): boolean {
  return address.startsWith(addressPrefix);
}

/** Whether Services may have this port on the nodes. */
export function isNodePort(port: number): boolean {
  return port >= nodePorts.first && port <= nodePorts.last;
}

function addressAt(number: number): string {
  return `${addressPrefix}${number >> 8}.${number & 255}`;
}

function firstFree(
  { first, last }: { first: number; last: number },
  isTaken: (number: number) => boolean,
): number | undefined {
  for (let number = first; number <= last; number++) if (!isTaken(number)) return number;
  return undefined;
}
