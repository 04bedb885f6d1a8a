import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import { service } from "@postern/core/kinds/core.ts";
import { frontendName } from "@postern/local/cloud-provider/names.ts";
import { fastClock } from "@postern/local/fast-clock.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { conditions as capi } from "postern/cluster-api/names.ts";
import { conditions as hosted } from "postern/hosted/names.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { gather } from "postern/view/gather.ts";
import { tracesOf } from "postern/view/trace.ts";
import type { World } from "postern/view/world.ts";
import {
  apiBalancer,
  baseDomain,
  networkIn,
  subscriptions,
  type workloadSlots,
  worldIdentity,
} from "./places.ts";

/** Both worlds as they are, and the Services. */
export interface Sight {
  world: World;
  services: Service[];
}

/** What a cluster says of itself, and what is true of it in Azure. */
export interface Claim {
  name: string;
  /** Whether it says that it can be reached. */
  available: boolean;
  deleting: boolean;
  /** Why a client could not connect now; undefined where one could. */
  broken: string | undefined;
}

/** Looks at both worlds directly, as one who may read everything and whom no fault strikes. */
export class Observer {
  readonly #kube: KubeClient;
  readonly #arm: Arm;

  private constructor(kube: KubeClient, arm: Arm) {
    this.#kube = kube;
    this.#arm = arm;
  }

  static async start(kubeconfig: string, simulator: Simulator, speed: number): Promise<Observer> {
    const userAgent = "storm-observer";
    const kube = new KubeClient(await fromKubeconfig(kubeconfig), { userAgent });
    const token = simulator.directory.tokenFor(worldIdentity, { forMs: 86_400_000 });
    const arm = new Arm({
      cloud: customCloud({ resourceManager: simulator.url }),
      credential: { identity: "world", token: async () => token },
      clock: fastClock(speed),
      userAgent,
    });
    return new Observer(kube, arm);
  }

  /** Look once. */
  async look(): Promise<Sight> {
    const signal = AbortSignal.timeout(15_000);
    const arm = this.#arm.for({ priority: "change", signal, mayWrite: () => false, id: "storm" });
    const all = Object.values(subscriptions);
    const world = await gather({ kube: this.#kube, arm, signal, subscriptions: all });
    const services: Service[] = [];
    for await (const { items } of this.#kube.list<Service>(service, { signal }))
      services.push(...items);
    return { world, services };
  }

  close(): void {
    this.#arm.close();
    this.#kube.close();
  }
}

/** What every cluster says, and whether it is so. */
export function claimsOf({ world, services }: Sight): Claim[] {
  const isTrue = (
    conditions: readonly { type: string; status: string }[] | undefined,
    type: string,
  ) => conditions?.find((each) => each.type === type)?.status === "True";
  const { hostedClusters, azureClusters } = world.kube;
  return [
    ...hostedClusters.map((cluster): Claim => {
      const { name } = cluster.metadata;
      const { azure } = cluster.spec.platform;
      const domain = cluster.spec.dns?.baseDomain ?? "";
      const frontends = services
        .filter(({ metadata }) => metadata.namespace === `clusters-${name}`)
        .map(({ metadata }) => frontendName(metadata.uid ?? ""));
      const hosts = [
        `api.${name}.hypershift.local`,
        `console.apps.${name}.hypershift.local`,
        `api-${name}.${domain}`,
        `oauth-${name}.${domain}`,
      ];
      const broken = hosts.map((host) =>
        whyBroken(world, host, azure?.vnetID ?? "", (id) =>
          frontends.some((each) => id.endsWith(`/${each.toLowerCase()}`)),
        ),
      );
      return {
        name,
        available: isTrue(cluster.status?.conditions, hosted.available),
        deleting: cluster.metadata.deletionTimestamp !== undefined,
        broken: broken.find((each) => each !== undefined),
      };
    }),
    ...azureClusters
      .filter(({ metadata }) => metadata.name !== "mc")
      .map((cluster): Claim => {
        const name = cluster.metadata.name as (typeof workloadSlots)[number];
        const leadsTo = (balancer: string) => (id: string) =>
          id.startsWith(`${balancer.toLowerCase()}/`);
        const broken =
          whyBroken(
            world,
            `apiserver.${name}.${baseDomain}`,
            networkIn("mc"),
            leadsTo(apiBalancer(name)),
          ) ??
          whyBroken(world, `ingress.mc.${baseDomain}`, networkIn(name), leadsTo(apiBalancer("mc")));
        const { conditions } = cluster.status ?? {};
        return {
          name,
          available: isTrue(conditions, capi.links) && isTrue(conditions, capi.dnsZone),
          deleting: cluster.metadata.deletionTimestamp !== undefined,
          broken,
        };
      }),
  ];
}

/** Why a host does not lead from a network to a frontend that is the right one; undefined where it does. */
function whyBroken(
  world: World,
  host: string,
  network: string,
  isRight: (frontend: string) => boolean,
): string | undefined {
  const [trace] = tracesOf(world, host, network);
  if (trace === undefined) return `${host}: no zone knows it in ${network.split("/").at(-1)}`;
  const last = trace.hops.at(-1);
  if (!trace.works) return `${host}: ${last?.what} ${last?.name}: ${last?.found}`;
  const frontends = trace.hops.flatMap((hop) => hop.frontends ?? []);
  if (frontends.length > 0 && frontends.every(isRight)) return undefined;
  return `${host}: leads to ${frontends.map((id) => id.split("/").at(-1)).join(", ")}, which is another's`;
}
