import { setTimeout as sleep } from "node:timers/promises";
import type { FaultRule } from "@postern/azure-simulator/control/fault-rule.ts";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { JsonObject, Resource } from "@postern/azure-simulator/state/store.ts";
import type { ControlPlane } from "../setup/control-plane.ts";
import type { Clusters } from "./clusters.ts";
import type { Fleet } from "./fleet.ts";
import type { KubernetesProxy } from "./kubernetes-proxy.ts";
import {
  type Assignment,
  groups,
  location,
  machineId,
  machineInterface,
  network,
  networkIn,
  poolId,
  posternPrefix,
} from "./places.ts";
import type { Entry } from "./plan.ts";

/** All that deeds are done to. */
export interface Stage {
  simulator: Simulator;
  plane: ControlPlane;
  proxy: KubernetesProxy;
  fleet: Fleet;
  clusters: Clusters;
  assignments: readonly Assignment[];
  /** The ids that were there before Postern began, in lower case. */
  baseline: ReadonlySet<string>;
  /** What others made meanwhile, which must stay as it is: by id in lower case, as it was written. */
  strangers: Map<string, JsonObject>;
  /** How many simulated seconds pass in one. */
  speed: number;
  /** The program that leads by a Lease, and those that wait for it. */
  leaders(): { leader: string; followers: string[] }[];
  /** Whether a cluster said that it is available, and was, when somebody last looked. */
  isAvailable(cluster: string): boolean;
  /** Told when the API server is away, and when it is back. */
  apiServerAway(away: boolean): void;
}

/** Do one thing. What Azure refuses, or what does not apply now, is not done. */
export async function perform(entry: Entry, stage: Stage): Promise<void> {
  const { simulator, proxy, fleet, clusters, plane, speed } = stage;
  const realMs = (seconds: number) => (seconds * 1000) / speed;
  switch (entry.do) {
    case "create":
    case "delete":
    case "change":
    case "pause":
    case "unpause":
      return clusters.act(entry.do, entry.cluster, entry.variant);
    case "delete all":
      await Promise.all([...clusters.wishes.keys()].map((name) => clusters.act("delete", name, 0)));
      return;
    case "machine event": {
      const imds = await simulator.machines.find(machineId(entry.machine));
      const id = imds?.schedule({ type: entry.type, noticeMs: realMs(120) });
      await sleep(realMs(150));
      // The machine goes, and comes back some minutes later; nobody tells of the event any more.
      fleet.kill(entry.machine, realMs(60));
      if (id !== undefined) imds?.events.end(id);
      return;
    }
    case "evict":
      return ignoringRefusals(() => {
        changeBy(simulator, machineInterface(entry.machine), (body) => {
          const [first] = (body.properties as JsonObject).ipConfigurations as {
            properties: JsonObject;
          }[];
          if (first) first.properties.loadBalancerBackendAddressPools = [];
        });
        changeBy(simulator, poolId, (body) => {
          (body.properties as JsonObject).loadBalancerBackendAddresses = [];
        });
      });
    case "drop": {
      const found = pickOf(stage, entry.pick);
      if (found) ignoringRefusals(() => simulator.drop(found.id));
      return;
    }
    case "modify": {
      const found = pickOf(stage, entry.pick, (resource) => !isUnmarkedRecord(resource));
      if (found) ignoringRefusals(() => modify(simulator, found, entry.variant));
      return;
    }
    case "retag": {
      // Only what a cluster has published is still known to be its own.
      const found = pickOf(stage, entry.pick, (resource) => isPublished(stage, resource));
      if (found) ignoringRefusals(() => retag(simulator, found, entry.variant));
      return;
    }
    case "stranger":
      return ignoringRefusals(() => addStranger(stage, entry.n, entry.variant));
    case "Azure fails": {
      const { effect, share, writes, forSeconds, n } = entry;
      const scaled =
        "ms" in effect && effect.ms !== undefined
          ? { ...effect, ms: realMs(effect.ms / 1000) }
          : effect;
      const match = writes ? { method: "PUT,PATCH,DELETE,POST" } : {};
      const rules: FaultRule["match"][] = [
        { ...match, identity: `${posternPrefix}*` },
        { ...match, path: `${groups.appliances}/*` },
      ];
      rules.forEach((each, at) => {
        simulator.addFault({
          id: `storm-${n}-${at}`,
          match: each,
          effect: scaled,
          probability: share,
          forMs: realMs(forSeconds),
        });
      });
      return;
    }
    case "refuse tokens":
      simulator.addFault({
        id: `storm-${entry.n}`,
        match: { path: "*/oauth2/v2.0/token" },
        effect: {
          kind: "answer",
          status: 401,
          body: { error: "invalid_client", error_description: "AADSTS7000215: made by the storm." },
        },
        forMs: realMs(entry.forSeconds),
      });
      simulator.addFault({
        id: `storm-${entry.n}-use`,
        match: { identity: `${posternPrefix}*` },
        effect: {
          kind: "answer",
          status: 401,
          body: { error: { code: "InvalidAuthenticationToken", message: "made by the storm" } },
        },
        forMs: realMs(entry.forSeconds),
      });
      return;
    case "revoke": {
      const { assignments } = stage;
      const taken = assignments[Math.floor(entry.pick * assignments.length)];
      if (!taken) return;
      ignoringRefusals(() => simulator.drop(taken.id));
      await sleep(realMs(entry.forSeconds));
      return ignoringRefusals(() => simulator.change(taken.id, taken.body));
    }
    case "kill API server":
      stage.apiServerAway(true);
      await plane.restartApiserver("SIGKILL").catch(() => plane.restartApiserver("SIGKILL"));
      stage.apiServerAway(false);
      return;
    case "slow API server":
    case "failing API server": {
      const weather =
        entry.do === "slow API server"
          ? { delayMs: entry.delayMs, failing: undefined }
          : { delayMs: 0, failing: { share: entry.share, status: entry.status } };
      proxy.weather = weather;
      await sleep(realMs(entry.forSeconds));
      if (proxy.weather === weather) proxy.calm();
      return;
    }
    case "cut watches":
      proxy.cutWatches();
      return;
    case "kill leader":
    case "kill follower":
    case "freeze leader": {
      const all = stage.leaders();
      const found = all[Math.floor(entry.pick * all.length)];
      if (!found) return;
      const { leader, followers } = found;
      if (entry.do === "freeze leader") return fleet.freeze(leader, realMs(entry.forSeconds));
      const name = entry.do === "kill leader" ? leader : followers[0];
      if (name !== undefined) fleet.kill(name, realMs(entry.startAgainSeconds));
      return;
    }
    case "kill agent":
      fleet.kill(entry.machine, realMs(60));
  }
}

/** What Azure or the simulator refuses is not done. Anything else is a mistake of the storm. */
function ignoringRefusals(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "Refusal") throw error;
  }
}

const postern =
  /^Microsoft\.Network\/(privateLinkServices|privateEndpoints|privateDnsZones(\/(virtualNetworkLinks|A))?|dnsZones(\/(A|NS|CNAME))?|virtualNetworks\/subnets)$/;

/** Begins the addresses that the storm writes into record sets. */
const modifiedPrefix = "10.66.0.";

/** Whether a resource belongs to a cluster that people want and that works. */
function isPublished({ clusters, isAvailable }: Stage, { top, properties }: Resource): boolean {
  if (JSON.stringify(properties.aRecords ?? []).includes(modifiedPrefix)) return false;
  const text = JSON.stringify([top.tags, properties.metadata]);
  return [...clusters.wishes.values()].some(
    ({ name, kind, wanted, clusterID }) =>
      wanted &&
      isAvailable(name) &&
      text.includes(kind === "hosted" ? String(clusterID) : `.org.${name}/`),
  );
}

/** A record set without metadata: with another address it cannot be told from one that somebody else created. */
function isUnmarkedRecord({ type, properties }: Resource): boolean {
  return type.endsWith("/A") && Object.keys((properties.metadata as JsonObject) ?? {}).length === 0;
}

/** Something that Postern made. */
function pickOf(
  { simulator, baseline, strangers }: Stage,
  pick: number,
  which: (resource: Resource) => boolean = () => true,
): Resource | undefined {
  const all = [...simulator.store.all()]
    .filter(({ key, type }) => postern.test(type) && !baseline.has(key) && !strangers.has(key))
    .filter(which)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  return all[Math.floor(pick * all.length)];
}

/** Write a resource as it is, but for one thing. */
function changeBy(simulator: Simulator, id: string, change: (body: JsonObject) => void): void {
  const found = simulator.store.get(id);
  if (!found) return;
  const body = structuredClone({ ...found.top, properties: found.properties }) as JsonObject;
  change(body);
  simulator.change(id, body);
}

function modify(simulator: Simulator, { id, type }: Resource, variant: number): void {
  changeBy(simulator, id, (body) => {
    const properties = body.properties as JsonObject;
    if (type.endsWith("/A"))
      properties.aRecords = [{ ipv4Address: `${modifiedPrefix}${variant + 1}` }];
    else if (type.endsWith("/privateLinkServices")) properties.autoApproval = { subscriptions: [] };
    else if (type.endsWith("/subnets"))
      properties.privateLinkServiceNetworkPolicies = variant % 2 ? "Enabled" : "Disabled";
    else body.tags = { ...(body.tags as JsonObject | undefined), team: `storm-${variant}` };
  });
}

/** Replace all tags, as `az … update --tags` does. */
function retag(simulator: Simulator, { id, type }: Resource, variant: number): void {
  changeBy(simulator, id, (body) => {
    if (/\/(A|NS|CNAME)$/.test(type)) (body.properties as JsonObject).metadata = {};
    else if (!type.endsWith("/subnets")) body.tags = variant % 2 ? {} : { team: "storm" };
  });
}

function addStranger({ simulator, strangers }: Stage, n: number, variant: number): void {
  const zone = `${groups[variant % 2 ? "guests-a" : "guests-b"]}/${network}/privateDnsZones/stranger-${n}.example.org`;
  const made: [string, JsonObject][] =
    variant < 4
      ? [
          [
            `${networkIn("management")}/subnets/stranger-${n}`,
            { properties: { addressPrefix: `10.0.${64 + (n % 128)}.0/24` } },
          ],
        ]
      : variant < 7
        ? [
            [zone, { location: "global" }],
            [
              `${zone}/A/www`,
              { properties: { ttl: 60, aRecords: [{ ipv4Address: "10.77.0.7" }] } },
            ],
          ]
        : [
            [
              `${groups.management}/${network}/networkInterfaces/stranger-${n}`,
              {
                location,
                properties: {
                  ipConfigurations: [
                    {
                      name: "one",
                      properties: { subnet: { id: `${networkIn("management")}/subnets/nodes` } },
                    },
                  ],
                },
              },
            ],
          ];
  for (const [id, body] of made) {
    simulator.change(id, body);
    strangers.set(id.toLowerCase(), body);
  }
}
