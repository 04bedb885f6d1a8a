import { join } from "node:path";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { OperatorSettings } from "postern/operator/operator.ts";
import type { Program } from "./fleet.ts";
import {
  applianceNames,
  baseDomain,
  clientIdOf,
  groups,
  hostedSlots,
  location,
  machineId,
  nodeInterfaces,
  pool,
  secret,
  subnetIn,
  subscriptions,
  tenant,
  worldIdentity,
} from "./places.ts";
import type { Layout } from "./plan.ts";
import type { GivenAgent } from "./processes/agent.ts";
import type { GivenCloudProvider } from "./processes/cloud-provider.ts";
import type { GivenOperator } from "./processes/operator.ts";

/** What the programs of a storm are started with. */
export interface Deployment {
  layout: Layout;
  simulator: Simulator;
  /** Where the programs are, as JavaScript. */
  programs: string;
  /** Kubeconfigs: through the proxy, and directly. */
  kubeconfig: { proxied: string; direct: string };
  caFile: string;
  policyFile: string;
  speed: number;
}

/** The leader election by the clock of the operators: 4 s, 2.7 s and 0.5 s at full speed, because the API server is no faster. */
const electionMs = { leaseDuration: 240_000, renewDeadline: 162_000, retryPeriod: 30_000 };
/** Agents ask their metadata service every second of their own, which answers five times in one. */
const agentSpeed = 5;

/** The programs that share a Lease have the same name but for the last letter. */
export function groupOf(name: string): string {
  return name.replace(/-[ab]$/, "");
}

/** Postern's processes: operators with two replicas, and agents. */
export async function posternPrograms(deployment: Deployment): Promise<Program[]> {
  const { layout, simulator, programs, speed } = deployment;
  const clusterApi: Partial<OperatorSettings> = {
    managementClusterName: "mc",
    managementClusterNamespace: "org-mc",
    azureClusterGates: ["GSPrivateLinksReady", "GSDNSZoneReady"],
    baseDomain,
    baseDomainResourceGroup: "dns",
  };
  const twice = (name: string, client: string, settings: Partial<OperatorSettings>) =>
    ["a", "b"].map((each) => operator(deployment, `${name}-${each}`, client, settings));
  const operators =
    layout === "all"
      ? twice("operator", "operator", { role: "all", ...clusterApi })
      : [
          ...twice("management", "operator", { role: "management" }),
          ...twice("cluster-api", "operator", { role: "cluster-api", ...clusterApi }),
          ...hostedSlots.map(({ name }) =>
            operator(deployment, `control-plane-${name}`, name, {
              role: "control-plane",
              namespace: `clusters-${name}`,
            }),
          ),
        ];
  const agents = await Promise.all(
    applianceNames.map(async (name): Promise<Program> => {
      const imds = await simulator.machines.find(machineId(name));
      const given: GivenAgent = {
        name,
        imdsHost: imds?.url ?? "",
        resourceManager: simulator.url,
        pool,
        speed: Math.min(speed, agentSpeed),
      };
      return { name, file: join(programs, "agent.js"), given, mayEndWith: [0, 1] };
    }),
  );
  return [...operators, ...agents];
}

function operator(
  { simulator, programs, kubeconfig, caFile, policyFile, speed }: Deployment,
  name: string,
  client: string,
  settings: Partial<OperatorSettings>,
): Program {
  const given: GivenOperator = {
    settings: {
      role: "all",
      kubeconfig: kubeconfig.proxied,
      natSubnets: "shared",
      natPrefixLength: 24,
      tenantPolicy: policyFile,
      listen: { host: "127.0.0.1", port: 0 },
      dashboard: false,
      leaderElect: true,
      leaderElectLeaseDuration: electionMs.leaseDuration,
      leaderElectRenewDeadline: electionMs.renewDeadline,
      leaderElectRetryPeriod: electionMs.retryPeriod,
      logFormat: "json",
      logLevel: "info",
      // It names the process in every request.
      version: name,
      ...settings,
    },
    speed,
  };
  return {
    name,
    file: join(programs, "operator.js"),
    given,
    env: {
      POD_NAME: name,
      AZURE_RESOURCE_MANAGER_ENDPOINT: simulator.url,
      AZURE_AUTHORITY_HOST: simulator.httpsUrl ?? "",
      AZURE_CA_FILE: caFile,
      NODE_EXTRA_CA_CERTS: caFile,
      AZURE_TENANT_ID: tenant,
      AZURE_CLIENT_ID: clientIdOf(client),
      AZURE_CLIENT_SECRET: secret,
      AZURE_SUBSCRIPTION_ID: subscriptions.management,
      AZURE_RESOURCE_GROUP: "management",
    },
  };
}

/** What gives Services their load balancers. It is a part of the world: no fault strikes it. */
export function cloudProvider({ simulator, programs, kubeconfig, speed }: Deployment): Program {
  const given: GivenCloudProvider = {
    kubeconfig: kubeconfig.direct,
    resourceManager: simulator.url,
    token: simulator.directory.tokenFor(worldIdentity, { forMs: 86_400_000 }),
    managementGroup: groups.management,
    subnetId: subnetIn("management"),
    location,
    machines: nodeInterfaces,
    speed,
  };
  return { name: "cloud-provider", file: join(programs, "cloud-provider.js"), given };
}
