import type { Stored } from "@postern/kubernetes-embedded/resource.ts";
import { frontendName } from "@postern/local/cloud-provider/names.ts";
import { type Action, attack, formatActions } from "./attack.ts";
import { clientIds, groups, legacyID, subscriptions, tenant } from "./azure.ts";
import { HyperShift } from "./hypershift.ts";
import type { Kubernetes } from "./kubernetes.ts";
import {
  Comparison,
  constant,
  hostileNamespaces,
  hostilePlaces,
  Names,
  own,
  type State,
  stateOf,
} from "./observe.ts";
import type { Variant } from "./variant.ts";
import { clusterID, hosted, prepare, stages, workload } from "./victim.ts";
import { startWorld, type World } from "./world.ts";

for (const each of [...Object.values(clientIds), clusterID, legacyID, tenant]) constant(each);

/** The identities of the victim. */
const victims = ["blue", "two"];

/** Those that the attacker may use. */
const attackers = ["evil", "shared"];

/** Everything that was observed in one run. */
export interface Observed {
  /** What exists at the end of each stage. */
  states: State[];
  /** Requests to Azure: who, what, where. */
  requests: Set<string>;
  /** Tokens that Entra issued, by identity. */
  tokens: Map<string, number>;
  /** When the operator read the data of each Secret, and asked for a token of each service account, of the victim. */
  reads: Map<string, number[]>;
  /** When each cluster of the victim became available, stopped being so, and was gone, in simulated seconds. */
  times: Map<string, number>;
  /** When the attacker's own hosted cluster became available, in simulated seconds. */
  attackerAvailable: number | undefined;
  /** Hostnames that the operator gave to Routes in hostile namespaces. */
  hosts: Set<string>;
  /** What the operator tells the attacker of the victim, in conditions and events, that the attacker did not write itself. */
  told: Set<string>;
}

/** Stages in the middle of which everything moves: only their ends are compared, and these are not ends. */
const moving = new Set(["provisioning", "deleting"]);

/** Run the victim's life, with an attacker beside it; up to this stage, where it is given. */
export async function run(
  kubernetes: Kubernetes,
  variant: Variant,
  actions: readonly Action[],
  until = stages.length,
): Promise<Observed> {
  const reads = new Map<string, number[]>();
  let now = () => 0;
  kubernetes.requested = ({ method, url = "", headers }) => {
    const [path = ""] = url.split("?");
    const isSecret = method === "GET" && /\/secrets(\/[^/]+)?$/.test(path);
    // Metadata say who may use a Secret, and are no credential.
    const isData = isSecret && !headers.accept?.includes("as=PartialObjectMetadata");
    const isToken = method === "POST" && /\/serviceaccounts\/[^/]+\/token$/.test(path);
    if (headers["user-agent"] !== "postern-test" || !(isData || isToken)) return;
    const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? "";
    // Everybody may act by the identity that the platform team shares.
    if (path.endsWith("/org-mc/secrets/shared")) return;
    if (["", workload.namespace, hosted.controlPlane, "org-mc"].includes(namespace))
      reads.set(path, [...(reads.get(path) ?? []), now()]);
  };
  const hyperShift = variant.hyperShift ? new HyperShift() : undefined;
  const beside = hyperShift && ((each: World) => hyperShift.step(each));
  const world = await startWorld(kubernetes, variant, beside);
  now = () => world.clock.now();
  try {
    const names = new Names(world);
    const followed = follow(world);
    await prepare(world, hostileNamespaces);
    const states: State[] = [];
    const told = new Set<string>();
    for (const [n, { ms, act }] of stages.slice(0, until).entries()) {
      const due = actions
        .filter(({ stage }) => stage === n)
        .toSorted((a, b) => a.seconds - b.seconds);
      const end = world.clock.now() + ms;
      const start = world.clock.now();
      await act(world);
      for (const each of due) {
        const at = Math.min(start + each.seconds * 1000, end);
        if (at > world.clock.now()) await world.advance(at - world.clock.now());
        await attack(world, each);
      }
      await world.advance(end - world.clock.now());
      states.push(stateOf(world, names));
      for (const each of mentions(world, actions)) told.add(each);
    }
    const { log, directory } = world.azure.simulator;
    const requests = new Set<string>();
    for (const { identity, method, path, status } of log.entries()) {
      const who = directory.find(identity)?.displayName ?? identity;
      if (status !== 403) requests.add(names.ofRequest(`${who} ${method} ${path}`).toLowerCase());
    }
    const tokens = new Map<string, number>();
    for (const { identity } of world.azure.issued)
      tokens.set(identity, (tokens.get(identity) ?? 0) + 1);
    return { states, requests, tokens, reads, ...followed, told };
  } finally {
    await world.close();
  }
}

/** Note when the clusters of the victim change, and which hostnames the operator gives away. */
function follow({ api, clock }: World): Pick<Observed, "times" | "hosts" | "attackerAvailable"> {
  const times = new Map<string, number>();
  const hosts = new Set<string>();
  const followed: ReturnType<typeof follow> = { times, hosts, attackerAvailable: undefined };
  const begun = clock.now();
  const now = () => (clock.now() - begun) / 1000;
  const clusters: Record<string, { key: string; condition: string }> = {
    "hostedclusters.hypershift.openshift.io": {
      key: `${hosted.namespace}/${hosted.name}`,
      condition: "AzurePrivateLinkServiceAvailable",
    },
    "azureclusters.infrastructure.cluster.x-k8s.io": {
      key: `${workload.namespace}/${workload.name}`,
      condition: "GSDNSZoneReady",
    },
  };
  api.store.watch(undefined, ({ type, collection, entry: { key, object } }) => {
    if (collection === "routes.route.openshift.io") {
      const managers = (object.metadata.managedFields ?? []) as FieldManager[];
      // The attacker may write any host into a Route that the operator created.
      const given = managers.some(
        ({ manager = "", fieldsV1 }) =>
          manager.startsWith("postern") && fieldsV1?.["f:spec"]?.["f:host"] !== undefined,
      );
      const { host } = (object.spec ?? {}) as { host?: string };
      const hostile = object.metadata.namespace !== hosted.controlPlane;
      if (hostile && host !== undefined && given) hosts.add(host);
    }
    const cluster = clusters[collection];
    const isAttackers = key === `${own.namespace}/${own.name}`;
    if (cluster === undefined || (cluster.key !== key && !isAttackers)) return;
    if (isAttackers) {
      const found = conditionsOf(object).find((each) => each.type === cluster.condition);
      if (found?.status === "True") followed.attackerAvailable ??= now();
      return;
    }
    if (type === "DELETED") times.set(`${key} is gone`, now());
    if (object.metadata.deletionTimestamp !== undefined) return;
    const found = conditionsOf(object).find((each) => each.type === cluster.condition);
    const available = `${key} is available`;
    if (found?.status === "True" && !times.has(available)) times.set(available, now());
    if (found?.status !== "True" && times.has(available))
      times.set(`${key} is not available any more: ${found?.reason} ${found?.message}`, now());
  });
  return followed;
}

interface FieldManager {
  manager?: string;
  fieldsV1?: { "f:spec"?: { "f:host"?: object } };
}

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}

function conditionsOf({ status }: Stored): Condition[] {
  return (status as { conditions?: Condition[] } | undefined)?.conditions ?? [];
}

const victimNamespaces: string[] = [hosted.namespace, hosted.controlPlane, workload.namespace];

/** Messages in namespaces of the attacker that contain names and ids of the victim's objects, unless the attacker wrote them. */
function mentions(world: World, actions: readonly Action[]): string[] {
  const objects = world.objects();
  const written = JSON.stringify(actions);
  const uids = objects
    .filter(({ object }) => victimNamespaces.includes(object.metadata.namespace ?? ""))
    .flatMap(({ object: { metadata } }) => [metadata.uid, frontendName(metadata.uid)]);
  const isKnown = (name: string) => written.includes(name);
  const names = [`${hosted.namespace}/${hosted.name}`, workload.namespace, clusterID];
  const secret = [...names.filter((each) => !isKnown(each)), ...(isKnown("Uid") ? [] : uids)];
  return objects
    .filter(
      ({ object }) => ![...victimNamespaces, "org-mc"].includes(object.metadata.namespace ?? ""),
    )
    .flatMap(({ collection, object }) => {
      const { conditions = [] } = (object.status ?? {}) as { conditions?: { message?: string }[] };
      const { note, message } = object as { note?: string; message?: string };
      return [...conditions.map((each) => each.message), note, message]
        .filter((text) => text !== undefined && secret.some((each) => text.includes(each)))
        .map(
          (text) =>
            `in ${collection} ${object.metadata.namespace}/${object.metadata.name}: ${text}`,
        );
    });
}

/**
 * How much later than alone something of the victim may happen, in seconds: load balancers and networks are shared, Azure takes
 * one write to them at a time, and the attacker may have two clusters of its own under way.
 */
const tolerance = 30;

/** The management cluster's identity acts for every cluster, so its Secret is read again while there is one, but no earlier than this. */
const sharedSecretAgeMs = 5 * 60_000;

function isOftenerThan(times: readonly number[], ms: number): boolean {
  return times.some((time, n) => n > 0 && time - (times[n - 1] ?? 0) < ms);
}

/** What the attacker has changed for the victim; empty where the law holds. */
export function violations(variant: Variant, baseline: Observed, found: Observed): string[] {
  const comparison = new Comparison(everythingIn(baseline));
  const wrong: string[] = [];
  for (const [n, { name }] of stages.entries()) {
    const [expected, state] = [baseline.states[n], found.states[n]];
    if (moving.has(name) || !expected || !state) continue;
    for (const each of comparison.differences(expected, state)) wrong.push(`at "${name}": ${each}`);
  }
  for (const request of found.requests)
    if (!baseline.requests.has(request) && isForbidden(request)) wrong.push(`request: ${request}`);
  // The management cluster's own identity acts for every cluster, but nobody else may sign in as it.
  for (const identity of [...victims, "mc"]) {
    const [alone = 0, now = 0] = [baseline.tokens.get(identity), found.tokens.get(identity)];
    if (now > alone) wrong.push(`tokens for ${identity}: ${now} instead of ${alone}`);
  }
  for (const [path, times] of found.reads) {
    const alone = baseline.reads.get(path)?.length ?? 0;
    const isShared = path.endsWith("/org-mc/secrets/mc");
    const tooOften = isShared ? isOftenerThan(times, sharedSecretAgeMs) : times.length > alone;
    if (tooOften) wrong.push(`the operator uses ${path} at ${times} ms, alone ${alone} times`);
  }
  for (const [what, at] of baseline.times) {
    if (!/ is (available|gone)$/.test(what)) continue;
    if (found.states.length < stages.length && what.endsWith(" is gone")) continue;
    const now = found.times.get(what);
    if (now === undefined) wrong.push(`never: ${what}`);
    else if (now > at + tolerance) wrong.push(`${what} after ${now} s instead of ${at} s`);
  }
  for (const [what, at] of found.times)
    if (!baseline.times.has(what)) wrong.push(`after ${at} s: ${what}`);
  for (const host of found.hosts)
    if (variant.forbiddenHosts.test(host)) wrong.push(`a Route for ${host}`);
  for (const each of found.told) wrong.push(`the attacker is told ${each}`);
  return wrong;
}

const victimPlaces = [`/subscriptions/${subscriptions.blue}`, clusterID, legacyID, "/legacy"];

/** Whether a request that the victim does not cause is made with its credential, or on what belongs to it. */
function isForbidden(request: string): boolean {
  const [who = "", method = "", path = ""] = request.split(" ");
  if (victims.includes(who)) return true;
  if (method === "get" && (!attackers.includes(who) || path.includes("/operations/"))) return false;
  if (hostilePlaces.some((each) => path === each || path.startsWith(`${each}/`))) return false;
  return victimPlaces.some((place) => path.includes(place)) || path === groups.management;
}

function everythingIn({ states }: Observed): State {
  return {
    azure: new Map(states.flatMap(({ azure }) => [...azure])),
    kubernetes: new Map(states.flatMap(({ kubernetes }) => [...kubernetes])),
  };
}

/** An attack as a person reads and repeats it. */
export function formatAttack(actions: readonly Action[]): string {
  return formatActions(
    actions,
    stages.map(({ name }) => name),
  );
}
