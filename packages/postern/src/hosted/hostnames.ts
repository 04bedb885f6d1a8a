import { plainName } from "@postern/core/dns-name.ts";
import { byAge, type KubeObject } from "@postern/core/kind.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { allowsHost, openPolicy, type TenantPolicy } from "@postern/core/tenant-policy.ts";
import type { WatchCache } from "../kube/cache.ts";
import { controlPlaneNamespace } from "./names.ts";

/** The annotation by which external-dns learns the hostname of a Service or Route. */
export const externalDnsAnnotation = "external-dns.alpha.kubernetes.io/hostname";

/** The index of HostedClusters by the hostnames that they ask for. */
export const byHostname = "hostname";

/** The index of Services and Routes by the hostnames that they publish. */
export const byPublishedHostname = "published hostname";

/** Every hostname that a cluster asks for, in lower case. */
export function hostnamesOf({ spec }: HostedCluster): string[] {
  const all = (spec.services ?? []).flatMap(({ servicePublishingStrategy: by }) => [
    by.route?.hostname ?? "",
    by.loadBalancer?.hostname ?? "",
  ]);
  return [...new Set(all.filter((each) => each !== "").map(plainName))];
}

/** The hostnames that a Service or Route publishes, in lower case. */
export function publishedHostnames(object: KubeObject): string[] {
  const annotated = object.metadata.annotations?.[externalDnsAnnotation]?.split(",") ?? [];
  const { host } = (object as { spec?: { host?: string } }).spec ?? {};
  const all = [...annotated, host ?? ""].map((each) => plainName(each.trim()));
  return [...new Set(all.filter((each) => each !== ""))];
}

/** Where to find who asks for a hostname, and who publishes it. */
export interface HostnameSources {
  /** With the index `byHostname`. */
  clusters: Pick<WatchCache<HostedCluster>, "byIndex">;
  /** Services and Routes, with the index `byPublishedHostname`. */
  published: readonly Pick<WatchCache<KubeObject>, "byIndex">[];
}

/**
 * The one cluster that may publish a hostname, of all that ask for it. A cluster that publishes it keeps it: a HostedCluster may be
 * old and ask for a hostname only now.
 *
 *     asked for by                       →
 *     clusters that the policy forbids   they prevent nobody else from having it
 *     one that publishes it              that one; of several, the oldest
 *     none that publishes it             the oldest
 */
export function hostnameOwner(
  hostname: string,
  { clusters, published }: HostnameSources,
  policy: TenantPolicy = openPolicy,
): HostedCluster | undefined {
  const host = plainName(hostname);
  const asking = clusters
    .byIndex(byHostname, host)
    .filter(({ metadata }) => allowsHost(policy.rulesOf(metadata.namespace ?? ""), host))
    .sort(byAge);
  if (asking.length < 2) return asking[0];
  const where = new Set(
    published.flatMap((cache) =>
      cache.byIndex(byPublishedHostname, host).map(({ metadata }) => metadata.namespace),
    ),
  );
  const publishes = ({ metadata: { namespace = "", name } }: HostedCluster) =>
    where.has(controlPlaneNamespace(namespace, name));
  return asking.find(publishes) ?? asking[0];
}
