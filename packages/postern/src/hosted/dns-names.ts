import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { annotations, internalZoneName } from "./names.ts";

/** What a HostedCluster and its HostedControlPlane have in common. */
type Named = {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: Pick<HostedCluster["spec"], "dns" | "services">;
};

/**
 * The domain under which the cluster's servers have names: what is behind `oauth-<name>.` in the hostname of the OAuth
 * server, else the base domain of the cluster.
 */
export function baseDomainOf({ metadata: { name }, spec }: Named): string | undefined {
  const strategy = spec.services?.find(({ service }) => service === "OAuthServer");
  const { route, loadBalancer } = strategy?.servicePublishingStrategy ?? {};
  const hostname = route?.hostname || loadBalancer?.hostname || "";
  const prefix = `oauth-${name}.`;
  const derived = hostname.toLowerCase().startsWith(prefix) ? hostname.slice(prefix.length) : "";
  return derived || spec.dns?.baseDomain || undefined;
}

const longestLabel = 63;
const longestName = 253;
/** https://learn.microsoft.com/azure/dns/private-dns-privatednszone: a zone has 2 to 34 labels. */
const labels = { fewest: 2, most: 34 };

/** Why the names of a cluster cannot be written to private DNS zones, and what to do; undefined where they can. */
export function whyNamesUnusable(cluster: Named): string | undefined {
  const { metadata, spec } = cluster;
  const given = [
    ["spec.dns.baseDomain", spec.dns?.baseDomain],
    ...(spec.services ?? []).flatMap(({ service, servicePublishingStrategy: by }) =>
      [by.route?.hostname, by.loadBalancer?.hostname].map((each) => [
        `the hostname of ${service}`,
        each,
      ]),
    ),
  ] as const;
  const dotted = given.find(([, each]) => each?.endsWith("."));
  if (dotted !== undefined)
    return `${dotted[0]} ends with a dot · Azure and Kubernetes accept no such name · remove the dot`;
  const domain = baseDomainOf(cluster);
  const internal = `api.${internalZoneName(metadata.name)}`;
  const hosts = domain === undefined ? [internal] : [internal, `oauth-${metadata.name}.${domain}`];
  const long = hosts.find((each) => each.split(".").some((one) => one.length > longestLabel));
  if (long !== undefined)
    return `${shown(long)} cannot be a hostname · one of its labels has more than ${longestLabel} characters · create the cluster with a shorter name or base domain`;
  if (hosts.some((each) => each.length > longestName))
    return `the base domain cannot be used · hostnames in it would have more than ${longestName} characters · create the cluster with a shorter one`;
  const isManaged = (metadata.annotations?.[annotations.zones] ?? "managed") === "managed";
  if (domain === undefined || !isManaged) return undefined;
  // A zone of the domain would hide names of the cluster: each hostname in it gets a zone of its own.
  const zone = hidesNamesOf(cluster, domain) ? `api-${metadata.name}.${domain}` : domain;
  const all = zone.split(".");
  return all.length >= labels.fewest && all.length <= labels.most && !all.includes("")
    ? undefined
    : `${shown(zone)}, of the base domain, cannot be a private DNS zone · Azure allows zones of ${labels.fewest} to ${labels.most} labels, joined by single dots · create the cluster with another base domain`;
}

/** Whether a domain lies above the cluster's own, or is that. */
function hidesNamesOf({ metadata, spec }: Named, domain: string): boolean {
  const own = `.${metadata.name}.${spec.dns?.baseDomain ?? ""}`.toLowerCase();
  return spec.dns?.baseDomain !== undefined && own.endsWith(`.${domain.toLowerCase()}`);
}

function shown(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}
