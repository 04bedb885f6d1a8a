/**
 * What the agent tells of itself while it works. Programs that embed it can count in their own way; `agentMetrics` in
 * metrics-text.ts keeps plain numbers and writes them for Prometheus.
 */
export interface MetricsCollector {
  /** Whether this machine is a member of the pool, as last seen. */
  registered(is: boolean): void;
  /** A registration came about. */
  registeredAfter(seconds: number): void;
  /** A step of joining or leaving was tried again, and why: a code. */
  retried(what: "register" | "deregister" | "discover", code: string): void;
  /** The registration was found missing. */
  missing(): void;
  /** A registration that was missing is there again. */
  repaired(): void;
  /** The metadata service gave no good answer: a status, or `none` where nothing answered. */
  imdsFailed(status: string): void;
  /** A probe of the load balancer was answered. */
  probed(status: number): void;
  /** How many packets a tunnel has carried since its link was made. */
  tunnelPackets(link: string, direction: "received" | "sent", packets: number): void;
}

const silent: MetricsCollector = {
  registered: () => undefined,
  registeredAfter: () => undefined,
  retried: () => undefined,
  missing: () => undefined,
  repaired: () => undefined,
  imdsFailed: () => undefined,
  probed: () => undefined,
  tunnelPackets: () => undefined,
};

let collector = silent;

/** Choose who is told of what every agent of this process does, unless its context names another; nobody takes it back. */
export function setMetricsCollector(given: MetricsCollector | undefined): void {
  collector = given ?? silent;
}

/** The one who is told now. */
export function metricsCollector(): MetricsCollector {
  return collector;
}
