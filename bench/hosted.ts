import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { frontendName } from "@postern/local/cloud-provider/names.ts";
import type { Cluster } from "../test/setup/cluster.ts";
import {
  controlPlaneObject,
  hostedClusterObject,
  routerService,
} from "../test/system/hosted/objects.ts";
import { type Damage, restAndDrift, Victim } from "./clocked/drift.ts";
import { drive, eventually, type GoOn, inTurns, type Outcome, post } from "./clocked/drive.ts";
import {
  groups,
  location,
  managementGroup,
  network,
  networkBody,
  secondsFor,
  subscription,
  timeRows,
} from "./clocked/places.ts";
import { atMost, makeReport, publish, type Row, told } from "./report.ts";
import { shipped } from "./shipped.ts";

const usage =
  "npm run bench:hosted -- [--clusters 10,100,1000] [--json FILE] [--operation-seconds 30]";
/** Link service, endpoint, two zones, two links, four records. */
const writesEach = 10;
/** A NAT subnet, the link service on it, the endpoint to that. The zones and their links are made meanwhile. */
const longestChain = 3;

const nodes = `${managementGroup}/${network}/virtualNetworks/management/subnets/nodes`;
/** Azure lets 8 link services have a load balancer. */
const frontendsEach = 8;

function seedManagement(simulator: Simulator): void {
  frontends.clear();
  simulator.change(managementGroup, { location });
  simulator.change(
    `${managementGroup}/${network}/virtualNetworks/management`,
    networkBody("10.0.0.0/8", "nodes", "10.0.0.0/18"),
  );
}

/** The frontends of the load balancers so far, by the number of the balancer. */
const frontends = new Map<number, JsonObject[]>();

/** What the cloud provider does for the Service of the n-th cluster. */
function addFrontend(simulator: Simulator, n: number, uid: string): void {
  const balancer = Math.floor(n / frontendsEach);
  const all = frontends.get(balancer) ?? [];
  frontends.set(balancer, all);
  all.push({
    name: frontendName(uid),
    properties: {
      subnet: { id: nodes },
      privateIPAddress: addressOf(n),
      privateIPAllocationMethod: "Static",
    },
  });
  simulator.change(`${managementGroup}/${network}/loadBalancers/internal-${balancer}`, {
    location,
    sku: { name: "Standard" },
    properties: { frontendIPConfigurations: all },
  });
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
  const posted = (await post(cluster, services, service)) as { metadata: { uid: string } };
  addFrontend(simulator, n, posted.metadata.uid);
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

/** The figures of one size. The target of the time is what Azure's budget and the chain of operations allow. */
function rowsOf(clusters: number, operationSeconds: number, came: Outcome): Row[] {
  const { requests } = came;
  const sum = (...verbs: string[]) => verbs.reduce((all, verb) => all + (requests[verb] ?? 0), 0);
  const written = sum("PUT", "PATCH", "DELETE", "POST");
  const reads = sum("GET", "poll");
  const budget = secondsFor(clusters * writesEach);
  const chain = longestChain * operationSeconds;
  const of = (name: string) => `${clusters} clusters: ${name}`;
  return [
    told(of("time to all Available"), came.seconds, "s"),
    ...timeRows(of, came.seconds, budget, chain),
    told(of("Azure writes a cluster"), written / clusters, ""),
    atMost(of("Azure reads a write, polls included"), reads / written, "x", 2.5),
    told(of("polls a cluster"), (requests.poll ?? 0) / clusters, ""),
    // At the pace of the writes there are five for each cluster.
    atMost(of("DNS reads a cluster, polls included"), came.dnsReads / clusters, "", 5),
    atMost(of("429s"), came.throttled, "", 0),
    told(of("Kubernetes writes a cluster"), came.kubeWrites / clusters, ""),
    told(of("CPU a cluster"), (came.cpuSeconds * 1000) / clusters, "ms"),
    atMost(of("memory"), came.memoryMB, "MB", 150),
    told(of("real time of the run"), came.wallSeconds, "s"),
  ];
}

/** Everything is deleted, until Azure has nothing that the operator created. */
async function deleteAll(
  cluster: Cluster,
  simulator: Simulator,
  clusters: number,
  goOn: GoOn,
): Promise<Row[]> {
  const hypershift = "/apis/hypershift.openshift.io/v1beta1/namespaces";
  await inTurns(clusters, 20, async (n) => {
    await cluster.request("DELETE", `${hypershift}/clusters/hostedclusters/c${n}`);
    await cluster.request("DELETE", `${hypershift}/clusters-c${n}/hostedcontrolplanes/c${n}`);
    // There is no garbage collector here.
    const links = `${hypershift}/clusters-c${n}/azureprivatelinkservices`;
    await cluster.request("DELETE", `${links}/private-router`);
  });
  const created = /\/(privateEndpoints|privateLinkServices|privateDnsZones)\/[^/]+$/i;
  const isClean = () => ![...simulator.store.all()].some(({ id }) => created.test(id));
  const came = await goOn(isClean, clusters * 6 + 3_600);
  const of = (name: string) => `${clusters} clusters deleted: ${name}`;
  const { requests } = came;
  const written = (requests.PUT ?? 0) + (requests.DELETE ?? 0);
  return [
    told(of("time"), came.seconds, "s"),
    told(of("Azure writes a cluster"), written / clusters, ""),
    told(of("DNS reads a cluster, polls included"), came.dnsReads / clusters, ""),
    ...Object.entries(came.dnsReadsOf).map(([what, count]) =>
      told(of(`DNS reads a cluster: ${what}`), count / clusters, ""),
    ),
    atMost(of("429s"), came.throttled, "", 0),
    told(of("real time of the run"), came.wallSeconds, "s"),
  ];
}

/** What somebody does to one cluster; a rejected connection is repaired by the next, the deletion of its endpoint. */
function damagesOf(simulator: Simulator, clusters: number, n: number): Damage[] {
  const group = `${groups}/c${n}/`.toLowerCase();
  const endpoint = /\/privateEndpoints\/[^/]+$/i;
  const victim = new Victim(simulator, clusters, (id) => id.startsWith(group));
  const service = serviceOf(simulator, group);
  const shared = new Victim(simulator, clusters, (id) => id.startsWith(service));
  return [
    shared.connectionRejected(/\/privateEndpointConnections\/[^/]+$/i),
    victim.deleted("endpoint", endpoint),
    victim.tagsChanged("endpoint", endpoint),
    shared.tagsChanged("link service", /\/privateLinkServices\/[^/]+$/i),
    victim.deleted("network link", /\/virtualNetworkLinks\/[^/]+$/i),
    victim.claimRemoved("network link", /\/virtualNetworkLinks\/[^/]+$/i),
    victim.deleted("record", /\/A\/api$/),
    victim.addressChanged("record", /\/A\/api$/),
    // With its network link and its records.
    victim.deleted("zone", /\/privateDnsZones\/[^/]+$/i, 2),
    // The endpoint to a deleted link service never works again: it is deleted and recreated too.
    shared.deleted("link service", /\/privateLinkServices\/[^/]+$/i, 3),
  ];
}

/** The link service that the endpoint of a group connects to. */
function serviceOf(simulator: Simulator, group: string): string {
  for (const { id, properties } of simulator.store.all()) {
    const { id: endpoint = "" } = (properties?.privateEndpoint ?? {}) as { id?: string };
    if (endpoint.toLowerCase().startsWith(group))
      return id.toLowerCase().replace(/\/privateendpointconnections\/.*/, "");
  }
  throw new Error(`no link service has an endpoint of ${group}`);
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
      const further: Row[] = [];
      const came = await drive({
        program: program.path,
        clusters: size,
        operationSeconds,
        objects: "/apis/hypershift.openshift.io/v1beta1/hostedcontrolplanes",
        prepare: async (cluster, simulator) => {
          seedManagement(simulator);
          await inTurns(size, 20, (n) => makeCluster(cluster, simulator, n));
        },
        after: async (cluster, simulator, goOn) => {
          const damages = damagesOf(simulator, size, size >> 1);
          const given = { clusters: size, operationSeconds, damages, goOn };
          further.push(...(await restAndDrift(given)));
          further.push(...(await deleteAll(cluster, simulator, size, goOn)));
        },
      });
      rows.push(...rowsOf(size, operationSeconds, came), ...further);
    }
  } finally {
    await program.remove();
  }
  publish(makeReport("hosted", rows), json);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
  process.exitCode = 1;
}
