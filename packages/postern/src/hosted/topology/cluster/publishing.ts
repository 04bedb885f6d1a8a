import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { PrivateAccess } from "@postern/core/kinds/private-access.ts";

/** How one part of a control plane is published, and under which name. */
export interface Strategy {
  type: string;
  hostname?: string;
}

/** How the parts that the network knows are published. */
export interface Publishing {
  apiServer: Strategy;
  oauth: Strategy;
  konnectivity: Strategy;
  ignition: Strategy;
}

type Services = HostedCluster["spec"]["services"];

/** Read it, with defaults that work: only the router is behind a private link. */
export function publishingOf(services: Services, access: PrivateAccess): Publishing {
  const of = (name: string, fallback: string): Strategy => {
    const found = services?.find(({ service }) => service === name)?.servicePublishingStrategy;
    const { type = fallback, route, loadBalancer } = found ?? {};
    const hostname = (type === "Route" ? route : loadBalancer)?.hostname;
    return { type, ...(hostname && { hostname }) };
  };
  return {
    apiServer: of("APIServer", access.reachablePrivately ? "Route" : "LoadBalancer"),
    oauth: of("OAuthServer", "Route"),
    konnectivity: of("Konnectivity", "Route"),
    ignition: of("Ignition", "Route"),
  };
}
