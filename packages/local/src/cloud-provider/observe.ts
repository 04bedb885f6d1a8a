import type { Service } from "@postern/core/kinds/core.ts";
import { type ResourceId, resourceIn } from "@postern/core/resource-id.ts";
import type { ArmClient } from "postern/azure/arm.ts";
import { loadBalancers } from "postern/azure/gateways/load-balancers.ts";
import {
  type NetworkInterface,
  networkInterfaces,
} from "postern/azure/gateways/network-interfaces.ts";
import { privateLinkServices } from "postern/azure/gateways/private-link-services.ts";
import type { Reconcile } from "postern/kube/reconcile.ts";
import { type Claim, frontendsOn, type Ground } from "./arrange.ts";
import {
  balancerName,
  balancerNumber,
  cleanupFinalizer,
  frontendName,
  internalAnnotation,
  type Port,
  publicAddressName,
} from "./names.ts";
import type { Observed, SeenBalancer } from "./plan.ts";
import { publicAddresses } from "./public-addresses.ts";

/** How old a sighting may be: our own writes are known, and nobody else writes here. */
const acceptedMs = 10 * 60_000;
const driftMs = 150_000;
/** Link services come and go by another's hand. */
const linksMs = 5_000;
/** A machine leaves a pool without our write when the load balancer goes. */
const machinesMs = 60_000;

const kinds = ["internal", "public"] as const;

/** Sees for one Service, and remembers how many load balancers of each kind there have ever been. */
export function observer(given: {
  managementGroup: ResourceId;
  machines: readonly ResourceId[];
  ground: Ground;
  services: () => readonly Service[];
  /** Whether a Service is one that may be served at all. */
  serves: (object: Service) => boolean;
}): (object: Service, arm: ArmClient, reconcile: Reconcile) => Promise<Observed> {
  const { managementGroup: group, ground } = given;
  const most = { internal: 1, public: 1 };
  const idOf = (kind: "internal" | "public", number: number) =>
    resourceIn(group, "Microsoft.Network/loadBalancers", balancerName(kind === "internal", number));

  async function seeBalancers(
    arm: ArmClient,
    claims: readonly Claim[],
    maxAgeMs: number,
  ): Promise<SeenBalancer[]> {
    const gateway = loadBalancers(arm);
    const listed = await gateway.list(group, maxAgeMs);
    const found: SeenBalancer[] = [];
    for (const kind of kinds) {
      const numbers = listed.map(({ name = "" }) => balancerNumber(kind === "internal", name) ?? 0);
      const there = listed.flatMap((balancer, at) =>
        numbers[at] ? frontendsOn({ balancer }) : [],
      );
      const wanted = claims.flatMap((claim) => (claim.wants === kind ? claim.frontend : []));
      // Others may have put theirs on it too, and what a link service uses stays for a while.
      const needed = Math.ceil(new Set([...there, ...wanted]).size / ground.frontendsEach[kind]);
      // What is being written is in no list: without this it would be taken for absent.
      most[kind] = Math.max(most[kind], needed, ...numbers);
      for (let number = 1; number <= most[kind]; number++) {
        const id = idOf(kind, number);
        found.push({ id, kind, observation: await gateway.observe(id, maxAgeMs) });
      }
    }
    return found;
  }

  /** Those that are there: a node may be gone for a while, and comes back under its name. */
  async function seeMachines(arm: ArmClient): Promise<NetworkInterface[]> {
    const gateway = networkInterfaces(arm);
    const looks = await Promise.all(given.machines.map((id) => gateway.observe(id, machinesMs)));
    return looks.flatMap((observation) =>
      observation.state === "exists" ? observation.resource : [],
    );
  }

  return async (object, arm, reconcile) => {
    const own = given.serves(object) ? claimOf(object) : undefined;
    const publicAddress = {
      id: addressId(group, own?.frontend ?? ""),
      observation: { state: "absent" },
    } as Observed["publicAddress"];
    const told = object.status?.loadBalancer;
    const deletedAt = object.metadata.deletionTimestamp;
    const seen: Observed = {
      claim: own,
      held: hasFinalizer(object),
      deletedMsAgo:
        deletedAt === undefined ? undefined : reconcile.date().getTime() - Date.parse(deletedAt),
      claims: [],
      balancers: [],
      publicAddress,
      machines: [],
      usedFrontends: [],
      told,
      ground,
    };
    if (own === undefined || !seen.held) return seen;
    const maxAgeMs = reconcile.priority === "drift" ? driftMs : acceptedMs;
    const addresses = publicAddresses(arm);
    const made = new Map(
      (await addresses.list(group, maxAgeMs)).flatMap(({ name = "", id, properties }) =>
        properties.ipAddress === undefined || id === undefined ? [] : [[name, id] as const],
      ),
    );
    const claims = given
      .services()
      .filter(given.serves)
      // One that is not held yet could be gone tomorrow, and its frontend would stay.
      .flatMap((each) => (hasFinalizer(each) ? (claimOf(each) ?? []) : []))
      .map((claim) => ({ ...claim, publicAddressId: made.get(publicAddressName(claim.frontend)) }));
    const balancers = await seeBalancers(arm, claims, maxAgeMs);
    for (const { id, observation } of balancers)
      if (observation.state === "failed")
        reconcile.log.warn({ id, ...observation.failure }, "load balancer failed");
    return {
      ...seen,
      claims,
      balancers,
      machines: await seeMachines(arm),
      publicAddress: {
        ...publicAddress,
        observation: await addresses.observe(publicAddress.id, maxAgeMs),
      },
      usedFrontends: anyMustGo(claims, balancers) ? await usedFrontends(arm, group) : [],
    };
  };
}

/** Whether a frontend is where its Service does not want it: only then it matters who else uses it. */
function anyMustGo(claims: readonly Claim[], balancers: readonly SeenBalancer[]): boolean {
  const wants = new Map(claims.map((claim) => [claim.frontend, claim.wants]));
  return balancers.some(
    ({ kind, observation }) =>
      observation.state === "exists" &&
      frontendsOn({ balancer: observation.resource }).some(
        (name) => wants.has(name) && wants.get(name) !== kind,
      ),
  );
}

async function usedFrontends(arm: ArmClient, group: ResourceId): Promise<string[]> {
  const services = await privateLinkServices(arm).list(group, linksMs);
  return services.flatMap(
    ({ properties }) =>
      properties.loadBalancerFrontendIpConfigurations?.map((each) => each.id) ?? [],
  );
}

/** What a Service asks for; undefined where it is none of ours and never was. */
export function claimOf(object: Service): Claim | undefined {
  const { uid = "", creationTimestamp = "", deletionTimestamp, annotations } = object.metadata;
  const spec: (Service["spec"] & { loadBalancerClass?: string }) | undefined = object.spec;
  // A class names another one who does this.
  const asks =
    spec?.type === "LoadBalancer" &&
    spec.loadBalancerClass === undefined &&
    deletionTimestamp === undefined;
  if (!asks && !hasFinalizer(object)) return undefined;
  const internal = annotations?.[internalAnnotation]?.toLowerCase() === "true";
  return {
    frontend: frontendName(uid),
    wants: asks ? (internal ? "internal" : "public") : undefined,
    ports: (spec?.ports ?? []).flatMap(({ protocol = "TCP", port }): Port[] =>
      protocol === "TCP" || protocol === "UDP" ? [{ protocol, port }] : [],
    ),
    createdAt: creationTimestamp,
  };
}

function hasFinalizer({ metadata }: Service): boolean {
  return metadata.finalizers?.includes(cleanupFinalizer) === true;
}

function addressId(group: ResourceId, frontend: string): ResourceId {
  return resourceIn(group, "Microsoft.Network/publicIPAddresses", publicAddressName(frontend));
}
