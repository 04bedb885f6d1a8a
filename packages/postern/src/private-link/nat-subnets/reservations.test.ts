import { parseResourceId } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import { Reservations, serviceBehind } from "./reservations.ts";
import type { NatNetwork } from "./subnets.ts";

const network = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v";
const subnet = parseResourceId(`${network}/subnets/postern-nat-0a1b2c3d-0`);
const interfaces =
  "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces";
const ofService = (name: string) => `${interfaces}/${name}.nic.0000/ipConfigurations/pls-nat-ip`;

function recordUse(users: Reservations, configurations: string[]): void {
  const one = {
    id: subnet,
    name: "n",
    prefix: "10.0.0.0/24",
    capacity: 251,
    state: "Succeeded",
    policies: "Disabled",
  };
  users.recordNetwork({
    id: parseResourceId(network),
    location: "westeurope",
    spaces: [],
    taken: [],
    subnets: [{ ...one, delegated: false, configurations }],
  } satisfies NatNetwork);
}

const link = (uid: string, namespace = "n") => ({ uid, namespace });
const recorded = (noted: string | undefined, isDeleting = false) => ({
  subnet: noted,
  service: undefined,
  isDeleting,
});

describe("who uses a subnet", () => {
  test("one that is promised and also seen in it counts once", () => {
    const users = new Reservations();
    users.reserve(link("a"), subnet, "pls-a");
    recordUse(users, [ofService("PLS-A"), ofService("pls-of-somebody"), "/vm/ipConfigurations/x"]);
    expect(users.usedIn({ id: subnet })).toBe(3);
  });

  test("links of one control plane are siblings, and those of others are not", () => {
    const users = new Reservations();
    users.reserve(link("a", "one"), subnet);
    expect(users.siblingsIn(subnet, link("b", "one"))).toBe(true);
    expect(users.strangersIn(subnet, link("b", "one"))).toBe(false);
    expect(users.siblingsIn(subnet, link("c", "two"))).toBe(false);
    expect(users.strangersIn(subnet, link("c", "two"))).toBe(true);
    expect(users.siblingsIn(subnet, link("a", "one"))).toBe(false);
  });

  test("a note of an object counts before its first pass, in any case of letters", () => {
    const users = new Reservations();
    users.follow(link("a"), recorded(subnet.toUpperCase()));
    expect(users.othersIn(subnet, "b")).toBe(true);
    expect(users.othersIn(subnet, "a")).toBe(false);
    users.delete("a");
    expect(users.othersIn(subnet, "b")).toBe(false);
  });

  test("a note that another process removed counts no longer, and one that it moved counts where it is", () => {
    const users = new Reservations();
    const other = parseResourceId(`${network}/subnets/postern-nat-0a1b2c3d-1`);
    users.follow(link("a"), recorded(subnet));
    users.follow(link("a"), recorded(other));
    expect(users.othersIn(subnet, "b")).toBe(false);
    expect(users.othersIn(other, "b")).toBe(true);
    users.follow(link("a"), recorded(undefined));
    expect(users.othersIn(other, "b")).toBe(false);
  });

  test("what this process has reserved stays until it is noted", () => {
    const users = new Reservations();
    users.reserve(link("a"), subnet);
    users.follow(link("a"), recorded(undefined));
    expect(users.othersIn(subnet, "b")).toBe(true);
    users.follow(link("a"), recorded(subnet));
    users.follow(link("a"), recorded(undefined));
    expect(users.othersIn(subnet, "b")).toBe(false);
  });

  test("one that has left does not come back by its old note", () => {
    const users = new Reservations();
    users.reserve(link("a"), subnet);
    users.unreserve("a");
    users.follow(link("a"), recorded(subnet));
    expect(users.othersIn(subnet, "b")).toBe(false);
  });

  test("one that is promised another subnet gives the first one up", () => {
    const users = new Reservations();
    users.reserve(link("a"), subnet);
    users.reserve(link("a"), `${network}/subnets/other`);
    expect(users.usedIn({ id: subnet })).toBe(0);
  });

  test("a subnet that is about to go is closed for a minute", () => {
    const users = new Reservations();
    expect(users.tryClose(subnet, "a", 1_000)).toBe(true);
    expect(users.isClosed(subnet, 2_000)).toBe(true);
    expect(users.isClosed(subnet, 62_000)).toBe(false);
  });

  test("of two that plan the last address at once, the faster one has it", () => {
    const users = new Reservations();
    const last = { subnet, service: "s", capacity: 1 };
    expect(users.tryReserve({ ...last, link: link("a") }, 0)).toBe(true);
    expect(users.tryReserve({ ...last, link: link("b") }, 0)).toBe(false);
    expect(users.tryReserve({ ...last, link: link("a") }, 0)).toBe(true);
    expect(users.usedIn({ id: subnet })).toBe(1);
  });

  test("a subnet is closed or reserved, whichever comes first", () => {
    const users = new Reservations();
    const one = { link: link("a"), subnet, service: "s", capacity: 9 };
    expect(users.tryClose(subnet, "b", 0)).toBe(true);
    expect(users.tryReserve(one, 1_000)).toBe(false);
    expect(users.tryReserve(one, 61_000)).toBe(true);
    expect(users.tryClose(subnet, "b", 61_000)).toBe(false);
  });

  test("one that is deleted before its subnet is recorded uses nothing", () => {
    const users = new Reservations();
    users.reserve(link("a"), subnet);
    users.follow(link("a"), recorded(undefined, true));
    expect(users.othersIn(subnet, "b")).toBe(false);
  });
});

test("the service of an interface is told by the name that Azure gives it", () => {
  expect(serviceBehind(ofService("Pls-A"))).toBe("pls-a");
  expect(serviceBehind(`${interfaces}/vm-nic/ipConfigurations/x`)).toBeUndefined();
});
