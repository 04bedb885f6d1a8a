import { plainName } from "@postern/core/dns-name.ts";
import { isIp } from "@postern/core/ip.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { type Service, service } from "@postern/core/kinds/core.ts";
import { type Secret, secret, secretValue } from "@postern/core/kinds/secret.ts";
import type { KubeClient } from "../../../kube/client.ts";
import { tenantCluster } from "../../../kube/tenant-cluster.ts";
import type { ServiceNames } from "../observed.ts";
import { isName } from "../zones/desired.ts";

const ingressNamespace = "kube-system";
const gatewayNamespace = "envoy-gateway-system";
const nameLabel = "app.kubernetes.io/name";
const ingressLabels = ["ingress-nginx", "nginx-ingress-controller"];
const managedAnnotation = "giantswarm.io/external-dns";
const hostnameAnnotation = "external-dns.alpha.kubernetes.io/hostname";
/** The answers are those of a server that a tenant runs, and each name becomes a DNS record. */
const most = { services: 1_000, names: 100, addresses: 16, annotationLength: 8_192 };
/** A page is parsed on the event loop, so it is a small one. */
const page = { size: 50, bytes: 1_048_576 };
const mostPages = most.services / page.size;

/** The Services of a workload cluster that may ask for names. */
export interface WorkloadServices {
  ingress: readonly Service[];
  gateway: readonly Service[];
}

/** Ask a workload cluster for its Services, by the kubeconfig that Cluster API keeps for it. */
export async function workloadServices(
  { metadata }: CapiCluster,
  kube: KubeClient,
  signal: AbortSignal,
): Promise<WorkloadServices | undefined> {
  const { namespace } = metadata;
  const name = `${metadata.name}-kubeconfig`;
  const found = await kube.get<Secret>({ kind: secret, namespace, name }, signal);
  const value = secretValue(found, "value") ?? "";
  if (value === "") return undefined;
  const source = `in Secret ${namespace}/${name}`;
  const kubeconfig = { value, source, answerBytes: page.bytes };
  return tenantCluster(kube.connection, kubeconfig, async (client) => {
    const [ingress, gateway] = await Promise.all([
      servicesIn(client, ingressNamespace, signal),
      servicesIn(client, gatewayNamespace, signal),
    ]);
    return { ingress, gateway };
  });
}

async function servicesIn(client: KubeClient, namespace: string, signal: AbortSignal) {
  const all: Service[] = [];
  let pages = 0;
  const listOptions = { namespace, signal, pageSize: page.size };
  for await (const { items } of client.list<Service>(service, listOptions)) {
    if (!Array.isArray(items)) break;
    for (const item of items.slice(0, most.services - all.length)) all.push(...serviceIn(item));
    pages += 1;
    if (items.length === 0 || all.length >= most.services || pages >= mostPages) break;
  }
  return all;
}

/** What is read of a Service, where it has the form of one. */
function serviceIn(item: unknown): Service[] {
  const { metadata, spec, status } = objectIn(item);
  const { name, labels, annotations } = objectIn(metadata);
  const { ingress } = objectIn(objectIn(status).loadBalancer);
  const ips = (Array.isArray(ingress) ? ingress.slice(0, most.addresses) : []).flatMap((each) =>
    textIn(each, "ip"),
  );
  if (typeof name !== "string") return [];
  const pick = (from: unknown, key: string) =>
    Object.fromEntries(textIn(from, key).map((text) => [key, text]));
  return [
    {
      metadata: {
        name,
        labels: pick(labels, nameLabel),
        annotations: {
          ...pick(annotations, managedAnnotation),
          ...pick(annotations, hostnameAnnotation),
        },
      },
      spec: pick(spec, "type"),
      status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
    },
  ];
}

function objectIn(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textIn(value: unknown, key: string): string[] {
  const object = objectIn(value);
  const text = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof text === "string" && text.length <= most.annotationLength ? [text] : [];
}

/**
 * The names that those Services ask for: of the first ingress controller, and of every gateway. One that has no address
 * yet requests nothing yet.
 */
export function namesOf({ ingress, gateway }: WorkloadServices, zone: string): ServiceNames {
  const isIngress = ({ metadata }: Service) =>
    ingressLabels.includes(metadata.labels?.[nameLabel] ?? "");
  const first = ingress.filter((each) => isIngress(each) && hasNameAnnotation(each)).slice(0, 1);
  const names = new Map<string, { name: string; addresses: string[] }>();
  for (const each of [...first, ...gateway.filter(hasNameAnnotation)]) {
    const addresses = addressesOf(each);
    if (addresses.length === 0) continue;
    for (const name of hostnamesOf(each).map((hostname) => nameIn(hostname, zone)))
      if (isRecordName(name) && !names.has(name) && names.size < most.names)
        names.set(name, { name, addresses });
  }
  return [...names.values()];
}

/** A wildcard below a name, such as `*.apps`, is one too. That of the zone itself is not: it leads where the annotation says. */
function isRecordName(name: string): boolean {
  return isName(name.startsWith("*.") ? name.slice(2) : name);
}

function hasNameAnnotation({ metadata, spec }: Service): boolean {
  const managed = metadata.annotations?.[managedAnnotation] === "managed";
  return (
    managed && spec?.type === "LoadBalancer" && Boolean(metadata.annotations?.[hostnameAnnotation])
  );
}

function hostnamesOf({ metadata }: Service): string[] {
  const text = metadata.annotations?.[hostnameAnnotation] ?? "";
  return text.split(",").map((each) => plainName(each.trim()));
}

/** The name below a zone; one of another domain is kept whole, as it always was. */
function nameIn(hostname: string, zone: string): string {
  const end = `.${zone.toLowerCase()}`;
  return hostname.endsWith(end) ? hostname.slice(0, -end.length) : hostname;
}

function addressesOf({ status }: Service): string[] {
  const given = status?.loadBalancer?.ingress ?? [];
  return [...new Set(given.flatMap(({ ip }) => (ip && isIp(ip) ? [ip] : [])))];
}
