import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "@postern/azure-simulator/control/seeded-random.ts";
import type { TrustedIssuer } from "@postern/azure-simulator/entra/application.ts";
import { type Simulator, startSimulator } from "@postern/azure-simulator/simulator.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { realClock } from "@postern/core/clock.ts";
import { limitsAt, operationMs } from "@postern/local/azure-pace.ts";
import { installKinds } from "@postern/local/install.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import type { Binaries } from "../setup/binaries.ts";
import { clusterAt } from "../setup/cluster.ts";
import { type ControlPlane, startControlPlane, writeKubeconfig } from "../setup/control-plane.ts";
import { startGuard } from "../setup/guard.ts";
import {
  grown,
  harmed,
  holderName,
  kinds,
  orphans,
  outside,
  stuck,
  unfulfilled,
  writesOf,
  writesOfTwo,
} from "./checks.ts";
import { Clusters } from "./clusters.ts";
import { perform, type Stage } from "./deeds.ts";
import { cloudProvider, type Deployment, groupOf, posternPrograms } from "./deploy.ts";
import { Fleet } from "./fleet.ts";
import { Kube } from "./kube.ts";
import { KubernetesProxy } from "./kubernetes-proxy.ts";
import { claimsOf, Observer } from "./observer.ts";
import { type Assignment, makePlaces } from "./places.ts";
import { type Storm, told } from "./plan.ts";

/** How many times faster than the machine's the clocks of a storm run, where the machine has nothing else to do. */
const fullSpeed = 60;
/** A machine that others keep busy needs longer for everything, and what is bounded is simulated time. */
const leastSpeed = 8;
/** What a storm by itself makes wait for each core. */
const ownLoad = 2.5;

/** The speed at which this machine keeps up now. */
export function speedNow(): number {
  const perCore = (loadavg()[0] ?? 0) / availableParallelism();
  return Math.max(leastSpeed, Math.round(fullSpeed / Math.max(1, perCore / ownLoad)));
}

/** In simulated minutes: how long until all is well after a storm, and how long it must then be without a write. */
export const bounds = { calmMinutes: 30, restMinutes: 10 };
/** In simulated minutes: how long a condition may be wrong. The drift interval, and as much again for throttling and retries. */
export const wrongMinutes = 10;

/** What came of a storm. */
export interface Outcome {
  seed: number;
  faults: string[];
  figures: Figures;
  /** Where the logs are, where something went wrong. */
  logs: string | undefined;
}

/** What a storm was made of. */
export interface Figures {
  layout: string;
  speed: number;
  entries: number;
  kills: number;
  freezes: number;
  apiServerKills: number;
  /** Requests of Postern to Azure during the storm, and those that something was made to happen to. */
  armRequests: number;
  armFaults: number;
  kubeRequests: number;
  kubeFaults: number;
  leaderChanges: number;
  samples: number;
  /** Simulated minutes until all was well. */
  calmMinutes: number;
  /** The longest time in which a condition was wrong, in simulated minutes. */
  longestWrongMinutes: number;
  realSeconds: number;
  /** Real seconds of each part. */
  parts: Record<string, number>;
}

/** What all storms of a run share. */
export interface StormGround {
  binaries: Binaries;
  /** The folder of the programs, as JavaScript. */
  programs: string;
  signal: AbortSignal;
  /** How many times faster than the machine's the clocks run; what the machine keeps up with where it is not given. */
  speed?: number | undefined;
}

/** Run a storm, calm everything, and check what must hold. */
export async function runStorm(storm: Storm, ground: StormGround): Promise<Outcome> {
  const startedAt = Date.now();
  const folder = await mkdtemp(join(tmpdir(), `postern-storm-${storm.seed}-`));
  const guard = startGuard(folder);
  const ending = new AbortController();
  const signal = AbortSignal.any([ground.signal, ending.signal]);
  const speed = ground.speed ?? speedNow();
  const plane = await tried(() => startControlPlane(ground.binaries, { collects: true }));
  const bugs: unknown[] = [];
  const simulator = await startSimulator({
    seed: `storm ${storm.seed}`,
    https: true,
    operationMs,
    speed,
    limits: limitsAt(speed),
    bug: (error) => bugs.push(error),
  });
  const { url, ca, tokens } = plane.address;
  const proxy = new KubernetesProxy({
    upstream: url,
    ca,
    chance: seededRandom(`proxy ${storm.seed}`),
  });
  const fleet = new Fleet(folder, guard);
  const run = new Run(storm, { plane, simulator, proxy, fleet, signal, folder, speed });
  let faults: string[] = [];
  try {
    const caFile = join(folder, "ca.pem");
    const policyFile = join(folder, "policy.yaml");
    await writeFile(caFile, simulator.ca ?? "");
    await writeFile(
      policyFile,
      JSON.stringify({ namespaces: [{ namespace: "*", domains: ["*"] }] }),
    );
    const proxied = await writeKubeconfig(folder, await proxy.listen(), ca, tokens.admin);
    const deployment: Deployment = {
      layout: storm.layout,
      simulator,
      programs: ground.programs,
      caFile,
      policyFile,
      speed,
      kubeconfig: { proxied, direct: plane.address.kubeconfig },
    };
    faults = await run.all(deployment);
  } catch (error) {
    if (ground.signal.aborted) throw error;
    faults = [`the storm itself failed: ${error instanceof Error ? error.stack : String(error)}`];
  } finally {
    ending.abort();
    await fleet.close();
    await proxy.close();
    await simulator.close();
    await plane.stop();
    guard.dismiss();
  }
  faults.push(
    ...bugs.map((bug) => `the simulator failed: ${bug instanceof Error ? bug.stack : String(bug)}`),
  );
  if (faults.length === 0) await rm(folder, { recursive: true, force: true });
  const logs = faults.length === 0 ? undefined : folder;
  const realSeconds = (Date.now() - startedAt) / 1000;
  return { seed: storm.seed, faults, logs, figures: { ...run.figures(), realSeconds } };
}

interface Parts {
  plane: ControlPlane;
  simulator: Simulator;
  proxy: KubernetesProxy;
  fleet: Fleet;
  signal: AbortSignal;
  folder: string;
  speed: number;
}

/** An API server that starts on a busy machine may give up on itself. */
async function tried<T>(start: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await start();
    } catch (error) {
      if (tries === 3) throw error;
    }
}

/** One storm under way. */
class Run {
  readonly #storm: Storm;
  readonly #parts: Parts;
  readonly #kube: Kube;
  readonly #clusters: Clusters;
  #assignments: readonly Assignment[] = [];
  #baseline = new Set<string>();
  readonly #strangers = new Map<string, JsonObject>();
  #observer: Observer | undefined;
  #apiServerAway = 0;
  #apiServerKills = 0;
  #samples = 0;
  #longestWrongMs = 0;
  #calmMinutes = 0;
  /** By cluster: for how long it has been wrong, and what was wrong. */
  readonly #wrong = new Map<string, { forMs: number; what: string }>();
  readonly #faults: string[] = [];

  constructor(storm: Storm, parts: Parts) {
    this.#storm = storm;
    this.#parts = parts;
    this.#kube = new Kube(clusterAt(parts.plane.address), parts.signal);
    this.#clusters = new Clusters(this.#kube, storm.seed, parts.signal);
  }

  async all(deployment: Deployment): Promise<string[]> {
    const { plane, simulator, fleet, signal } = this.#parts;
    const client = new KubeClient(await fromKubeconfig(plane.address.kubeconfig));
    await installKinds(client, false, realClock, signal);
    const issuer = await issuerOf(client);
    client.close();
    simulator.directory.trustIssuer(issuer);
    this.#assignments = makePlaces(simulator, issuer.issuer);
    this.#baseline = new Set([...simulator.store.all()].map(({ key }) => key));
    await this.#clusters.begin();
    this.#observer = await Observer.start(plane.address.kubeconfig, simulator, this.#parts.speed);
    fleet.start(cloudProvider(deployment));
    for (const program of await posternPrograms(deployment)) fleet.start(program);
    const over = new AbortController();
    const background = [
      this.#repeatedly(over.signal, 300, () => this.#clusters.tend()),
      this.#repeatedly(over.signal, 400, () => this.#sample()),
    ];
    try {
      await this.#part("start", () => this.#leading());
      fleet.noteUsage();
      await this.#part("storm", () => this.#rage());
      await this.#part("calm", () => this.#calm());
      await this.#part("recover", () => this.#recover());
      if (this.#faults.length === 0) await this.#part("delete", () => this.#tearDown());
      if (this.#faults.length > 0) await this.#dump();
    } finally {
      over.abort();
      await Promise.all(background);
      this.#observer.close();
    }
    const { proxy } = this.#parts;
    const twice = writesOfTwo(writesOf(simulator, proxy), proxy.leases);
    if (twice.length > 0)
      this.#faults.push(`${twice.length} writes by two leaders: ${twice.slice(0, 3).join("; ")}`);
    return [...fleet.faults, ...this.#clusters.faults, ...this.#faults];
  }

  /** Simulated minutes in real milliseconds. */
  #real(minutes: number): number {
    return (minutes * 60_000) / this.#parts.speed;
  }

  /** Real milliseconds in simulated minutes. */
  #simulated(realMs: number): number {
    return (realMs * this.#parts.speed) / 60_000;
  }

  async #part(name: string, act: () => Promise<void>): Promise<void> {
    const from = Date.now();
    await act();
    this.#seconds[name] = (Date.now() - from) / 1000;
  }

  readonly #seconds: Record<string, number> = {};

  /** Wait until every Lease that can be held is held. */
  async #leading(): Promise<void> {
    const groups = new Set(
      this.#parts.fleet.names.filter((name) => /-[ab]$/.test(name)).map(groupOf),
    );
    await this.#until(
      300_000,
      "an operator leads",
      async () => this.#leaders().length >= groups.size,
    );
  }

  #leaders(): { leader: string; followers: string[] }[] {
    const { proxy, fleet } = this.#parts;
    const holders = new Map(proxy.leases.map(({ lease, holder }) => [lease, holder]));
    return [...holders.values()].flatMap((holder) => {
      const leader = holderName(holder);
      if (!fleet.names.includes(leader)) return [];
      const followers = fleet.names.filter(
        (name) => name !== leader && groupOf(name) === groupOf(leader),
      );
      return [{ leader, followers }];
    });
  }

  #ragedFrom = 0;
  #ragedTo = 0;

  async #rage(): Promise<void> {
    const { plane, simulator, proxy, fleet, signal } = this.#parts;
    const stage: Stage = {
      simulator,
      plane,
      proxy,
      fleet,
      clusters: this.#clusters,
      speed: this.#parts.speed,
      assignments: this.#assignments,
      baseline: this.#baseline,
      strangers: this.#strangers,
      leaders: () => this.#leaders(),
      isAvailable: (name) => this.#available.has(name),
      apiServerAway: (away) => {
        if (away) this.#apiServerKills++;
        this.#apiServerAway += away ? 1 : -1;
      },
    };
    const start = Date.now();
    this.#ragedFrom = start;
    await writeFile(join(this.#parts.folder, "begin.txt"), new Date(start).toISOString());
    const doing: Promise<void>[] = [];
    for (const entry of this.#storm.entries) {
      const wait = start + this.#real(entry.at / 60) - Date.now();
      if (wait > 0) await sleep(wait, undefined, { signal });
      doing.push(
        perform(entry, stage).catch((error: unknown) => {
          if (!signal.aborted)
            this.#faults.push(
              `entry ${entry.n} (${entry.do}): ${error instanceof Error ? error.stack : String(error)}`,
            );
        }),
      );
    }
    const rest = start + this.#real(this.#storm.seconds / 60) - Date.now();
    if (rest > 0) await sleep(rest, undefined, { signal });
    this.#ragedTo = Date.now();
    this.#lasting = doing;
  }

  #lasting: Promise<void>[] = [];

  /** End every fault, give back what was taken, and let everybody go on. */
  async #calm(): Promise<void> {
    const { simulator, proxy, fleet } = this.#parts;
    simulator.faults.clear();
    proxy.calm();
    for (const operation of [...simulator.operations.running()])
      if (operation.dueAt === Number.POSITIVE_INFINITY)
        simulator.operations.end(operation, "Failed", {
          code: "OperationTimedOut",
          message: "ended by the storm",
          details: [],
        });
    await Promise.all(this.#lasting);
    for (const { id, body } of this.#assignments)
      if (!simulator.store.get(id)) simulator.change(id, body);
    for (const { name, paused } of this.#clusters.wishes.values())
      if (paused) void this.#clusters.act("unpause", name, 0);
    await this.#until(120_000, "all processes are alive", async () => fleet.whole);
    await this.#clusters.settled();
  }

  /** Everything becomes as people want it, and then nobody writes any more. */
  async #recover(): Promise<void> {
    const { simulator, proxy } = this.#parts;
    const calmAt = Date.now();
    let wrong: string[] = [];
    for (;;) {
      const now = Date.now();
      wrong = await this.#amiss();
      const lastWrite = Math.max(calmAt, ...writesOf(simulator, proxy, calmAt).map(({ at }) => at));
      if (wrong.length === 0) {
        this.#calmMinutes = Math.max(this.#calmMinutes, this.#simulated(lastWrite - calmAt));
        if (now - lastWrite >= this.#real(bounds.restMinutes)) break;
      }
      const late =
        wrong.length > 0
          ? now - calmAt > this.#real(bounds.calmMinutes)
          : lastWrite - calmAt > this.#real(bounds.calmMinutes);
      if (late) {
        const writes = writesOf(simulator, proxy, now - this.#real(bounds.restMinutes));
        if (wrong.length === 0)
          wrong = [
            `no rest: ${writes.length} writes in ${bounds.restMinutes} minutes, such as ${writes
              .slice(-3)
              .map(({ by, what }) => `${by} ${what}`)
              .join("; ")}`,
          ];
        break;
      }
      await sleep(500, undefined, { signal: this.#parts.signal });
    }
    this.#faults.push(
      ...wrong.map((each) => `after ${bounds.calmMinutes} simulated minutes: ${each}`),
    );
    this.#faults.push(...grown(this.#parts.fleet));
  }

  async #amiss(): Promise<string[]> {
    const { simulator } = this.#parts;
    const wishes = [...this.#clusters.wishes.values()];
    const claims = await this.#claims();
    return [
      ...(claims ? unfulfilled(wishes, claims) : ["nobody could look"]),
      ...(await stuck(this.#kube)),
      ...orphans(simulator, this.#baseline, this.#strangers, wishes).map(
        (id) => `nobody has ${id}`,
      ),
      ...harmed(simulator, this.#strangers),
      ...outside(simulator),
    ];
  }

  /** Delete every cluster; then Azure is as it was. */
  async #tearDown(): Promise<void> {
    await Promise.all(
      [...this.#clusters.wishes.keys()].map((name) => this.#clusters.act("delete", name, 0)),
    );
    const from = Date.now();
    let wrong: string[] = [];
    do {
      await sleep(300, undefined, { signal: this.#parts.signal });
      wrong = await this.#amiss();
    } while (wrong.length > 0 && Date.now() - from < this.#real(bounds.calmMinutes));
    this.#faults.push(
      ...wrong.map(
        (each) => `${bounds.calmMinutes} simulated minutes after everything was deleted: ${each}`,
      ),
    );
  }

  /** Write down how things are, for whoever looks for the cause. */
  async #dump(): Promise<void> {
    const { simulator, proxy, folder } = this.#parts;
    const lists = await Promise.all(kinds.map((kind) => this.#kube.list(kind)));
    const text = (value: unknown) => JSON.stringify(value, undefined, 1);
    await writeFile(join(folder, "objects.json"), text(lists.flat()));
    await writeFile(join(folder, "azure.json"), text(simulator.snapshot().resources));
    const requests = simulator.log
      .entries({})
      .filter(({ userAgent }) => userAgent !== "storm-observer");
    await writeFile(
      join(folder, "requests.jsonl"),
      requests
        .map((each) => JSON.stringify({ ...each, at: new Date(each.at).toISOString() }))
        .join("\n"),
    );
    await writeFile(join(folder, "leases.json"), text(proxy.leases));
    await writeFile(join(folder, "storm.txt"), this.#storm.entries.map(told).join("\n"));
  }

  async #claims() {
    return this.#observer?.look().then(claimsOf, () => undefined);
  }

  #sampledAt = Date.now();
  /** The clusters that could be reached when somebody last looked. */
  #available = new Set<string>();

  /** Compare what clusters say with what is so. */
  async #sample(): Promise<void> {
    const { fleet, proxy } = this.#parts;
    const claims = this.#apiServerAway > 0 ? undefined : await this.#claims();
    const now = Date.now();
    const passed = now - this.#sampledAt;
    this.#sampledAt = now;
    if (claims === undefined) return;
    this.#samples++;
    this.#available = new Set(
      claims.flatMap(({ name, available, deleting, broken }) =>
        available && !deleting && broken === undefined ? name : [],
      ),
    );
    const { delayMs, failing } = proxy.weather;
    // Who cannot write a status, or is not there to do so, cannot correct it.
    const excused =
      this.#apiServerAway > 0 ||
      !fleet.whole ||
      delayMs > 0 ||
      failing !== undefined ||
      this.#recentlyAbsent(now);
    const names = new Set<string>();
    for (const { name, available, deleting, broken } of claims) {
      const paused = this.#clusters.wishes.get(name)?.paused === true;
      if (!available || deleting || broken === undefined || paused) continue;
      names.add(name);
      const held = this.#wrong.get(name) ?? { forMs: 0, what: broken };
      if (!excused) held.forMs += passed;
      this.#wrong.set(name, held);
      this.#longestWrongMs = Math.max(this.#longestWrongMs, held.forMs);
      if (held.forMs > this.#real(wrongMinutes) && held.forMs - passed <= this.#real(wrongMinutes))
        this.#faults.push(
          `${name} said Available for more than ${wrongMinutes} simulated minutes, and was not: ${broken}`,
        );
    }
    for (const name of this.#wrong.keys()) if (!names.has(name)) this.#wrong.delete(name);
  }

  /** A new leader first has to take the Lease. */
  #recentlyAbsent(now: number): boolean {
    return this.#parts.fleet.absences.some(
      ({ from, to }) => now >= from && now < to + this.#real(6),
    );
  }

  async #repeatedly(signal: AbortSignal, everyMs: number, act: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await act().catch((error: unknown) => {
        if (!signal.aborted && !this.#parts.signal.aborted) this.#faults.push(String(error));
      });
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #until(limitMs: number, what: string, holds: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + limitMs;
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`not after ${limitMs / 1000} s: ${what}`);
      await sleep(50, undefined, { signal: this.#parts.signal });
    }
  }

  figures(): Omit<Figures, "realSeconds"> {
    const { simulator, proxy, fleet } = this.#parts;
    // After the storm nothing is struck any more.
    const requests = simulator.log
      .entries({ notBefore: this.#ragedFrom })
      .filter(
        ({ at, userAgent = "" }) => at <= this.#ragedTo && /^(postern\/|inspector)/.test(userAgent),
      );
    const holders = Map.groupBy(
      proxy.leases.filter(({ holder }) => holder !== ""),
      ({ lease }) => lease,
    );
    const changes = [...holders.values()].map(
      (all) => all.filter(({ holder }, n) => n > 0 && all[n - 1]?.holder !== holder).length,
    );
    return {
      layout: this.#storm.layout,
      speed: this.#parts.speed,
      entries: this.#storm.entries.length,
      kills: fleet.kills,
      freezes: fleet.freezes,
      apiServerKills: this.#apiServerKills,
      armRequests: requests.length,
      armFaults: requests.filter(({ fault }) => fault !== undefined).length,
      kubeRequests: proxy.requests,
      kubeFaults: proxy.struck,
      leaderChanges: changes.reduce((sum, each) => sum + each, 0),
      samples: this.#samples,
      calmMinutes: this.#calmMinutes,
      longestWrongMinutes: this.#simulated(this.#longestWrongMs),
      parts: this.#seconds,
    };
  }
}

/** Who signs the tokens of service accounts, and by which keys. */
async function issuerOf(client: KubeClient): Promise<TrustedIssuer> {
  const { issuer } = JSON.parse(
    await client.request("GET", "/.well-known/openid-configuration"),
  ) as { issuer: string };
  const accept = "application/jwk-set+json";
  const keys = JSON.parse(await client.request("GET", "/openid/v1/jwks", { accept })) as Pick<
    TrustedIssuer,
    "keys"
  >;
  return { issuer, ...keys };
}
