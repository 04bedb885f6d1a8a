import type { Change } from "../../kube/cache.ts";
import type { KubeObject } from "../../model/kind.ts";
import type { AzurePrivateLinkService } from "../../model/kinds/azure-private-link-service.ts";
import { idKey, lastSegment } from "../../model/resource-id.ts";
import type { NatNetwork, NatSubnet } from "./nat-subnets.ts";

/**
 * On the namespace of a control plane, for each of its links: the subnet that was created for the link or that it shares.
 * Written before the subnet is created, so that it is deleted also after a crash; a subnet that was there before us is
 * never noted. It is on the namespace because what is noted may be deleted, and tenants cannot write namespaces.
 */
const notePrefix = "nat-subnet.postern.io/";

/** The annotation of a namespace for a link. */
export function natSubnetAnnotation(link: string): string {
  return `${notePrefix}${link}`;
}

/** The subnet that a namespace notes for a link. */
export function notedSubnetOf(namespace: KubeObject | undefined, link: string): string | undefined {
  return namespace?.metadata.annotations?.[natSubnetAnnotation(link)];
}

/** A link object, as far as its reservations are concerned. */
interface LinkName {
  uid: string;
  namespace: string;
}

interface User {
  /** The namespace of the link. */
  namespace: string;
  subnet: string;
  /** The name of its link service, where it is known: the interface in the subnet is named after it. */
  service: string | undefined;
}

/** How long a subnet that is about to be deleted is closed to those who come. */
const closedMs = 60_000;

/**
 * Who takes addresses from which of our subnets: what the objects note, what was promised to those that have noted nothing
 * yet, and what else was seen in the subnets. One process decides, so nobody is promised what another was.
 */
export class NatUsers {
  readonly #byUid = new Map<string, User>();
  readonly #inSubnet = new Map<string, Set<string>>();
  /** Those that have no link service any more and only wait for their finalizer to go. */
  readonly #left = new Set<string>();
  /** How many addresses somebody held whom we do not know, when the network was last seen. */
  readonly #strangers = new Map<string, number>();
  readonly #closed = new Map<string, number>();

  /** Follow the objects: `noted` says what was reserved for one before this process began. */
  follow(
    { before, after }: Pick<Change<AzurePrivateLinkService>, "before" | "after">,
    noted: (link: AzurePrivateLinkService) => string | undefined,
  ): void {
    const uid = (after ?? before)?.metadata.uid;
    if (uid === undefined) return;
    if (after === undefined) {
      this.#forget(uid);
      this.#left.delete(uid);
      return;
    }
    if (this.#byUid.has(uid) || this.#left.has(uid)) return;
    const subnet = noted(after);
    if (subnet === undefined) return;
    const service = after.status?.privateLinkServiceID;
    const user = { uid, namespace: after.metadata.namespace ?? "" };
    this.reserve(user, subnet, service === undefined ? undefined : lastSegment(service));
  }

  /** Reserve an address of a subnet for an object. */
  reserve({ uid, namespace }: LinkName, subnet: string, service?: string): void {
    const key = idKey(subnet);
    const held = this.#byUid.get(uid);
    if (held?.subnet === key) {
      held.service ??= service?.toLowerCase();
      return;
    }
    this.#forget(uid);
    this.#byUid.set(uid, { namespace, subnet: key, service: service?.toLowerCase() });
    const users = this.#inSubnet.get(key);
    if (users) users.add(uid);
    else this.#inSubnet.set(key, new Set([uid]));
  }

  /** The object takes no address any more. */
  leave(uid: string): void {
    this.#forget(uid);
    this.#left.add(uid);
  }

  /** The subnet that was promised to an object, as the key of its id. */
  subnetOf(uid: string): string | undefined {
    return this.#byUid.get(uid)?.subnet;
  }

  /** Whether any object but this one is promised an address of a subnet. */
  othersIn(subnet: string, uid: string): boolean {
    const users = this.#inSubnet.get(idKey(subnet));
    return users !== undefined && users.size > (users.has(uid) ? 1 : 0);
  }

  /** Whether another link of the same control plane has an address of a subnet reserved. */
  siblingsIn(subnet: string, { uid, namespace }: LinkName): boolean {
    return this.#othersOf(subnet, uid).some((each) => each.namespace === namespace);
  }

  /** Whether a link of another control plane has an address of a subnet reserved. */
  strangersIn(subnet: string, { uid, namespace }: LinkName): boolean {
    return this.#othersOf(subnet, uid).some((each) => each.namespace !== namespace);
  }

  #othersOf(subnet: string, uid: string): User[] {
    return [...(this.#inSubnet.get(idKey(subnet)) ?? [])]
      .filter((each) => each !== uid)
      .flatMap((each) => this.#byUid.get(each) ?? []);
  }

  /** How many addresses of a subnet are held or promised. */
  usedIn(subnet: Pick<NatSubnet, "id">): number {
    const key = idKey(subnet.id);
    return (this.#inSubnet.get(key)?.size ?? 0) + (this.#strangers.get(key) ?? 0);
  }

  /** Count, once for each look at a network, who is in its subnets beside the users that are known. */
  saw(network: NatNetwork): void {
    for (const { id, configurations } of network.subnets) {
      const key = idKey(id);
      const known = new Set<string>();
      for (const uid of this.#inSubnet.get(key) ?? []) {
        const service = this.#byUid.get(uid)?.service;
        if (service !== undefined) known.add(service);
      }
      const strangers = configurations.filter((each) => !known.has(serviceBehind(each) ?? ""));
      if (strangers.length === 0) this.#strangers.delete(key);
      else this.#strangers.set(key, strangers.length);
    }
  }

  /** Keep those who come out of a subnet that is about to be deleted. */
  close(subnet: string, now: number): void {
    this.#closed.set(idKey(subnet), now + closedMs);
  }

  /** Whether a subnet is about to be deleted. */
  isClosed(subnet: string, now: number): boolean {
    const until = this.#closed.get(idKey(subnet));
    if (until === undefined) return false;
    if (now < until) return true;
    this.#closed.delete(idKey(subnet));
    return false;
  }

  #forget(uid: string): void {
    const held = this.#byUid.get(uid);
    if (held === undefined) return;
    this.#byUid.delete(uid);
    const users = this.#inSubnet.get(held.subnet);
    users?.delete(uid);
    if (users?.size === 0) this.#inSubnet.delete(held.subnet);
  }
}

/** The link service to whose interface an IP configuration belongs: Azure names that `<service>.nic.<guid>`. */
export function serviceBehind(configuration: string): string | undefined {
  return /\/networkInterfaces\/([^/]+)\.nic\.[^/.]+\/ipConfigurations\//i
    .exec(configuration)?.[1]
    ?.toLowerCase();
}
