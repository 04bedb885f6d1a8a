import { lastSegment } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import type { World } from "../../arm/resource-type.ts";
import { type Resource, Store } from "../../state/store.ts";
import { draftAddresses, usedAddressCount, userOfAddress } from "./addresses.ts";

const group = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";
const subnet = `${group}/virtualNetworks/v/subnets/n`;

function resource(id: string, type: string, properties: Resource["properties"]): Resource {
  return {
    id,
    key: id.toLowerCase(),
    type: `Microsoft.Network/${type}`,
    name: lastSegment(id),
    top: {},
    properties,
    state: "Succeeded",
    version: 1,
    etag: "",
  };
}

function worldWith(...prefixes: string[]): World {
  const store = new Store();
  store.put(resource(subnet, "virtualNetworks/subnets", { addressPrefixes: prefixes }));
  return { store } as World;
}

/** Write an interface with one address, as its type does. */
function write(world: World, name: string, wanted?: string): string {
  const id = `${group}/networkInterfaces/${name}`;
  const address = draftAddresses(world, [id]).take({ subnet, wanted, asker: id });
  world.store.put(
    resource(id, "networkInterfaces", {
      ipConfigurations: [
        { name: "ip", properties: { privateIPAddress: address, subnet: { id: subnet } } },
      ],
    }),
  );
  return address;
}

describe("addresses of a subnet", () => {
  test("begin at the fifth and go up", () => {
    const world = worldWith("10.0.0.0/24");
    expect([write(world, "a"), write(world, "b")]).toEqual(["10.0.0.4", "10.0.0.5"]);
    expect(usedAddressCount(world, subnet)).toBe(2);
    expect(userOfAddress(world, subnet, "10.0.0.4")).toBe(
      `${group}/networkInterfaces/a`.toLowerCase(),
    );
  });

  test("are free again when their holder is gone, the lowest first", () => {
    const world = worldWith("10.0.0.0/24");
    for (const name of ["a", "b", "c"]) write(world, name);
    world.store.remove(`${group}/networkInterfaces/b`.toLowerCase());
    world.store.remove(`${group}/networkInterfaces/a`.toLowerCase());
    expect(write(world, "d")).toBe("10.0.0.4");
    expect(write(world, "e")).toBe("10.0.0.5");
    expect(write(world, "f")).toBe("10.0.0.7");
  });

  test("end with a refusal when all are held", () => {
    const world = worldWith("10.0.0.0/29");
    for (const name of ["a", "b", "c"]) write(world, name);
    expect(() => write(world, "d")).toThrow(
      "Subnet n with address prefix 10.0.0.0/29 does not have enough capacity for 1 IP addresses.",
    );
  });

  test("a held one is kept, and given to nobody else in the draft", () => {
    const world = worldWith("10.0.0.0/24");
    const draft = draftAddresses(world, []);
    expect(draft.take({ subnet, held: "10.0.0.9", asker: "x" })).toBe("10.0.0.9");
    expect(draft.take({ subnet, held: "10.0.0.9", asker: "y" })).toBe("10.0.0.4");
    expect(draft.take({ subnet, asker: "z" })).toBe("10.0.0.5");
    expect(usedAddressCount(world, subnet)).toBe(0);
  });

  test.each([
    ["10.0.1.4", "PrivateIPAddressNotInSubnet"],
    ["10.0.0.3", "PrivateIPAddressInReservedRange"],
    ["10.0.0.255", "PrivateIPAddressInReservedRange"],
    ["10.0.0.4", "PrivateIPAddressIsAllocated"],
    ["ten", "InvalidRequestFormat"],
  ])("a wish for %s is refused with %s", (wanted, code) => {
    const world = worldWith("10.0.0.0/24");
    write(world, "a");
    expect(() => write(world, "b", wanted)).toThrow(expect.objectContaining({ code }));
  });

  test("an interface that is written again keeps its wish", () => {
    const world = worldWith("10.0.0.0/24");
    expect(write(world, "a", "10.0.0.8")).toBe("10.0.0.8");
    expect(write(world, "a", "10.0.0.8")).toBe("10.0.0.8");
    expect(usedAddressCount(world, subnet)).toBe(1);
  });

  test("come from the prefix of the version that is asked for", () => {
    const world = worldWith("10.0.0.0/24", "fd00:db8::/64");
    const draft = draftAddresses(world, []);
    expect(draft.take({ subnet, version: 6, asker: "x" })).toBe("fd00:db8::4");
    expect(draft.take({ subnet, version: 4, asker: "x" })).toBe("10.0.0.4");
  });

  test("are found at once among 60,000", () => {
    const world = worldWith("10.0.0.0/16");
    const begun = performance.now();
    for (let i = 0; i < 60_000; i++) write(world, `n${i}`);
    for (let i = 0; i < 2_000; i++) {
      world.store.remove(`${group}/networkInterfaces/n0`.toLowerCase());
      expect(write(world, "n0")).toBe("10.0.0.4");
    }
    expect(write(world, "last")).toBe("10.0.234.100");
    // Going through all that is held for each would take minutes.
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});
