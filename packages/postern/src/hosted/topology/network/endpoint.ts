import { plainName } from "@postern/core/dns-name.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { PrivateAccess } from "@postern/core/kinds/private-access.ts";
import { privateRouter } from "../../names.ts";
import type { Publishing } from "../cluster/publishing.ts";
import type { Observed } from "../observed.ts";
import { publish, type TopologyStep } from "../steps.ts";

/** The host and port of an API server, as the status has them. */
type Endpoint = NonNullable<NonNullable<HostedCluster["status"]>["controlPlaneEndpoint"]>;

const longestHost = 253;

/** The status writes by which control plane and cluster say where the API server is reached. */
export function publishEndpoint(
  observed: Observed,
  controlPlane: HostedControlPlane,
  access: PrivateAccess,
  publishing: Publishing,
): TopologyStep[] {
  const endpoint = endpointOf(observed, access, publishing);
  // A published one is not removed until another is known: clients have it in their kubeconfigs.
  if (endpoint === undefined) return [];
  const { host, port } = endpoint;
  const isPublished = ({ status }: HostedCluster | HostedControlPlane) =>
    status?.controlPlaneEndpoint?.host === host && status.controlPlaneEndpoint.port === port;
  const status = { controlPlaneEndpoint: endpoint };
  const why = `the API server is reached at ${host}:${port}`;
  const steps: TopologyStep[] = [];
  if (!isPublished(controlPlane))
    steps.push(publish("HostedControlPlane", controlPlane, status, why));
  if (!isPublished(observed.cluster))
    steps.push(publish("HostedCluster", observed.cluster, status, why));
  return steps;
}

/**
 * Where the API server is reached; undefined while that is not known.
 *
 *     APIServer by          topology      host                                               port
 *     Route with hostname   any           the hostname, once the router has an address       443
 *     Route                 public        the hostname that a router gave the Route          443
 *     Route                 Private       the hostname or address of private-router          443
 *     LoadBalancer          public        its hostname, or that of kube-apiserverlb,
 *                                         or its address                                     its own
 *     LoadBalancer          Private       the hostname or address of kube-apiserver-private  its own
 */
function endpointOf(
  observed: Observed,
  access: PrivateAccess,
  { apiServer }: Publishing,
): Endpoint | undefined {
  const { hostname } = apiServer;
  if (hostname !== undefined && observed.taken?.includes(plainName(hostname))) return undefined;
  const isPublic = access.reachablePublicly;
  if (apiServer.type === "LoadBalancer") {
    const balanced = balancerOf(observed, isPublic ? "kube-apiserverlb" : "kube-apiserver-private");
    return balanced && checked((isPublic && hostname) || balanced.host, balanced.port);
  }
  if (isPublic && hostname === undefined) return checked(routeHost(observed), 443);
  const router = balancerOf(observed, isPublic ? "router" : privateRouter);
  return router && checked(hostname ?? router.host, 443);
}

/** The hostname of a load balancer, or else its address, and its port. */
function balancerOf({ services }: Observed, name: string) {
  const found = services.find(({ metadata }) => metadata.name === name);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  const [ingress] = found.status?.loadBalancer?.ingress ?? [];
  const host = ingress?.hostname || ingress?.ip;
  return host ? { host, port: found.spec?.ports?.[0]?.port ?? 443 } : undefined;
}

/** The hostname that a router of the management cluster gave the public Route. */
function routeHost({ routes }: Observed): string | undefined {
  const found = routes?.find(({ metadata }) => metadata.name === "kube-apiserver");
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  return found.spec.host || found.status?.ingress?.find(({ host }) => host)?.host;
}

/** What the schema of the status takes: others write the status of Services and Routes. */
function checked(host: string | undefined, port: number): Endpoint | undefined {
  if (!host || host.length > longestHost) return undefined;
  return { host, port };
}
