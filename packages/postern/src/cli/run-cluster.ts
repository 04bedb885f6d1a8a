import { realClock, wait } from "@postern/core/clock.ts";
import { counted } from "@postern/core/counted.ts";
import type { Unread } from "@postern/core/dashboard/picture.ts";
import { isExplained } from "@postern/core/failure.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { namespace as namespaceKind, type Service, service } from "@postern/core/kinds/core.ts";
import { type HostedCluster, hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { privateAccess } from "@postern/core/kinds/private-access.ts";
import { secret, secretValue } from "@postern/core/kinds/secret.ts";
import { type Format, isText, print, show } from "@postern/core/process/output.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { writeWhole } from "@postern/core/process/whole-file.ts";
import { parseResourceId, resourceGroupId } from "@postern/core/resource-id.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import { shellWord } from "@postern/core/shell.ts";
import { privateDnsZones } from "../azure/gateways/private-dns.ts";
import { annotations, clusterAnnotation } from "../hosted/names.ts";
import { portableKubeconfig } from "../kube/portable-kubeconfig.ts";
import { gatherKube } from "../view/gather.ts";
import { type Deleted, findLeftovers, type Leftover } from "../view/leftovers.ts";
import type { KubeWorld } from "../view/world.ts";
import { CommandFailure } from "./command-failure.ts";
import { findClusterKey } from "./find-cluster-key.ts";
import { notRead, table } from "./output.ts";
import type { Session } from "./session.ts";

const minuteMs = 60_000;
const pollEveryMs = 2_000;

/** Create the namespace if it does not exist, and the cluster in it. Returns warnings about what could not be checked. */
export async function createCluster(session: Session, object: KubeObject): Promise<string[]> {
  const { kube, signal } = session;
  const warnings = await checkPrivateZone(session, object);
  const name = object.metadata.namespace ?? "default";
  const found = await kube.get({ kind: namespaceKind, name }, signal);
  if (found === undefined) await kube.create(namespaceKind, { metadata: { name } }, signal);
  await kube.create(hostedCluster, object, signal);
  return warnings;
}

/** A zone that does not exist is rejected; where that cannot be read, a warning says so. */
async function checkPrivateZone({ reading }: Session, object: KubeObject): Promise<string[]> {
  const { dns } = (object as { spec?: { dns?: { privateZoneID?: string } } }).spec ?? {};
  if (dns?.privateZoneID === undefined) return [];
  const id = parseResourceId(dns.privateZoneID, "Microsoft.Network/privateDnsZones");
  try {
    if ((await privateDnsZones(reading).get(id)) !== undefined) return [];
  } catch (error) {
    if (!isExplained(error)) throw error;
    return [`Warning: could not check whether ${id} exists: ${error.explain().message}`];
  }
  throw new UsageError(
    `--private-zone-id: ${id} does not exist: create it, correct the id, or omit the option`,
  );
}

/** Delete a cluster and wait until it is deleted. */
export async function destroyCluster(
  session: Session,
  name: string,
  options: { output: Format; gracePeriod?: number; force?: boolean },
): Promise<void> {
  const { kube, signal } = session;
  const { cluster, world: before } = await clusterCalled(session, name, { suggests: false });
  const key = keyOf(cluster);
  const links = before.links.filter(
    ({ metadata }) => metadata.annotations?.[clusterAnnotation] === key,
  );
  const place = {
    kind: hostedCluster,
    namespace: cluster.metadata.namespace,
    name: cluster.metadata.name,
  };
  const uid = cluster.metadata.uid ?? "";
  const graceMs = (options.gracePeriod ?? (isPrivate(cluster) ? 20 : 10)) * minuteMs;
  const progress = (line: string) => {
    if (isText(options.output)) print(line);
  };
  await kube.remove(place, signal);
  let until = realClock.now() + graceMs;
  let printed = "";
  let givenUp = false;
  for (;;) {
    const unread: Unread[] = [];
    const world = await gatherKube({ kube, signal }, unread);
    const [hidden] = unread;
    if (hidden)
      throw new CommandFailure(
        `cannot check whether ${key} is deleted, because ${hidden.what} could not be read: ${hidden.why} · the deletion continues`,
      );
    const left = leftOf(key, uid, world);
    if (left === undefined) break;
    if (left !== printed) progress(left);
    printed = left;
    if (realClock.now() > until) {
      if (!options.force || givenUp)
        throw new CommandFailure(
          `${key} was not deleted within ${counted(Math.round(graceMs / minuteMs), "minute")} · ${left} · the deletion continues; check postern tree ${key}`,
        );
      progress(
        "The grace period is over. The remaining resources in the hosted cluster's subscription are abandoned.",
      );
      await kube.patch(
        place,
        "merge",
        // With the uid: a cluster that was recreated under this name is another.
        { metadata: { uid, annotations: { [annotations.abandon]: "true" } } },
        { signal },
      );
      givenUp = true;
      until = realClock.now() + graceMs;
    }
    await wait(realClock, pollEveryMs, signal);
  }
  await reportLeftovers(session, { cluster, links }, options.output);
}

/** Report what remains of a deleted cluster in Azure, and what could not be searched. It is a success only if both are empty. */
async function reportLeftovers(session: Session, deleted: Deleted, output: Format): Promise<void> {
  const key = keyOf(deleted.cluster);
  const { AZURE_SUBSCRIPTION_ID: subscription, AZURE_RESOURCE_GROUP: name } = session.env;
  const group = subscription && name ? resourceGroupId(subscription, name) : undefined;
  const { leftovers, unread } = await findLeftovers(session.reading, deleted, group);
  const isClean = leftovers.length + unread.length === 0;
  if (!isClean) process.exitCode = 3;
  const recorded = unread.length > 0 ? recordedIn(deleted) : [];
  show(output, { deleted: key, leftovers, recorded, unread }, () => {
    if (isClean) return `${key} was deleted.`;
    const lines = [`${key} was deleted from Kubernetes.`, ...notRead(unread)];
    if (leftovers.length > 0)
      lines.push(
        "These resources remain in Azure:",
        table(
          ["WHAT", "FOUND BY", "ID"],
          leftovers.map(({ what, by, id }) => [what, by, id]),
        ),
      );
    if (unread.length > 0)
      lines.push(
        "These resources were recorded in its status and may still exist:",
        ...recorded.map((id) => `  ${id}`),
      );
    return [...lines, `To delete them: ${deletionOf(deleted, leftovers)}`].join("\n");
  });
}

/** The command that deletes what remains of a cluster. No object names the subscription and the id of a deleted cluster. */
function deletionOf({ cluster }: Deleted, leftovers: readonly Leftover[]): string {
  const { clusterID, platform } = cluster.spec;
  const subscription = platform?.azure?.subscriptionID;
  const ids = leftovers.flatMap(({ by, id }) => (by === "name" ? [id] : []));
  return [
    "postern orphans",
    ...(subscription ? [`--subscription ${shellWord(subscription)}`] : []),
    "--delete",
    ...(clusterID ? [`--cluster ${shellWord(clusterID)}`] : []),
    ...(ids.length > 0 ? [`--resource ${ids.map(shellWord).join(" ")}`] : []),
  ].join(" ");
}

/** What the links of a cluster recorded in their status. */
function recordedIn({ links }: Deleted): string[] {
  const ids = links.flatMap(({ status }) => [
    status?.privateLinkServiceID,
    status?.privateEndpointID,
    status?.privateDNSZoneID,
    status?.baseDomainDNSZoneID,
  ]);
  return [...new Set(ids.flatMap((id) => id ?? []))];
}

/** What is still there of a cluster, in words; undefined when all of it is gone. */
function leftOf(key: string, uid: string, world: KubeWorld): string | undefined {
  const requeue = world.hostedClusters.find((each) => keyOf(each) === key);
  if (requeue !== undefined && requeue.metadata.uid !== uid) return undefined;
  const links = world.links.filter(
    ({ metadata }) => metadata.annotations?.[clusterAnnotation] === key,
  );
  const waits = links.flatMap(({ metadata, status }) => {
    const unmet = status?.conditions?.find(({ status: is }) => is !== "True");
    return [
      `${azurePrivateLinkService.kind} ${keyOf({ metadata })}: ${messageInSentences(unmet?.message ?? "being deleted")}`,
    ];
  });
  if (waits.length > 0) return waits.join(" ");
  if (world.controlPlanes.some(({ metadata }) => metadata.annotations?.[clusterAnnotation] === key))
    return "The control plane is being deleted.";
  return requeue === undefined ? undefined : "The HostedCluster is being deleted.";
}

/** A kubeconfig that reaches a hosted cluster from here. */
export async function accessTo(
  session: Session,
  name: string,
  portForward: boolean,
): Promise<{ kubeconfig: string; hint?: string }> {
  const { kube, signal } = session;
  const { cluster, world } = await clusterCalled(session, name);
  const key = keyOf(cluster);
  const controlPlane = world.controlPlanes.find(
    ({ metadata }) => metadata.annotations?.[clusterAnnotation] === key,
  );
  const namespace = controlPlane?.metadata.namespace;
  const found =
    namespace === undefined
      ? undefined
      : await kube.get({ kind: secret, namespace, name: "admin-kubeconfig" }, signal);
  const text = Buffer.from(secretValue(found, "kubeconfig") ?? "", "base64").toString("utf8");
  if (namespace === undefined || text === "")
    throw new CommandFailure(
      `the kubeconfig of ${key} does not exist yet · its control plane creates Secret ${namespace ?? "…"}/admin-kubeconfig · wait until the control plane is available`,
    );
  const theirs = { text, source: `in Secret ${namespace}/admin-kubeconfig` };
  if (!portForward)
    return {
      kubeconfig: await portableKubeconfig(theirs, { name: key }),
      ...(isPrivate(cluster) && {
        hint: "The API server is reachable only from the cluster's network. From elsewhere, use --port-forward.",
      }),
    };
  const port = await apiServerPort(session, namespace);
  return {
    kubeconfig: await portableKubeconfig(theirs, {
      name: key,
      server: `https://localhost:${port}`,
    }),
    hint: `In another terminal, run: kubectl port-forward -n ${namespace} service/kube-apiserver ${port}:${port}`,
  };
}

/** Write a kubeconfig that only its owner can read. */
export function writeKubeconfig(file: string, kubeconfig: string): void {
  try {
    writeWhole(file, kubeconfig, 0o600);
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    throw new UsageError(`cannot write ${file}: ${code}; use another file with --file`, { cause });
  }
}

/** The port of the Service of an API server. There is nothing to forward to where the Service is missing or being deleted. */
async function apiServerPort({ kube, signal }: Session, namespace: string): Promise<number> {
  const name = "kube-apiserver";
  const found: Service | undefined = await kube.get({ kind: service, namespace, name }, signal);
  const port = found?.spec?.ports?.[0]?.port;
  if (found !== undefined && found.metadata.deletionTimestamp === undefined && port !== undefined)
    return port;
  const state =
    found === undefined
      ? "does not exist"
      : port === undefined
        ? "has no port"
        : "is being deleted";
  throw new CommandFailure(
    `cannot forward a port: Service ${namespace}/${name} ${state} · it is created with the control plane · wait until the control plane is available`,
  );
}

async function clusterCalled(
  { kube, signal }: Session,
  name: string,
  options: { suggests?: boolean } = {},
): Promise<{ cluster: HostedCluster; world: KubeWorld }> {
  const unread: Unread[] = [];
  const world = await gatherKube({ kube, signal }, unread);
  const key = findClusterKey(name, world, unread, options);
  const cluster = world.hostedClusters.find((each) => keyOf(each) === key);
  if (cluster === undefined) throw new UsageError(`${key} is not a HostedCluster`);
  return { cluster, world };
}

function isPrivate({ spec }: HostedCluster): boolean {
  const azure = spec.platform?.azure;
  try {
    return azure !== undefined && privateAccess(azure).topology !== "Public";
  } catch {
    // Its spec contradicts itself: it may still have a link.
    return true;
  }
}
