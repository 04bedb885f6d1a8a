import type { Clock } from "@postern/core/clock.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { installationTag, ownerIn } from "@postern/core/ownership.ts";
import {
  idKey,
  nameOf,
  parentOf,
  parseResourceId,
  type ResourceId,
  resourceGroupOf,
  tryParseResourceId,
} from "@postern/core/resource-id.ts";
import { tagOf } from "@postern/core/tags.ts";
import { Gauge, type Registry } from "@prometheus-io/client";
import type { Arm } from "../azure/arm.ts";
import {
  type PrivateLinkService,
  privateLinkServices,
} from "../azure/gateways/private-link-services.ts";
import { virtualNetworks } from "../azure/gateways/virtual-networks.ts";
import type { Log } from "../kube/log.ts";
import type { Runtime } from "../kube/runtime.ts";
import { balancerOf, mostOnBalancer } from "../private-link/link-service/balancer.ts";
import { natNetwork } from "../private-link/nat-subnets/subnets.ts";

/** What the management group has, as metrics show it. */
interface Inventory {
  /** Link services before each load balancer. */
  byLoadBalancer: ReadonlyMap<string, number>;
  /** Free addresses of each subnet from which a link service takes its own. */
  freeAddresses: ReadonlyMap<string, number>;
  /** Link services of this installation whose object does not exist; undefined where not all objects are watched. */
  orphans: number | undefined;
}

const everyMs = 5 * 60_000;
/** Lists that controllers have read lately are used again. */
const maxAgeMs = 4 * 60_000;
const most = 500;

/**
 * Count what is scarce in the management group: link services before a load balancer, addresses of NAT subnets; and link services
 * without an object. It reads with the lowest priority, every five minutes while this process leads.
 */
export function startLinkInventory(given: {
  registry: Registry;
  runtime: Pick<Runtime, "leading" | "caches">;
  arm: Arm;
  managementGroup: ResourceId;
  installation: string;
  clock: Clock;
  log: Pick<Log, "warn">;
}): () => void {
  const { registry, runtime, clock, log } = given;
  let inventory: Inventory | undefined;
  const stop = new AbortController();
  showInventory(registry, () => (runtime.leading ? inventory : undefined));
  let cancel = () => {};
  const again = (ms: number) => {
    if (!stop.signal.aborted) cancel = clock.after(ms, take);
  };
  const take = () => {
    const links = runtime.caches.of(azurePrivateLinkService);
    if (!runtime.leading || !links.health().filled) return again(10_000);
    // With --namespace, an object that is not watched may exist all the same.
    const uids =
      runtime.caches.namespace === undefined
        ? () => new Set(links.list().map(({ metadata }) => metadata.uid))
        : undefined;
    takeInventory(given, uids, stop.signal)
      .then((taken) => {
        inventory = taken;
      })
      .catch((error: unknown) => {
        inventory = undefined;
        if (!stop.signal.aborted) log.warn({ err: error }, "no inventory of link services");
      })
      .finally(() => again(everyMs));
  };
  again(10_000);
  return () => {
    stop.abort(new Error("stopping"));
    cancel();
  };
}

/** Register the metrics of an inventory. */
export function showInventory(registry: Registry, inventory: () => Inventory | undefined): void {
  const gauge = (
    name: string,
    help: string,
    labelNames: string[],
    fill: (all: Gauge<string>, of: Inventory) => void,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        // Without labels the reset is to 0, which is a number that nobody counted.
        if (labelNames.length === 0) this.remove();
        const current = inventory();
        if (current) fill(this, current);
      },
    });
  gauge(
    "postern_load_balancer_link_services",
    `Private link services before a load balancer of the management group; Azure allows ${mostOnBalancer}`,
    ["load_balancer"],
    (all, { byLoadBalancer }) => {
      const fullest = [...byLoadBalancer].toSorted(([, a], [, b]) => b - a);
      for (const [name, count] of fullest.slice(0, most)) all.set({ load_balancer: name }, count);
    },
  );
  gauge(
    "postern_nat_subnet_free_addresses",
    "Free addresses of a subnet from which private link services take theirs",
    ["subnet"],
    (all, { freeAddresses }) => {
      const fullest = [...freeAddresses].toSorted(([, a], [, b]) => a - b);
      for (const [subnet, free] of fullest.slice(0, most)) all.set({ subnet }, free);
    },
  );
  gauge(
    "postern_orphaned_link_services",
    "Private link services of this installation whose AzurePrivateLinkService does not exist",
    [],
    (all, { orphans }) => {
      if (orphans !== undefined) all.set(orphans);
    },
  );
}

async function takeInventory(
  {
    arm: shared,
    managementGroup,
    installation,
  }: { arm: Arm; managementGroup: ResourceId; installation: string },
  uids: (() => ReadonlySet<string | undefined>) | undefined,
  stopped: AbortSignal,
): Promise<Inventory> {
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(60_000)]);
  const arm = shared.for({ priority: "drift", signal, mayWrite: () => false, id: "inventory" });
  const services = await privateLinkServices(arm).list(managementGroup, maxAgeMs);
  // After the list: a link service that is on it may have been created while it was read.
  const known = uids?.();
  const used = services.flatMap(subnetsOf);
  const subnets = new Set(used.map(idKey));
  const freeAddresses = new Map<string, number>();
  const networks = new Map(
    used.flatMap((subnet) => parentOf(subnet) ?? []).map((id) => [idKey(id), id]),
  );
  for (const id of networks.values()) {
    const observation = await virtualNetworks(arm).observe(id, maxAgeMs);
    if (observation.state !== "exists") continue;
    for (const subnet of natNetwork(id, observation.resource).subnets)
      if (subnets.has(idKey(subnet.id)))
        freeAddresses.set(
          `${observation.resource.name ?? nameOf(id)}/${subnet.name}`,
          subnet.capacity - subnet.configurations.length,
        );
  }
  const orphans =
    known &&
    services.filter(
      ({ tags }) =>
        tagOf(tags, installationTag) === installation && !known.has(ownerIn(tags)?.uid ?? ""),
    ).length;
  return { byLoadBalancer: countByLoadBalancer(services), freeAddresses, orphans };
}

/** How many link services each load balancer has, by `resource group/name` in lower case: Azure may answer one id in several cases. */
export function countByLoadBalancer(
  services: readonly Pick<PrivateLinkService, "properties">[],
): Map<string, number> {
  const byBalancer = Map.groupBy(services, ({ properties }) => balancerOf(properties));
  return new Map(
    [...byBalancer].flatMap(([key, { length }]) => {
      const balancer = key && parseResourceId(key);
      return balancer ? [[`${resourceGroupOf(balancer)}/${nameOf(balancer)}`, length]] : [];
    }),
  );
}

function subnetsOf({ properties }: PrivateLinkService): ResourceId[] {
  return (properties.ipConfigurations ?? []).flatMap(
    (each) =>
      tryParseResourceId(
        each.properties?.subnet?.id,
        "Microsoft.Network/virtualNetworks/subnets",
      ) ?? [],
  );
}
