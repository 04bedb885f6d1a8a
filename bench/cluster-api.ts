import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { AuditEntry, Cluster } from "../test/setup/cluster.ts";
import {
  azureClusterObject,
  clusterObject,
  conditionsOf,
} from "../test/system/cluster-api/objects.ts";
import { type Damage, restAndDrift, Victim } from "./clocked/drift.ts";
import { drive, inTurns, post } from "./clocked/drive.ts";
import {
  groups,
  location,
  network,
  networkBody,
  secondsFor,
  subscription,
  timeRows,
} from "./clocked/places.ts";
import { atMost, makeReport, publish, type Row, told } from "./report.ts";
import { shipped } from "./shipped.ts";

const usage =
  "npm run bench:cluster-api -- [--clusters 200] [--json FILE] [--operation-seconds 30]";

/** Three zones, two links to networks, the names and the delegation, a link service and two endpoints. */
const writesACluster = 16;
/** The link service, the endpoint to it, the zone of its names, and the link of that to the network. */
const longestChain = 4;
/** What the management cluster takes, however many there are, and a few that Azure refused and were made again. */
const writesBeside = 20;

const managementLink = "mc-gateway-privatelink";

/** The link of the management cluster is older than any workload cluster. */
function linkInAzure(simulator: Simulator): void {
  const group = `${groups}/mc/${network}`;
  const allowed = { subscriptions: [subscription] };
  simulator.change(`${group}/privateLinkServices/${managementLink}`, {
    location,
    tags: { "sigs.k8s.io_cluster-api-provider-azure_cluster_mc": "owned" },
    properties: {
      loadBalancerFrontendIpConfigurations: [
        { id: `${group}/loadBalancers/mc-internal-lb/frontendIPConfigurations/front` },
      ],
      ipConfigurations: [
        {
          name: "nodes-natipconfig-1",
          properties: {
            primary: true,
            subnet: { id: `${group}/virtualNetworks/mc-vnet/subnets/nodes` },
          },
        },
      ],
      visibility: allowed,
      autoApproval: allowed,
    },
  });
}

/** What CAPZ has made of a cluster: a group, a network and the load balancer of its API server. */
function inAzure(simulator: Simulator, name: string): void {
  const group = `${groups}/${name}`;
  const vnet = `${group}/${network}/virtualNetworks/${name}-vnet`;
  const open = { privateLinkServiceNetworkPolicies: "Disabled" };
  simulator.change(group, { location });
  simulator.change(vnet, networkBody("10.0.0.0/16", "nodes", "10.0.0.0/18", open));
  simulator.change(`${group}/${network}/loadBalancers/${name}-internal-lb`, {
    location,
    sku: { name: "Standard" },
    properties: {
      frontendIPConfigurations: [
        { name: "front", properties: { subnet: { id: `${vnet}/subnets/nodes` } } },
      ],
    },
  });
}

function azureClusterOf(namespace: string, name: string, link: string) {
  return azureClusterObject(namespace, name, {
    networkSpec: {
      vnet: {
        name: `${name}-vnet`,
        id: `${groups}/${name}/${network}/virtualNetworks/${name}-vnet`,
      },
      apiServerLB: {
        type: "Internal",
        frontendIPs: [{ name: "front", privateIP: "10.0.0.100" }],
        privateLinks: [
          {
            name: link,
            natIPConfigurations: [{ allocationMethod: "Dynamic", subnet: "nodes" }],
            lbFrontendIPConfigNames: ["front"],
            allowedSubscriptions: [subscription],
            autoApprovedSubscriptions: [subscription],
          },
        ],
      },
      subnets: [{ name: "nodes", role: "node" }],
    },
  });
}

const pathTo = {
  azure: (namespace: string) =>
    `/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/${namespace}/azureclusters`,
  cluster: (namespace: string) => `/apis/cluster.x-k8s.io/v1beta2/namespaces/${namespace}/clusters`,
};

async function say(cluster: Cluster, path: string, status: object): Promise<void> {
  const contentType = "application/merge-patch+json";
  const answer = await cluster.request("PATCH", `${path}/status`, status, { contentType });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

async function makeCluster(
  cluster: Cluster,
  simulator: Simulator,
  namespace: string,
  name: string,
  link: string,
): Promise<void> {
  inAzure(simulator, name);
  await post(cluster, pathTo.azure(namespace), azureClusterOf(namespace, name, link));
  await post(cluster, pathTo.cluster(namespace), clusterObject(namespace, name));
  await say(cluster, `${pathTo.cluster(namespace)}/${name}`, { status: { phase: "Provisioned" } });
  const ready = conditionsOf({ LoadBalancersReady: "True" });
  await say(cluster, `${pathTo.azure(namespace)}/${name}`, ready);
}

async function prepare(cluster: Cluster, simulator: Simulator, clusters: number): Promise<void> {
  for (const name of ["org-mc", "org"])
    await post(cluster, "/api/v1/namespaces", { metadata: { name } });
  simulator.change(`${groups}/base`, { location });
  simulator.change(`${groups}/base/${network}/dnsZones/example.com`, { location: "global" });
  await makeCluster(cluster, simulator, "org-mc", "mc", managementLink);
  linkInAzure(simulator);
  await inTurns(clusters, 20, (n) =>
    makeCluster(cluster, simulator, "org", `wc${n}`, `wc${n}-api-privatelink`),
  );
}

/** Every name: the API server's in the management network, the gateway's in each workload network. */
function allNamed(simulator: Simulator, clusters: number): boolean {
  const names = { apiserver: 0, ingress: 0 };
  for (const { id } of simulator.store.all()) {
    if (/\/privateDnsZones\/wc\d+\.[^/]+\/A\/apiserver$/i.test(id)) names.apiserver++;
    if (/\/privateDnsZones\/mc\.[^/]+\/A\/ingress$/i.test(id)) names.ingress++;
  }
  return names.apiserver >= clusters && names.ingress >= clusters;
}

/** How many endpoints to workload clusters the management AzureCluster asks for. */
async function injectedIn(cluster: Cluster): Promise<number> {
  type Found = {
    spec: { networkSpec: { subnets: { privateEndpoints?: { name: string }[] }[] } };
  };
  const { body } = await cluster.request<Found>("GET", `${pathTo.azure("org-mc")}/mc`);
  const names = body.spec.networkSpec.subnets.flatMap(({ privateEndpoints = [] }) =>
    privateEndpoints.map(({ name }) => name),
  );
  return new Set(names.filter((name) => /^wc\d+-api-privatelink-privateendpoint$/.test(name))).size;
}

/** What somebody does to one cluster: in its own group, and to its names in that of the management cluster. */
function damagesOf(simulator: Simulator, clusters: number, n: number): Damage[] {
  const own = `${groups}/wc${n}/`.toLowerCase();
  const victim = new Victim(simulator, clusters, (id) => id.startsWith(own));
  const named = new Victim(simulator, clusters, (id) =>
    id.includes(`/resourcegroups/mc/providers/microsoft.network/privatednszones/wc${n}.`),
  );
  return [
    victim.deleted("endpoint", /\/privateEndpoints\/[^/]+$/i),
    victim.deleted("network link", /\/virtualNetworkLinks\/[^/]+$/i),
    victim.deleted("public record", /\/dnsZones\/[^/]+\/A\/api$/i),
    named.deleted("private record", /\/A\/apiserver$/i),
    named.addressChanged("private record", /\/A\/apiserver$/i),
    // With its network link and its records.
    named.deleted("private zone", /\/privateDnsZones\/[^/]+$/i, 2),
  ];
}

async function measure(
  program: string,
  clusters: number,
  operationSeconds: number,
): Promise<Row[]> {
  let managementWrites = 0;
  let injected = 0;
  const further: Row[] = [];
  const came = await drive({
    program,
    clusters,
    operationSeconds,
    objects: "/apis/infrastructure.cluster.x-k8s.io/v1beta1/azureclusters",
    prepare: (cluster, simulator) => prepare(cluster, simulator, clusters),
    done: (_cluster, simulator) => allNamed(simulator, clusters),
    after: async (cluster, simulator, goOn) => {
      const lines = (await readFile(cluster.auditLog, "utf8")).split("\n").filter(Boolean);
      const writes = lines
        .map((line) => JSON.parse(line) as AuditEntry)
        .filter(
          ({ verb, userAgent, objectRef }) =>
            ["patch", "update"].includes(verb) &&
            userAgent === "postern-bench" &&
            objectRef?.resource === "azureclusters" &&
            objectRef.name === "mc" &&
            objectRef.subresource === undefined,
        );
      managementWrites = writes.length;
      injected = await injectedIn(cluster);
      const damages = damagesOf(simulator, clusters, clusters >> 1);
      further.push(...(await restAndDrift({ clusters, operationSeconds, damages, goOn })));
    },
  });
  const sum = (...verbs: string[]) =>
    verbs.reduce((all, verb) => all + (came.requests[verb] ?? 0), 0);
  const written = sum("PUT", "PATCH", "DELETE", "POST");
  const of = (name: string) => `${clusters} clusters: ${name}`;
  return [
    told(of("time to every endpoint and name"), came.seconds, "s"),
    ...timeRows(of, came.seconds, secondsFor(written), longestChain * operationSeconds),
    // The floor grows with the writes, so their number has a bound of its own.
    atMost(of("Azure writes a cluster"), (written - writesBeside) / clusters, "", writesACluster),
    told(of("Azure reads a write, polls included"), sum("GET", "poll") / written, "x"),
    told(of("polls a cluster"), sum("poll") / clusters, ""),
    told(of("DNS reads a cluster, polls included"), came.dnsReads / clusters, ""),
    ...Object.entries(came.dnsReadsOf).map(([what, count]) =>
      told(of(`DNS reads a cluster: ${what}`), count / clusters, ""),
    ),
    atMost(of("429s"), came.throttled, "", 0),
    atMost(of("writes of the management AzureCluster"), managementWrites, "", clusters / 10),
    atMost(of("endpoints that the management AzureCluster lost"), clusters - injected, "", 0),
    told(of("Kubernetes writes a cluster"), came.kubeWrites / clusters, ""),
    told(of("CPU a cluster"), (came.cpuSeconds * 1000) / clusters, "ms"),
    told(of("memory"), came.memoryMB, "MB"),
    told(of("real time of the run"), came.wallSeconds, "s"),
    ...further,
  ];
}

try {
  const { values } = parseArgs({
    options: {
      clusters: { type: "string", default: "200" },
      json: { type: "string" },
      "operation-seconds": { type: "string", default: "30" },
    },
  });
  const [clusters, seconds] = [Number(values.clusters), Number(values["operation-seconds"])];
  if (!(Number.isInteger(clusters) && clusters > 0 && seconds > 0))
    throw new Error("--clusters and --operation-seconds must be numbers from 1 on");
  const program = await shipped("bench/cluster-api/operator.ts");
  try {
    publish(makeReport("capi", await measure(program.path, clusters, seconds)), values.json);
  } finally {
    await program.remove();
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
  process.exitCode = 1;
}
