import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { type Simulator, startSimulator } from "@postern/azure-simulator/simulator.ts";
import { crdOf } from "@postern/core/crd.ts";
import { definitions } from "@postern/core/definitions.ts";
import { apiVersionOf } from "@postern/core/kind.ts";
import { findOrBuild } from "../../test/setup/binaries.ts";
import { type Cluster, clusterAt } from "../../test/setup/cluster.ts";
import { startControlPlane } from "../../test/setup/control-plane.ts";
import { nodeFlags } from "../runtime/clients.ts";
import type { Given, Stepped } from "./operator.ts";
import { subscription, tenant } from "./places.ts";

/** Steps are at least so far apart, so that a thousand clusters do not take a million of them. */
const grainMs = 100;
/** How many steps the watches of the operator get to tell of a change. */
const watchSteps = 10;

/** What came of a run: the last answer, and how long it took on the clock and in reality. */
export interface Outcome extends Stepped {
  seconds: number;
  wallSeconds: number;
}

export interface Drive {
  /** The operator, as JavaScript. */
  program: string;
  clusters: number;
  operationSeconds: number;
  /** The list of the objects whose conditions say why nothing happens any more. */
  objects: string;
  /** Make the world that the operator finds. */
  prepare(cluster: Cluster, simulator: Simulator): Promise<void>;
  /** Asked when all clusters say that they are available. */
  done?(cluster: Cluster, simulator: Simulator): boolean;
  /** Look at the world when it is over, and go on from there. */
  after?(cluster: Cluster, simulator: Simulator, go: GoOn): Promise<void>;
}

/** Moves the clock until something holds, and gives what it took since then. Throws where it does not hold in time. */
export type GoOn = (
  until: (now: number, available: number) => boolean,
  mostSeconds: number,
) => Promise<Outcome>;

/** Start everything, move the clock until all is done, and say what it took. */
export async function drive(asked: Drive): Promise<Outcome> {
  const { program, clusters, operationSeconds } = asked;
  const found = await findOrBuild((line) => process.stderr.write(`${line}\n`));
  if ("missing" in found) throw new Error(found.missing);
  const plane = await startControlPlane(found.binaries);
  const clock = new ManualClock(Date.now());
  const simulator = await startSimulator({
    clock,
    operationMs: { "*": operationSeconds * 1000 },
    bug: (error) => {
      throw error;
    },
  });
  let child: ChildProcess | undefined;
  try {
    const cluster = clusterAt(plane.address);
    await installKinds(cluster);
    simulator.directory.addSubscription(subscription, tenant);
    const owner = { tenant, objectId: "operator-object", appId: "operator-app" };
    simulator.roles.makeOwner(owner);
    await asked.prepare(cluster, simulator);
    const given: Given = {
      kubeconfig: cluster.kubeconfig,
      resourceManager: simulator.url,
      token: simulator.directory.tokenFor(owner, { forMs: 30 * 86_400_000 }),
      now: clock.now(),
    };
    const start = clock.now();
    const startedAt = performance.now();
    child = fork(program, [JSON.stringify(given)], { execArgv: nodeFlags });
    const operator = child;
    let state = await answer(operator);
    const goOn = async (until: Parameters<GoOn>[0], mostSeconds: number): Promise<Outcome> => {
      const [before, from, fromReal] = [state, clock.now(), performance.now()];
      // What was changed meanwhile reaches the operator before the clock goes on to what it waits for.
      for (let steps = 0; !until(clock.now(), state.available); steps++) {
        const next = Math.max(steps < watchSteps ? 0 : state.nextDue, clock.now() + grainMs);
        if (next > from + mostSeconds * 1000)
          throw new Error(
            `${state.available} of ${clusters} are available, and then nothing: ${await unmetIn(cluster, asked.objects)}`,
          );
        simulator.moveClock(next - clock.now());
        operator.send(next);
        state = await answer(operator);
      }
      const wallSeconds = (performance.now() - fromReal) / 1000;
      return { ...since(before, state), seconds: (clock.now() - from) / 1000, wallSeconds };
    };
    const isDone = () => state.available >= clusters && asked.done?.(cluster, simulator) !== false;
    const outcome = await goOn(isDone, clusters * 6 + 3_600);
    const seconds = (clock.now() - start) / 1000;
    const wallSeconds = (performance.now() - startedAt) / 1000;
    const whole = { ...state, requests: { ...state.requests } };
    await asked.after?.(cluster, simulator, goOn);
    return { ...outcome, ...whole, seconds, wallSeconds };
  } finally {
    child?.disconnect();
    await simulator.close();
    await plane.stop();
  }
}

/** What was counted between two states. */
function since(before: Stepped, after: Stepped): Stepped {
  return {
    ...after,
    requests: differenceOf(before.requests, after.requests),
    dnsReads: after.dnsReads - before.dnsReads,
    dnsReadsOf: differenceOf(before.dnsReadsOf, after.dnsReadsOf),
    throttled: after.throttled - before.throttled,
    kubeWrites: after.kubeWrites - before.kubeWrites,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
  };
}

function differenceOf(before: Record<string, number>, after: Record<string, number>) {
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );
}

/** The conditions that are not True, each once. */
async function unmetIn(cluster: Cluster, objects: string): Promise<string> {
  interface Listed {
    items?: { status?: { conditions?: { type: string; status: string; message?: string }[] } }[];
  }
  const { body } = await cluster.request("GET", objects);
  const { items = [] } = body as Listed;
  const unmet = items
    .flatMap(({ status }) => status?.conditions ?? [])
    .filter(({ status }) => status !== "True")
    .map(({ type, message }) => `${type}: ${message}`);
  return items.length === 0 ? "there are no objects" : [...new Set(unmet)].slice(0, 5).join("; ");
}

async function answer(child: ChildProcess): Promise<Stepped> {
  const leave = new AbortController();
  const { signal } = leave;
  const ended = once(child, "exit", { signal }).then(() => {
    throw new Error("the operator ended");
  });
  const answered = once(child, "message", { signal });
  try {
    const [state] = (await Promise.race([answered, ended])) as [Stepped];
    return state;
  } finally {
    ended.catch(() => undefined);
    leave.abort();
  }
}

async function installKinds(cluster: Cluster): Promise<void> {
  for (const definition of definitions) {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    // As HyperShift and Cluster API install them: the control planes are theirs to create.
    const crd = crdOf({ ...definition, standIn: false });
    const { status, body } = await cluster.request("POST", path, crd);
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  }
  for (const definition of definitions)
    while (
      (await cluster.request("GET", `/apis/${apiVersionOf(definition)}/${definition.plural}`))
        .status !== 200
    )
      await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Make an object. */
export async function post(cluster: Cluster, path: string, body: unknown): Promise<unknown> {
  const made = await cluster.request("POST", path, body);
  if (made.status !== 201) throw new Error(`${path}: ${made.status} ${JSON.stringify(made.body)}`);
  return made.body;
}

/** Try until it works. */
export async function eventually<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++)
    try {
      return await act();
    } catch (error) {
      if (tries > 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

/** Do something so many times, some at once. */
export async function inTurns(count: number, atOnce: number, act: (n: number) => Promise<void>) {
  let next = 0;
  const one = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
