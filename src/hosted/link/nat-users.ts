import type { Change } from "../../kube/cache.ts";
import type { AzurePrivateLinkService } from "../../model/kinds/azure-private-link-service.ts";
import { idKey, lastSegment } from "../../model/resource-id.ts";
import type { NatNetwork, NatSubnet } from "./nat-subnets.ts";

/**
 * On an AzurePrivateLinkService: the subnet that was made for it or that it shares. Written before the subnet is, so that
 * whoever comes after a crash knows what to take away; a subnet that was there before us is never noted.
 */
export const natSubnetAnnotation = "postern.io/nat-subnet-id";

interface User {
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

  /** Follow the objects, whose notes tell of what was promised before this process began. */
  follow({ before, after }: Change<AzurePrivateLinkService>): void {
    const uid = (after ?? before)?.metadata.uid;
    if (uid === undefined) return;
    if (after === undefined) {
      this.#forget(uid);
      this.#left.delete(uid);
      return;
    }
    const noted = after.metadata.annotations?.[natSubnetAnnotation];
    if (noted === undefined || this.#byUid.has(uid) || this.#left.has(uid)) return;
    const service = after.status?.privateLinkServiceID;
    this.reserve(uid, noted, service === undefined ? undefined : lastSegment(service));
  }

  /** Promise an address of a subnet to an object. */
  reserve(uid: string, subnet: string, service?: string): void {
    const key = idKey(subnet);
    const held = this.#byUid.get(uid);
    if (held?.subnet === key) {
      held.service ??= service?.toLowerCase();
      return;
    }
    this.#forget(uid);
    this.#byUid.set(uid, { subnet: key, service: service?.toLowerCase() });
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
