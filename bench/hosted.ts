import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { crdOf } from "../src/model/crd.ts";
import { definitions } from "../src/model/definitions.ts";
import { apiVersionOf } from "../src/model/kind.ts";
import { ManualClock } from "../src/simulator/manual-clock.ts";
import { type Simulator, startSimulator } from "../src/simulator/simulator.ts";
import type { JsonObject } from "../src/simulator/store.ts";
import { findOrBuild } from "../test/setup/binaries.ts";
import { type Cluster, clusterAt } from "../test/setup/cluster.ts";
import { startControlPlane } from "../test/setup/control-plane.ts";
import {
  controlPlaneObject,
  hostedClusterObject,
  routerService,
} from "../test/system/hosted/objects.ts";
import type { Given, Stepped } from "./hosted/operator.ts";
import { atMost, makeReport, publish, type Row, told } from "./report.ts";
import { nodeFlags } from "./runtime/clients.ts";
import { shipped } from "./shipped.ts";

const usage =
  "npm run bench:hosted -- [--clusters 10,100,1000] [--json FILE] [--operation-seconds 30]";
const subscription = "11111111-1111-4111-8111-111111111111";
const tenant = "22222222-2222-4222-8222-222222222222";
const location = "westeurope";
const groups = `/subscriptions/${subscription}/resourceGroups`;
const managementGroup = `${groups}/management`;
const network = "providers/Microsoft.Network";
/** What Azure takes of one identity in one subscription. */
const writes = { burst: 200, perSecond: 10 };
/** Link service, endpoint, two zones, two links, four records. */
const writesEach = 10;
/** A NAT subnet, the link service on it, the endpoint to that. The zones and their links are made meanwhile. */
const longestChain = 3;
/** Steps are at least so far apart, so that a thousand clusters do not take a million of them. */
const grainMs = 100;

interface Outcome extends Stepped {
  seconds: number;
  wallSeconds: number;
}

async function measure(
  program: string,
  clusters: number,
  operationSeconds: number,
): Promise<Outcome> {
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
    seedManagement(simulator, clusters);
    await inTurns(clusters, 20, (n) => makeCluster(cluster, simulator, n));
    const owner = { tenant, objectId: "operator-object", appId: "operator-app" };
    simulator.roles.makeOwner(owner);
    const given: Given = {
      kubeconfig: cluster.kubeconfig,
      resourceManager: simulator.url,
      token: simulator.directory.tokenFor(owner, { forMs: 30 * 86_400_000 }),
      managementGroup,
      now: clock.now(),
    };
    const start = clock.now();
    const startedAt = performance.now();
    child = fork(program, [JSON.stringify(given)], { execArgv: nodeFlags });
    let state = await answer(child);
    const limit = start + (clusters * writesEach * 1000) / writes.perSecond + 3_600_000;
    while (state.available < clusters) {
      const next = Math.max(state.nextDue, clock.now() + grainMs);
      if (next > limit)
        throw new Error(`${state.available} of ${clusters} became available, and then nothing`);
      simulator.moveClock(next - clock.now());
      child.send(next);
      state = await answer(child);
    }
    return {
      ...state,
      seconds: (clock.now() - start) / 1000,
      wallSeconds: (performance.now() - startedAt) / 1000,
    };
  } finally {
    child?.disconnect();
    await simulator.close();
    await plane.stop();
  }
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
    const { status, body } = await cluster.request("POST", path, crdOf(definition));
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  }
  for (const definition of definitions)
    while (
      (await cluster.request("GET", `/apis/${apiVersionOf(definition)}/${definition.plural}`))
        .status !== 200
    )
      await new Promise((resolve) => setTimeout(resolve, 50));
}

const nodes = `${managementGroup}/${network}/virtualNetworks/management/subnets/nodes`;
/** Azure lets 8 link services have a load balancer. */
const frontendsEach = 8;

function seedManagement(simulator: Simulator, clusters: number): void {
  simulator.directory.addSubscription(subscription, tenant);
  simulator.change(managementGroup, { location });
  simulator.change(
    `${managementGroup}/${network}/virtualNetworks/management`,
    networkBody("10.0.0.0/8", "nodes", "10.0.0.0/18"),
  );
  for (let first = 0; first < clusters; first += frontendsEach) {
    const count = Math.min(frontendsEach, clusters - first);
    const frontendIPConfigurations = Array.from({ length: count }, (_, i) => ({
      name: `cluster-${first + i}`,
      properties: {
        subnet: { id: nodes },
        privateIPAddress: addressOf(first + i),
        privateIPAllocationMethod: "Static",
      },
    }));
    simulator.change(`${managementGroup}/${network}/loadBalancers/internal-${first}`, {
      location,
      sku: { name: "Standard" },
      properties: { frontendIPConfigurations },
    });
  }
}

function networkBody(space: string, subnet: string, prefix: string): JsonObject {
  const subnets = [{ name: subnet, properties: { addressPrefix: prefix } }];
  return { location, properties: { addressSpace: { addressPrefixes: [space] }, subnets } };
}

function addressOf(n: number): string {
  return `10.0.${(n + 4) >> 8}.${(n + 4) & 255}`;
}

/** One cluster with a guest group and a guest network of its own, as HyperShift leaves it to us. */
async function makeCluster(cluster: Cluster, simulator: Simulator, n: number): Promise<void> {
  const name = `c${n}`;
  const group = `${groups}/${name}`;
  const vnetID = `${group}/${network}/virtualNetworks/guest`;
  simulator.change(group, { location });
  simulator.change(vnetID, networkBody("192.168.0.0/16", "workers", "192.168.0.0/24"));
  const azure = {
    resourceGroup: name,
    subscriptionID: subscription,
    vnetID,
    subnetID: `${vnetID}/subnets/workers`,
  };
  const hosted = hostedClusterObject("clusters", name, { clusterID: randomUUID(), azure });
  const made = controlPlaneObject(hosted);
  const { namespace } = made.metadata;
  const hypershift = "/apis/hypershift.openshift.io/v1beta1/namespaces";
  if (n === 0) await cluster.request("POST", "/api/v1/namespaces", named("clusters"));
  await post(cluster, "/api/v1/namespaces", named(namespace));
  // The first makes the namespace that the others lie in.
  await eventually(() => post(cluster, `${hypershift}/clusters/hostedclusters`, hosted));
  const plane = await post(cluster, `${hypershift}/${namespace}/hostedcontrolplanes`, made);
  const services = `/api/v1/namespaces/${namespace}/services`;
  const service = routerService(plane as Parameters<typeof routerService>[0]);
  await post(cluster, services, service);
  const status = { loadBalancer: { ingress: [{ ip: addressOf(n) }] } };
  const patched = await cluster.request(
    "PATCH",
    `${services}/${service.metadata.name}/status`,
    { status },
    { contentType: "application/merge-patch+json" },
  );
  if (patched.status !== 200) throw new Error(JSON.stringify(patched.body));
}

const named = (name: string) => ({ metadata: { name } });

async function post(cluster: Cluster, path: string, body: unknown): Promise<unknown> {
  const made = await cluster.request("POST", path, body);
  if (made.status !== 201) throw new Error(`${path}: ${made.status} ${JSON.stringify(made.body)}`);
  return made.body;
}

async function eventually<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++)
    try {
      return await act();
    } catch (error) {
      if (tries > 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

async function inTurns(count: number, atOnce: number, act: (n: number) => Promise<void>) {
  let next = 0;
  const one = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** The figures of one size. The target of the time is what Azure's budget and the chain of operations allow. */
function rowsOf(clusters: number, operationSeconds: number, came: Outcome): Row[] {
  const { requests } = came;
  const sum = (...verbs: string[]) => verbs.reduce((all, verb) => all + (requests[verb] ?? 0), 0);
  const written = sum("PUT", "PATCH", "DELETE", "POST");
  const reads = sum("GET", "poll");
  const budget = (clusters * writesEach - writes.burst) / writes.perSecond;
  const chain = longestChain * operationSeconds;
  const of = (name: string) => `${clusters} clusters: ${name}`;
  return [
    told(of("time to all Available"), came.seconds, "s"),
    ...timeRows(of, came.seconds, budget, chain),
    told(of("Azure writes a cluster"), written / clusters, ""),
    atMost(of("Azure reads a write, polls included"), reads / written, "x", 2.5),
    told(of("polls a cluster"), (requests.poll ?? 0) / clusters, ""),
    atMost(of("429s"), came.throttled, "", 0),
    told(of("Kubernetes writes a cluster"), came.kubeWrites / clusters, ""),
    told(of("CPU a cluster"), (came.cpuSeconds * 1000) / clusters, "ms"),
    atMost(of("memory"), came.memoryMB, "MB", 150),
    told(of("real time of the run"), came.wallSeconds, "s"),
  ];
}

/** Held against whichever of the two binds alone; where they are near each other both do, and neither is a fair target. */
function timeRows(of: (name: string) => string, seconds: number, budget: number, chain: number) {
  const toBudget = seconds / budget;
  const toChain = seconds / chain;
  if (budget > 4 * chain) return [atMost(of("time against the budget"), toBudget, "x", 1.15)];
  if (chain > 4 * budget) return [atMost(of("time against the longest chain"), toChain, "x", 1.2)];
  return [told(of("time against the longest chain, as long as the budget"), seconds / chain, "x")];
}

function settings(): { json: string | undefined; sizes: number[]; operationSeconds: number } {
  const { values } = parseArgs({
    options: {
      clusters: { type: "string", default: "10,100,1000" },
      json: { type: "string" },
      "operation-seconds": { type: "string", default: "30" },
    },
  });
  const sizes = values.clusters.split(",").map(Number);
  const operationSeconds = Number(values["operation-seconds"]);
  if (!sizes.every((size) => Number.isInteger(size) && size > 0) || !(operationSeconds > 0))
    throw new Error("--clusters and --operation-seconds must be numbers from 1 on");
  return { json: values.json, sizes, operationSeconds };
}

try {
  const { json, sizes, operationSeconds } = settings();
  const rows: Row[] = [];
  const program = await shipped("bench/hosted/operator.ts");
  try {
    for (const size of sizes) {
      process.stderr.write(`${size} clusters\n`);
      const came = await measure(program.path, size, operationSeconds);
      rows.push(...rowsOf(size, operationSeconds, came));
    }
  } finally {
    await program.remove();
  }
  publish(makeReport("hosted", rows), json);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
  process.exitCode = 1;
}
