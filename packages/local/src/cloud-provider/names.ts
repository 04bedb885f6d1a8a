/** Every name that the stand-in has in common with cloud-provider-azure, so that whoever looks for one finds it. */

/** On a Service while something of its load balancer may exist. */
export const cleanupFinalizer = "service.kubernetes.io/load-balancer-cleanup";

/** Makes the load balancer of a Service an internal one. */
export const internalAnnotation = "service.beta.kubernetes.io/azure-load-balancer-internal";

/** The one pool with the machines of the cluster, and the probe that all rules share. */
export const poolName = "kubernetes";
export const probeName = "cluster-service-shared-health-probe";

/** The frontend of a Service. */
export function frontendName(uid: string): string {
  return `a${uid.replaceAll("-", "")}`.slice(0, 32);
}

/** The rule of one port of a Service. */
export function ruleName(frontend: string, { protocol, port }: Port): string {
  return `${frontend}-${protocol}-${port}`;
}

/** One port under which a Service is reached. */
export interface Port {
  protocol: "TCP" | "UDP";
  port: number;
}

/** A load balancer of the cluster. Upstream has the first one only, and fails when it is full. */
export function balancerName(internal: boolean, number: number): string {
  const first = internal ? "kubernetes-internal" : "kubernetes";
  return number === 1 ? first : `${first}-${number}`;
}

/** Which load balancer of its kind a name is; undefined where it is none of ours. */
export function balancerNumber(internal: boolean, name: string): number | undefined {
  const [, number] = /^kubernetes(?:-internal)?(?:-(\d+))?$/i.exec(name) ?? [name];
  const at = Number(number ?? 1);
  return balancerName(internal, at) === name.toLowerCase() ? at : undefined;
}

/** The public address of a Service. */
export function publicAddressName(frontend: string): string {
  return `kubernetes-${frontend}`;
}
