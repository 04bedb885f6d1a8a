import { type forms, whyUnfit } from "@postern/core/forms.ts";
import { apiVersionOf } from "@postern/core/kind.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { invalid } from "@postern/core/process/usage-error.ts";
import { nameOf, parseResourceId, type ResourceType } from "@postern/core/resource-id.ts";
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
  const services = servicesOf(name, options);
  const violations = violationsOf(name, options, services);
  if (violations.length > 0) throw invalid(violations, "option");
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

/** What the API server, or the operator later, would reject. */
function violationsOf(
  name: string,
  options: CreateOptions,
  services: ReturnType<typeof servicesOf>,
): string[] {
  const { endpointAccess: access, baseDomain, externalDnsDomain } = options;
  const natSubnet = options.endpointAccessPrivateNatSubnetId;
  const additional = options.endpointAccessPrivateAdditionalAllowedSubscriptions ?? [];
  const formed = (what: string, text: string, form: keyof typeof forms) => {
    const why = whyUnfit(text, form);
    return why === undefined ? [] : [`${what} ${why}`];
  };
  const domain = (what: string, text: string) =>
    formed(what, text.toLowerCase().replace(/\.$/, ""), "domain");
  const networks = "Microsoft.Network/virtualNetworks";
  const unusable =
    access !== "Public" || baseDomain.endsWith(".")
      ? whyNamesUnusable({ metadata: { name }, spec: { dns: { baseDomain }, services } })
      : undefined;
  return [
    ...formed("the name of the cluster", name, "label"),
    ...formed("--namespace", options.namespace, "label"),
    ...domain("--base-domain", baseDomain),
    ...(externalDnsDomain ? domain("--external-dns-domain", externalDnsDomain) : []),
    ...formed("--tenant-id", options.tenantId, "guid"),
    ...formed("--subscription-id", options.subscriptionId, "guid"),
    ...formed("--resource-group", options.resourceGroup, "resourceGroup"),
    ...idViolations("--vnet-id", options.vnetId, networks),
    ...idViolations("--subnet-id", options.subnetId, `${networks}/subnets`),
    ...formed("--control-plane-client-id", options.controlPlaneClientId, "guid"),
    ...idViolations("--endpoint-access-private-nat-subnet-id", natSubnet, `${networks}/subnets`),
    ...additional.flatMap((each) =>
      formed("--endpoint-access-private-additional-allowed-subscriptions", each, "guid"),
    ),
    ...(access === "Public" && (natSubnet || additional.length > 0)
      ? [
          "--endpoint-access-private-… requires a private link: set --endpoint-access to Private or PublicAndPrivate",
        ]
      : []),
    ...zoneViolations(name, options),
    ...(unusable === undefined ? [] : [unusable.replace("spec.dns.baseDomain", "--base-domain")]),
  ];
}

/** Why a text is no id of a type. */
function idViolations(option: string, id: string | undefined, type: ResourceType): string[] {
  try {
    if (id !== undefined) parseResourceId(id, type);
    return [];
  } catch (error) {
    return [`${option}: ${(error as Error).message}`];
  }
}

/** A zone that is no parent of the cluster's own names would contain none of them. Whether it exists is asked before the cluster is created. */
function zoneViolations(name: string, { privateZoneId: id, baseDomain }: CreateOptions): string[] {
  const zones = "Microsoft.Network/privateDnsZones";
  const violations = idViolations("--private-zone-id", id, zones);
  if (id === undefined || violations.length > 0) return violations;
  const zone = nameOf(parseResourceId(id, zones)).toLowerCase();
  const names = `*.apps.${name}.${baseDomain}`.toLowerCase();
  if (names.endsWith(`.${zone}`)) return [];
  return [
    `--private-zone-id: the zone ${zone} is not a parent of ${names}: use the zone ${name}.${baseDomain} or a parent of it`,
  ];
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
