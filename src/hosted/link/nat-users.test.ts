import { describe, expect, test } from "vitest";
import { parseResourceId } from "../../model/resource-id.ts";
import type { NatNetwork } from "./nat-subnets.ts";
import { NatUsers, serviceBehind } from "./nat-users.ts";

const network = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v";
const subnet = parseResourceId(`${network}/subnets/postern-nat-0a1b2c3d-0`);
const interfaces =
  "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces";
const ofService = (name: string) => `${interfaces}/${name}.nic.0000/ipConfigurations/pls-nat-ip`;

function saw(users: NatUsers, configurations: string[]): void {
  const one = {
    id: subnet,
    name: "n",
    prefix: "10.0.0.0/24",
    capacity: 251,
    state: "Succeeded",
    policies: "Disabled",
  };
  users.saw({
    id: parseResourceId(network),
    ...{ location: "westeurope", spaces: [], taken: [] },
    subnets: [{ ...one, delegated: false, configurations }],
  } satisfies NatNetwork);
}

const object = (uid: string) =>
  ({ metadata: { name: uid, uid, namespace: "n" }, spec: {} }) as never;
const link = (uid: string, namespace = "n") => ({ uid, namespace });

describe("who uses a subnet", () => {
  test("one that is promised and also seen in it counts once", () => {
    const users = new NatUsers();
    users.reserve(link("a"), subnet, "pls-a");
    saw(users, [ofService("PLS-A"), ofService("pls-of-somebody"), "/vm/ipConfigurations/x"]);
    expect(users.usedIn({ id: subnet })).toBe(3);
  });

  test("links of one control plane are siblings, and those of others are not", () => {
    const users = new NatUsers();
    users.reserve(link("a", "one"), subnet);
    expect(users.siblingsIn(subnet, link("b", "one"))).toBe(true);
    expect(users.strangersIn(subnet, link("b", "one"))).toBe(false);
    expect(users.siblingsIn(subnet, link("c", "two"))).toBe(false);
    expect(users.strangersIn(subnet, link("c", "two"))).toBe(true);
    expect(users.siblingsIn(subnet, link("a", "one"))).toBe(false);
  });

  test("a note of an object counts before its first pass, in any case of letters", () => {
    const users = new NatUsers();
    users.follow({ before: undefined, after: object("a") }, () => subnet.toUpperCase());
    expect(users.othersIn(subnet, "b")).toBe(true);
    expect(users.othersIn(subnet, "a")).toBe(false);
    users.follow({ before: object("a"), after: undefined }, () => subnet);
    expect(users.othersIn(subnet, "b")).toBe(false);
  });

  test("one that has left does not come back by its old note", () => {
    const users = new NatUsers();
    users.reserve(link("a"), subnet);
    users.leave("a");
    users.follow({ before: object("a"), after: object("a") }, () => subnet);
    expect(users.othersIn(subnet, "b")).toBe(false);
  });

  test("one that is promised another subnet gives the first one up", () => {
    const users = new NatUsers();
    users.reserve(link("a"), subnet);
    users.reserve(link("a"), `${network}/subnets/other`);
    expect(users.usedIn({ id: subnet })).toBe(0);
  });

  test("a subnet that is about to go is closed for a minute", () => {
    const users = new NatUsers();
    users.close(subnet, 1_000);
    expect(users.isClosed(subnet, 2_000)).toBe(true);
    expect(users.isClosed(subnet, 62_000)).toBe(false);
  });
});

test("the service of an interface is told by the name that Azure gives it", () => {
  expect(serviceBehind(ofService("Pls-A"))).toBe("pls-a");
  expect(serviceBehind(`${interfaces}/vm-nic/ipConfigurations/x`)).toBeUndefined();
});
