import { isIp, parseIp } from "@postern/core/ip.ts";
import { isObject } from "../../arm/fields.ts";
import type { Json, JsonObject, Resource, Store } from "../../state/store.ts";

/** Of one subnet: who holds what, and how full each run of 256 addresses is, so that full ones are stepped over. */
export class AddressUses {
  readonly #holders = new Map<bigint, string[]>();
  readonly #counts = new Map<bigint, number>();
  /** By where a search began: all from there up to this one are held. */
  readonly #floors = new Map<bigint, bigint>();

  get size(): number {
    return this.#holders.size;
  }

  values(): Iterable<bigint> {
    return this.#holders.keys();
  }

  /** A service and its interface may hold the same address; the first that is not one's own is told. */
  holder(value: bigint, own: ReadonlySet<string>): string | undefined {
    return this.#holders.get(value)?.find((each) => !own.has(each));
  }

  /** The first that nobody holds, from the first of a prefix or from somewhere after it. */
  firstFree(from: bigint, last: bigint, after = from): bigint | undefined {
    const floor = this.#floors.get(from) ?? from;
    let value = floor;
    if (after > floor) value = after;
    for (; value <= last; value++) {
      if (!this.#holders.has(value)) {
        if (after <= floor) this.#floors.set(from, value);
        return value;
      }
      if (this.#counts.get(value >> 8n) === 256) value |= 255n;
    }
    if (after <= floor) this.#floors.set(from, last + 1n);
    return undefined;
  }

  add(value: bigint, owner: string): void {
    const holders = this.#holders.get(value);
    if (holders) {
      holders.push(owner);
      return;
    }
    this.#holders.set(value, [owner]);
    this.#count(value, 1);
  }

  drop(value: bigint, owner: string): void {
    const holders = this.#holders.get(value);
    const at = holders?.indexOf(owner) ?? -1;
    if (!holders || at < 0) return;
    holders.splice(at, 1);
    if (holders.length > 0) return;
    this.#holders.delete(value);
    this.#count(value, -1);
    for (const [from, floor] of this.#floors)
      if (from <= value && value < floor) this.#floors.set(from, value);
  }

  #count(value: bigint, by: number): void {
    const run = value >> 8n;
    const count = (this.#counts.get(run) ?? 0) + by;
    if (count === 0) this.#counts.delete(run);
    else this.#counts.set(run, count);
  }
}

/** Follows the store, so that nobody has to say what was taken or freed. */
class AddressIndex {
  readonly #subnets = new Map<string, AddressUses>();
  readonly #held = new Map<
    string,
    { of: JsonObject; held: readonly { subnet: string; value: bigint }[] }
  >();

  uses(subnet: string): AddressUses | undefined {
    return this.#subnets.get(subnet);
  }

  /** What somebody holds of a subnet. */
  holdings(owner: string, subnet: string): bigint[] {
    const held = this.#held.get(owner)?.held ?? [];
    return held.filter((each) => each.subnet === subnet).map((each) => each.value);
  }

  saved({ key, properties }: Resource): void {
    const before = this.#held.get(key);
    if (before?.of === properties) return;
    const held = addressesIn(properties);
    if (!before && held.length === 0) return;
    this.removed(key);
    if (held.length === 0) return;
    this.#held.set(key, { of: properties, held });
    for (const { subnet, value } of held) {
      const uses = this.#subnets.get(subnet) ?? new AddressUses();
      this.#subnets.set(subnet, uses);
      uses.add(value, key);
    }
  }

  removed(key: string): void {
    for (const { subnet, value } of this.#held.get(key)?.held ?? []) {
      const uses = this.#subnets.get(subnet);
      uses?.drop(value, key);
      if (uses?.size === 0) this.#subnets.delete(subnet);
    }
    this.#held.delete(key);
  }
}

const indexes = new WeakMap<Store, AddressIndex>();

/** The index of a store, made at its first use. */
export function addressIndexOf(store: Store): AddressIndex {
  const known = indexes.get(store);
  if (known) return known;
  const index = new AddressIndex();
  indexes.set(store, index);
  store.follow(index);
  return index;
}

function addressesIn(properties: JsonObject): { subnet: string; value: bigint }[] {
  const held: { subnet: string; value: bigint }[] = [];
  const look = ({ subnet, privateIPAddress }: JsonObject) => {
    const id = isObject(subnet) ? subnet.id : undefined;
    if (typeof id !== "string" || typeof privateIPAddress !== "string") return;
    for (const value of valuesOf(privateIPAddress)) held.push({ subnet: id.toLowerCase(), value });
  };
  // A frontend of a load balancer is a resource of its own; others keep a list.
  look(properties);
  const { ipConfigurations } = properties;
  if (Array.isArray(ipConfigurations)) for (const each of ipConfigurations) look(inner(each));
  return held;
}

/** An address, or those of a block: of an IPv6 one, of which nobody could list all, the first ones. */
export function valuesOf(address: string): bigint[] {
  const [first = "", length] = address.split("/");
  if (!isIp(first)) return [];
  const { value } = parseIp(first);
  const count = length === undefined ? 1 : 16;
  return Array.from({ length: count }, (_, at) => value + BigInt(at));
}

function inner(configuration: Json): JsonObject {
  const properties = isObject(configuration) ? configuration.properties : undefined;
  return isObject(properties) ? properties : {};
}
