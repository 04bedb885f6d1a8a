import { idKey, type ResourceId } from "@postern/core/resource-id.ts";
import type { NatNetwork, NatSubnet } from "./subnets.ts";

/** A private link, as far as its reservations are concerned. */
export interface LinkName {
  uid: string;
  /** Links of one namespace belong to one control plane. */
  namespace: string;
}

/** An address of a subnet for the link service of a link. */
export interface Reservation {
  link: LinkName;
  subnet: ResourceId;
  /** The name of the link service: the interface in the subnet is named after it. */
  service: string;
  /** How many addresses the subnet has; absent where its addresses are not counted. */
  capacity?: number;
  /** The network, where the subnet is still to be created in it. */
  createdIn?: ResourceId;
}

/** Who uses a subnet, as one link sees it. */
export interface SubnetUse {
  /** How many of its addresses others use or have reserved. */
  others: number;
  /** Whether an address is reserved for this link. */
  isReserved: boolean;
  /** Whether it is about to be deleted. */
  isClosed: boolean;
}

interface User {
  namespace: string;
  subnet: string;
  service: string | undefined;
  /** Whether the subnet is recorded in Kubernetes: then the record tells when it is given up, by whichever process. */
  isRecorded: boolean;
}

/** How long a subnet that is about to be deleted is closed to new users. */
const closedMs = 60_000;

/**
 * Who takes addresses from which of our subnets: what is recorded in Kubernetes, what was reserved and is not recorded
 * yet, and what else was observed in the subnets. One process decides, so no address is reserved twice.
 */
export class Reservations {
  readonly #byUid = new Map<string, User>();
  readonly #inSubnet = new Map<string, Set<string>>();
  /** Those that have no link service any more and only wait for their finalizer to be removed. */
  readonly #left = new Set<string>();
  /** How many addresses were used by nobody whom we know, when the network was last observed. */
  readonly #strangers = new Map<string, number>();
  readonly #closed = new Map<string, number>();

  /** Follow the record of a link. One that is being deleted and has recorded nothing uses nothing. */
  follow(
    link: LinkName,
    recorded: { subnet: string | undefined; service: string | undefined; isDeleting: boolean },
  ): void {
    const { uid } = link;
    const { subnet, service, isDeleting } = recorded;
    if (this.#left.has(uid)) return;
    const known = this.#byUid.get(uid);
    const isPending = known !== undefined && !known.isRecorded && !isDeleting;
    // What this process has reserved and not recorded yet stays.
    if (isPending && idKey(subnet ?? "") !== known.subnet) return;
    if (subnet === undefined) {
      this.#release(uid);
      return;
    }
    this.reserve(link, subnet, service);
    const reserved = this.#byUid.get(uid);
    if (reserved !== undefined) reserved.isRecorded = true;
  }

  /** The object is gone. */
  delete(uid: string): void {
    this.#release(uid);
    this.#left.delete(uid);
  }

  /** Reserve an address of a subnet for a link. */
  reserve({ uid, namespace }: LinkName, subnet: string, service?: string): void {
    const key = idKey(subnet);
    const reservation = this.#byUid.get(uid);
    if (reservation?.subnet === key) {
      reservation.service ??= service?.toLowerCase();
      return;
    }
    this.#release(uid);
    const isRecorded = false;
    this.#byUid.set(uid, { namespace, subnet: key, service: service?.toLowerCase(), isRecorded });
    const users = this.#inSubnet.get(key);
    if (users) users.add(uid);
    else this.#inSubnet.set(key, new Set([uid]));
  }

  /** The same, unless another link was faster or the subnet is about to be deleted. */
  tryReserve({ link, subnet, service, capacity }: Reservation, now: number): boolean {
    if (capacity !== undefined) {
      const { others, isClosed } = this.useOf(subnet, link, now);
      if (isClosed || others >= capacity) return false;
    }
    this.reserve(link, subnet, service);
    return true;
  }

  /** The link takes no address any more. */
  unreserve(uid: string): void {
    this.#release(uid);
    this.#left.add(uid);
  }

  /** Who uses a subnet, beside a link. */
  useOf(subnet: string, { uid }: LinkName, now: number): SubnetUse {
    const isReserved = this.#byUid.get(uid)?.subnet === idKey(subnet);
    return {
      others: this.usedIn({ id: subnet }) - (isReserved ? 1 : 0),
      isReserved,
      isClosed: this.isClosed(subnet, now),
    };
  }

  /** Whether any link but this one has an address of a subnet reserved. */
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

  /** How many addresses of a subnet are used or reserved. */
  usedIn(subnet: { id: string }): number {
    const key = idKey(subnet.id);
    return (this.#inSubnet.get(key)?.size ?? 0) + (this.#strangers.get(key) ?? 0);
  }

  /** Count, once for each read of a network, who is in its subnets beside the users that are known. */
  recordNetwork(network: NatNetwork): void {
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

  /** Close a subnet that is about to be deleted to new users, unless a link other than this one uses it. */
  tryClose(subnet: string, uid: string, now: number): boolean {
    if (this.othersIn(subnet, uid)) return false;
    this.#closed.set(idKey(subnet), now + closedMs);
    return true;
  }

  /** Whether a subnet is about to be deleted. */
  isClosed(subnet: string, now: number): boolean {
    return now < (this.#closed.get(idKey(subnet)) ?? Number.NEGATIVE_INFINITY);
  }

  #release(uid: string): void {
    const reservation = this.#byUid.get(uid);
    if (reservation === undefined) return;
    this.#byUid.delete(uid);
    const users = this.#inSubnet.get(reservation.subnet);
    users?.delete(uid);
    if (users?.size === 0) this.#inSubnet.delete(reservation.subnet);
  }
}

/** The link service to whose interface an IP configuration belongs: Azure names that `<service>.nic.<guid>`. */
export function serviceBehind(configuration: NatSubnet["configurations"][number]) {
  return /\/networkInterfaces\/([^/]+)\.nic\.[^/.]+\/ipConfigurations\//i
    .exec(configuration)?.[1]
    ?.toLowerCase();
}
