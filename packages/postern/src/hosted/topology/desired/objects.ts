import type { KubeObject } from "@postern/core/kind.ts";
import type { ServicePort } from "@postern/core/kinds/core.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { PrivateAccess } from "@postern/core/kinds/private-access.ts";
import { externalDnsAnnotation } from "../../hostnames.ts";
import {
  internalLoadBalancerAnnotation,
  internalZoneName,
  oauthServer,
  privateRouter,
} from "../../names.ts";
import type { Publishing } from "../cluster/publishing.ts";
import { madeBy, ownedBy } from "./labels.ts";

/** Which way in an object is a part of. What serves both is never in question. */
export type Exposure = "public" | "private" | "both";

/** A Service or a Route as it should be. A null means that it must not exist. */
export interface Desired {
  kind: "Service" | "Route";
  exposure: Exposure;
  object: KubeObject & { spec: Record<string, unknown> };
}

/**
 * Every Service and Route that a topology may have. `oauth-openshift-public` is Postern's own: HyperShift leaves the OAuth
 * server of a PublicAndPrivate cluster without a public address.
 */
export const exposures: Record<Desired["kind"], Readonly<Record<string, Exposure>>> = {
  Service: {
    [privateRouter]: "private",
    router: "public",
    "kube-apiserver": "both",
    "kube-apiserverlb": "public",
    "kube-apiserver-private": "private",
    [oauthServer]: "both",
    "oauth-openshift-public": "public",
  },
  Route: {
    "kube-apiserver": "public",
    "kube-apiserver-private": "private",
    "kube-apiserver-internal": "both",
    oauth: "public",
    "oauth-private": "private",
    "oauth-internal": "private",
    "konnectivity-server": "both",
    "ignition-server": "both",
  },
};

/** On a Route that the control plane's own router serves. */
const ownRouterLabel = "hypershift.openshift.io/hosted-control-plane";
const internalLabel = "hypershift.openshift.io/internal-route";
const visibilityLabel = "hypershift.openshift.io/route-visibility";

const routerPorts = [port("https", 443, "https")];
/** Not 6443: on the load balancer of the management cluster that port is its own API server's. */
const balancedApiPorts = [port("client", 7443, "client")];
const oauthPorts = [port("https", 443, 6443)];

/**
 * What a control plane has, by topology and by how it publishes.
 *
 *                                       Public              PublicAndPrivate         Private
 *     Service private-router            –                   internal                 internal
 *     Service router                    API by named Route  API by named Route       –
 *     Service kube-apiserver            cluster address     cluster address          cluster address
 *     API by LoadBalancer
 *       Service kube-apiserverlb        public              public                   –
 *       Service kube-apiserver-private  –                   internal                 internal
 *     API by Route
 *       Route kube-apiserver            yes                 yes                      –
 *       Route kube-apiserver-private    –                   –                        where it has a name
 *       Route kube-apiserver-internal   yes                 yes                      yes
 *     OAuth by LoadBalancer
 *       Service oauth-openshift         public              internal                 internal
 *       Service oauth-openshift-public  –                   public                   –
 *     OAuth by Route
 *       Route oauth                     yes                 yes                      –
 *       Route oauth-private             –                   –                        where it has a name
 *       Route oauth-internal            –                   yes                      yes
 *     Routes of konnectivity, ignition  their own name      internal name            internal name
 */
export function desiredObjects(
  controlPlane: HostedControlPlane,
  access: PrivateAccess,
  { apiServer, oauth, konnectivity, ignition }: Publishing,
): Desired[] {
  const make = makerFor(controlPlane);
  const ranges = controlPlane.spec.networking?.apiServer?.allowedCIDRBlocks ?? [];
  const isPublic = access.reachablePublicly;
  const isPrivate = access.reachablePrivately;
  const apiRoute = apiServer.type === "Route";
  const apiBalanced = apiServer.type === "LoadBalancer";
  const oauthRoute = oauth.type === "Route";
  const oauthBalanced = oauth.type === "LoadBalancer";
  // Else the default router of the management cluster serves them.
  const ownRouter = !isPublic || (apiRoute && apiServer.hostname !== undefined);
  const behindRouter = { app: privateRouter };
  const behindApi = { app: "kube-apiserver" };
  const behindOauth = { app: oauthServer };
  const internalName = (name: string) =>
    `${name}.apps.${internalZoneName(controlPlane.metadata.name)}`;

  const rows: (Desired | false)[] = [
    isPrivate && make.internal(privateRouter, behindRouter, routerPorts),
    isPublic &&
      apiRoute &&
      apiServer.hostname !== undefined &&
      make.public("router", behindRouter, routerPorts, ranges),
    make.inCluster("kube-apiserver", behindApi, [port("client", 6443, "client")]),
    apiBalanced &&
      isPublic &&
      make.public("kube-apiserverlb", behindApi, balancedApiPorts, ranges, apiServer.hostname),
    apiBalanced &&
      isPrivate &&
      make.internal("kube-apiserver-private", behindApi, balancedApiPorts),
    apiRoute &&
      isPublic &&
      make.route("kube-apiserver", "kube-apiserver", { ...apiServer, ownRouter, published: true }),
    apiRoute &&
      !isPublic &&
      apiServer.hostname !== undefined &&
      make.route("kube-apiserver-private", "kube-apiserver", {
        ...apiServer,
        visibility: "private",
      }),
    apiRoute &&
      make.route("kube-apiserver-internal", "kube-apiserver", {
        hostname: `api.${internalZoneName(controlPlane.metadata.name)}`,
        internal: true,
      }),
    oauthServiceOf(),
    oauthBalanced &&
      isPublic &&
      isPrivate &&
      make.public("oauth-openshift-public", behindOauth, oauthPorts, ranges, oauth.hostname),
    oauthRoute &&
      isPublic &&
      make.route("oauth", oauthServer, { ...oauth, ownRouter, published: true }),
    oauthRoute &&
      !isPublic &&
      oauth.hostname !== undefined &&
      make.route("oauth-private", oauthServer, { ...oauth, visibility: "private" }),
    oauthRoute &&
      isPrivate &&
      make.route("oauth-internal", oauthServer, {
        hostname: internalName("oauth"),
        internal: true,
      }),
    konnectivity.type === "Route" && workersRoute("konnectivity-server", konnectivity.hostname),
    ignition.type === "Route" &&
      workersRoute("ignition-server", ignition.hostname, "ignition-server-proxy"),
  ];
  return rows.filter((row) => row !== false);

  function oauthServiceOf(): Desired {
    if (!oauthBalanced) return make.inCluster(oauthServer, behindOauth, oauthPorts);
    // With a public address the hostname is that one's.
    if (isPrivate)
      return make.internal(
        oauthServer,
        behindOauth,
        oauthPorts,
        isPublic ? undefined : oauth.hostname,
      );
    return make.public(oauthServer, behindOauth, oauthPorts, ranges, oauth.hostname);
  }

  function workersRoute(name: string, hostname: string | undefined, to = name): Desired {
    return isPrivate
      ? make.route(name, to, { hostname: internalName(name), internal: true })
      : make.route(name, to, { ...(hostname && { hostname }), ownRouter, published: true });
  }
}

interface RouteShape {
  hostname?: string;
  internal?: boolean;
  visibility?: "private";
  /** Whether the control plane's own router serves it; it does for all that is not public. */
  ownRouter?: boolean;
  /** Whether its name belongs into public DNS. */
  published?: boolean;
}

function makerFor(controlPlane: HostedControlPlane) {
  const { namespace = "" } = controlPlane.metadata;
  const metadata = (name: string, labels: object, annotations: object) => ({
    name,
    namespace,
    labels: { ...madeBy, ...labels } as Record<string, string>,
    annotations: annotations as Record<string, string>,
    ownerReferences: [ownedBy(controlPlane)],
  });
  const service = (name: string, annotations: object, spec: Record<string, unknown>): Desired => {
    const exposure = exposures.Service[name] ?? "both";
    return {
      kind: "Service",
      exposure,
      object: { metadata: metadata(name, {}, annotations), spec },
    };
  };
  type Selector = Record<string, string>;
  const noNames = { [externalDnsAnnotation]: null };
  return {
    inCluster: (name: string, selector: Selector, ports: ServicePort[]) =>
      service(
        name,
        { [internalLoadBalancerAnnotation]: null, ...noNames },
        {
          type: "ClusterIP",
          selector,
          ports,
          loadBalancerSourceRanges: null,
        },
      ),
    // Not limited to the allowed ranges: what comes through a link has an address of the NAT subnet.
    internal: (name: string, selector: Selector, ports: ServicePort[], hostname?: string) =>
      service(
        name,
        { [internalLoadBalancerAnnotation]: "true", [externalDnsAnnotation]: hostname ?? null },
        {
          type: "LoadBalancer",
          selector,
          ports,
          loadBalancerSourceRanges: null,
        },
      ),
    public: (
      name: string,
      selector: Selector,
      ports: ServicePort[],
      ranges: readonly string[],
      hostname?: string,
    ) =>
      service(
        name,
        { [internalLoadBalancerAnnotation]: null, [externalDnsAnnotation]: hostname ?? null },
        {
          type: "LoadBalancer",
          selector,
          ports,
          loadBalancerSourceRanges: ranges.length > 0 ? ranges : null,
        },
      ),
    route: (name: string, to: string, shape: RouteShape): Desired => {
      const { hostname, internal = false, visibility, ownRouter = true, published = false } = shape;
      const labels = {
        [ownRouterLabel]: ownRouter ? namespace : null,
        [internalLabel]: internal || visibility ? "true" : null,
        [visibilityLabel]: visibility ?? null,
      };
      const annotations = { [externalDnsAnnotation]: published && hostname ? hostname : null };
      const spec = {
        // Without a name the router of the management cluster chooses one, which is not changed.
        ...(hostname && { host: hostname }),
        to: { kind: "Service", name: to, weight: 100 },
        tls: { termination: "passthrough", insecureEdgeTerminationPolicy: "None" },
      };
      const exposure = exposures.Route[name] ?? "both";
      return {
        kind: "Route",
        exposure,
        object: { metadata: metadata(name, labels, annotations), spec },
      };
    },
  };
}

function port(name: string, number: number, targetPort: number | string): ServicePort {
  return { name, protocol: "TCP", port: number, targetPort };
}
