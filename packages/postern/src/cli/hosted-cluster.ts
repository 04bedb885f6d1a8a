import { apiVersionOf } from "@postern/core/kind.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { nameOf, parseResourceId } from "@postern/core/resource-id.ts";
import { whyNamesUnusable } from "../hosted/dns-names.ts";

/** The options of `postern cluster create`. */
export interface CreateOptions {
  namespace: string;
  baseDomain: string;
  location: string;
  tenantId: string;
  subscriptionId: string;
  resourceGroup: string;
  vnetId: string;
  subnetId: string;
  controlPlaneClientId: string;
  privateZoneId?: string;
  endpointAccess: "Public" | "PublicAndPrivate" | "Private";
  endpointAccessPrivateNatSubnetId?: string;
  endpointAccessPrivateAdditionalAllowedSubscriptions?: string[];
  oauthPublishingStrategy: "Route" | "LoadBalancer";
  externalDnsDomain?: string;
}

/** The HostedCluster that the flags describe, by the rules of HyperShift's command line. */
export function hostedClusterOf(name: string, options: CreateOptions) {
  const { endpointAccess: access, namespace, baseDomain } = options;
  const natSubnetID = options.endpointAccessPrivateNatSubnetId;
  const additional = options.endpointAccessPrivateAdditionalAllowedSubscriptions ?? [];
  if (access === "Public" && (natSubnetID || additional.length > 0))
    throw new UsageError(
      "--endpoint-access-private-… requires a private link: set --endpoint-access to Private or PublicAndPrivate",
    );
  checkPrivateZone(name, options);
  const services = servicesOf(name, options);
  const unusable = whyNamesUnusable({
    metadata: { name },
    spec: { dns: { baseDomain }, services },
  });
  if (unusable !== undefined && (access !== "Public" || baseDomain.endsWith(".")))
    throw new UsageError(unusable.replace("spec.dns.baseDomain", "--base-domain"));
  // HyperShift's CRD requires one property at least. The cluster's own subscription may connect anyway.
  const allowed = natSubnetID || additional.length > 0 ? additional : [options.subscriptionId];
  const privateLink = {
    ...(natSubnetID && { natSubnetID }),
    ...(allowed.length > 0 && { additionalAllowedSubscriptions: allowed }),
  };
  return {
    apiVersion: apiVersionOf(hostedCluster),
    kind: hostedCluster.kind,
    metadata: { namespace, name },
    spec: {
      dns: { baseDomain, ...(options.privateZoneId && { privateZoneID: options.privateZoneId }) },
      services,
      platform: {
        type: "Azure",
        azure: {
          location: options.location,
          tenantID: options.tenantId,
          subscriptionID: options.subscriptionId,
          resourceGroup: options.resourceGroup,
          vnetID: options.vnetId,
          subnetID: options.subnetId,
          azureAuthenticationConfig: {
            azureAuthenticationConfigType: "WorkloadIdentities",
            workloadIdentities: {
              controlPlaneOperator: { clientID: options.controlPlaneClientId },
            },
          },
          topology: access,
          ...(access !== "Public" && {
            private: { type: "PrivateLink", privateLink },
          }),
        },
      },
    },
  };
}

/** What the cluster needs that is not created with it. */
export function needsOf({ endpointAccess, externalDnsDomain }: CreateOptions): string[] {
  if (endpointAccess !== "PublicAndPrivate" || externalDnsDomain !== undefined) return [];
  return [
    "without --external-dns-domain its API server is public by a Route only: a Route controller in the management cluster, such as OpenShift's ingress, must serve it",
  ];
}

/** A zone that is no parent of the cluster's own names would contain none of them. Whether it exists is asked before the cluster is created. */
function checkPrivateZone(name: string, { privateZoneId: id, baseDomain }: CreateOptions): void {
  if (id === undefined) return;
  let zone: string;
  try {
    zone = nameOf(parseResourceId(id, "Microsoft.Network/privateDnsZones")).toLowerCase();
  } catch (error) {
    throw new UsageError(`--private-zone-id: ${(error as Error).message}`);
  }
  const names = `*.apps.${name}.${baseDomain}`.toLowerCase();
  if (names.endsWith(`.${zone}`)) return;
  throw new UsageError(
    `--private-zone-id: the zone ${zone} is not a parent of ${names}: use the zone ${name}.${baseDomain} or a parent of it`,
  );
}

/** Which service is published how, and under which public name. */
function servicesOf(name: string, options: CreateOptions) {
  const {
    endpointAccess: access,
    externalDnsDomain: domain,
    oauthPublishingStrategy: oauth,
  } = options;
  const isPublic = access === "Public";
  const named = (prefix: string, wanted = true) =>
    domain && wanted ? { hostname: `${prefix}-${name}.${domain.replace(/\.$/, "")}` } : undefined;
  const one = (
    service: "APIServer" | "OAuthServer" | "Konnectivity" | "Ignition",
    type: "Route" | "LoadBalancer",
    hostname?: { hostname: string },
  ) => ({
    service,
    servicePublishingStrategy: {
      type,
      ...(hostname && (type === "Route" ? { route: hostname } : { loadBalancer: hostname })),
    },
  });
  return [
    // A private link leads to the router, and to no load balancer of the API server.
    one("APIServer", domain || !isPublic ? "Route" : "LoadBalancer", named("api")),
    one("OAuthServer", oauth, named("oauth")),
    one("Konnectivity", "Route", named("konnectivity", isPublic)),
    one("Ignition", "Route", named("ignition", isPublic)),
  ];
}
