import { KubeClient } from "../../kube/client.ts";
import { fromKubeconfigText } from "../../kube/credentials.ts";
import { isIp } from "../../model/ip.ts";
import type { CapiCluster } from "../../model/kinds/capi-cluster.ts";
import { type Service, service } from "../../model/kinds/core.ts";
import { type Secret, secret } from "../../model/kinds/secret.ts";
import type { ServiceNames } from "./seen.ts";
import { isName } from "./wanted.ts";

const ingressNamespace = "kube-system";
const gatewayNamespace = "envoy-gateway-system";
const ingressLabels = ["ingress-nginx", "nginx-ingress-controller"];
const managedAnnotation = "giantswarm.io/external-dns";
const hostnameAnnotation = "external-dns.alpha.kubernetes.io/hostname";
/** A workload cluster that does not answer must not hold up the names of the others. */
const answerMs = 10_000;

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
  const text = Buffer.from(found?.data?.value ?? "", "base64").toString();
  if (text === "") return undefined;
  const connection = await fromKubeconfigText(text, `in Secret ${namespace}/${name}`);
  const client = new KubeClient(connection, { maxSockets: 2, requestTimeoutMs: answerMs });
  try {
    const [ingress, gateway] = await Promise.all([
      servicesIn(client, ingressNamespace, signal),
      servicesIn(client, gatewayNamespace, signal),
    ]);
    return { ingress, gateway };
  } finally {
    client.close();
  }
}

async function servicesIn(client: KubeClient, namespace: string, signal: AbortSignal) {
  const all: Service[] = [];
  for await (const { items } of client.list<Service>(service, { namespace, signal }))
    all.push(...items);
  return all;
}

/**
 * The names that those Services ask for: of the first ingress controller, and of every gateway. One that has no address
 * yet asks for nothing yet.
 */
export function namesOf({ ingress, gateway }: WorkloadServices, zone: string): ServiceNames {
  const isIngress = ({ metadata }: Service) =>
    ingressLabels.includes(metadata.labels?.["app.kubernetes.io/name"] ?? "");
  const first = ingress.filter((each) => isIngress(each) && asksForName(each)).slice(0, 1);
  const names = new Map<string, { name: string; addresses: string[] }>();
  for (const each of [...first, ...gateway.filter(asksForName)]) {
    const addresses = addressesOf(each);
    if (addresses.length === 0) continue;
    for (const name of hostnamesOf(each).map((hostname) => nameIn(hostname, zone)))
      if (isName(name) && !names.has(name)) names.set(name, { name, addresses });
  }
  return [...names.values()];
}

function asksForName({ metadata, spec }: Service): boolean {
  const managed = metadata.annotations?.[managedAnnotation] === "managed";
  return (
    managed && spec?.type === "LoadBalancer" && Boolean(metadata.annotations?.[hostnameAnnotation])
  );
}

function hostnamesOf({ metadata }: Service): string[] {
  const text = metadata.annotations?.[hostnameAnnotation] ?? "";
  return text.split(",").map((each) => each.trim().toLowerCase().replace(/\.$/, ""));
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
