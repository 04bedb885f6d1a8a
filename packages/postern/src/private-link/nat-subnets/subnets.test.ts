import { contains, formatCidr, overlaps, parseCidr } from "@postern/core/cidr.ts";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import { fc } from "../../../../../test/setup/random.ts";
import type { VirtualNetwork } from "../../azure/gateways/virtual-networks.ts";
import {
  chooseShared,
  isSharedSubnet,
  natNetwork,
  nextShared,
  runsLow,
  sharedSubnetName,
  unfitness,
} from "./subnets.ts";

const id = parseResourceId(
  "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v",
);
const installation = "0a1b2c3d";

interface Given {
  name: string;
  addressPrefix?: string;
  addressPrefixes?: string[];
  policies?: "Enabled" | "Disabled";
  state?: string;
  users?: number;
}

function network(spaces: string[], subnets: Given[] = []) {
  const body: VirtualNetwork = {
    location: "westeurope",
    properties: {
      addressSpace: { addressPrefixes: spaces },
      subnets: subnets.map(
        ({ name, policies = "Disabled", state = "Succeeded", users, ...rest }) => ({
          name,
          properties: {
            provisioningState: state,
            privateLinkServiceNetworkPolicies: policies,
            ipConfigurations: Array.from({ length: users ?? 0 }, (_, n) => ({ id: `/c/${n}` })),
            ...rest,
          },
        }),
      ),
    },
  };
  return natNetwork(id, body);
}

function next(spaces: string[], subnets: Given[], prefixLength = 24) {
  const made = nextShared(network(spaces, subnets), installation, prefixLength);
  return made && `${made.id.slice(made.id.lastIndexOf("/") + 1)} ${formatCidr(made.block)}`;
}

describe("the next NAT subnet", () => {
  test.each<[string, string[], Given[], string | undefined]>([
    ["is the first block of an empty network", ["10.0.0.0/16"], [], "10.0.0.0/24"],
    [
      "lies in the network's real address space, also outside 10.0.0.0/16",
      ["172.20.0.0/20"],
      [{ name: "a", addressPrefix: "172.20.0.0/24" }],
      "172.20.1.0/24",
    ],
    [
      "does not overlap subnets that only fill the plural addressPrefixes",
      ["10.0.0.0/16"],
      [{ name: "a", addressPrefixes: ["10.0.0.0/24", "fd00::/64"] }],
      "10.0.1.0/24",
    ],
    [
      "goes on in the second space when the first is full",
      ["10.0.0.0/24", "10.9.0.0/24"],
      [{ name: "a", addressPrefix: "10.0.0.0/24" }],
      "10.9.0.0/24",
    ],
    [
      "is smaller where no larger block is left",
      ["10.0.0.0/24"],
      [{ name: "a", addressPrefix: "10.0.0.0/26" }],
      "10.0.0.128/25",
    ],
    [
      "is not made where less than /28 is left",
      ["10.0.0.0/24"],
      [
        { name: "a", addressPrefix: "10.0.0.0/25" },
        { name: "b", addressPrefix: "10.0.0.128/26" },
        { name: "c", addressPrefix: "10.0.0.192/27" },
        { name: "d", addressPrefix: "10.0.0.224/28" },
        { name: "e", addressPrefix: "10.0.0.240/29" },
      ],
      undefined,
    ],
    ["is not made in a network of IPv6 only", ["fd00::/48"], [], undefined],
  ])("%s", (_name, spaces, subnets, block) => {
    expect(next(spaces, subnets)).toBe(block && `${sharedSubnetName(installation, 0)} ${block}`);
  });

  test("takes the first number that is free", () => {
    const subnets = [0, 2].map((n) => ({
      name: sharedSubnetName(installation, n).toUpperCase(),
      addressPrefix: `10.0.${n}.0/24`,
    }));
    expect(next(["10.0.0.0/16"], subnets)).toBe(`${sharedSubnetName(installation, 1)} 10.0.1.0/24`);
  });
});

test.each<[string, boolean]>([
  [`postern-nat-${installation}-0`, true],
  [`POSTERN-NAT-${installation}-12`, true],
  ["postern-nat-ffffffff-0", false],
  [`postern-nat-${installation}-x`, false],
  [`postern-nat-${installation}-`, false],
  ["infra-pls-nat", false],
])("a subnet called %s is shared by this installation: %s", (name, shared) => {
  expect(isSharedSubnet(name, installation)).toBe(shared);
});

test.each<[string, Partial<Given>, string | undefined]>([
  ["is fit", {}, undefined],
  ["has policies enabled", { policies: "Enabled" }, "privateLinkServiceNetworkPolicies"],
  ["is being written", { state: "Updating" }, "provisioning state"],
  ["has failed", { state: "Failed" }, "provisioning state"],
  ["has no IPv4", { addressPrefixes: ["fd00::/64"], addressPrefix: undefined as never }, "IPv4"],
])("a subnet that %s", (_name, over, word) => {
  const [subnet] = network(
    ["10.0.0.0/16"],
    [{ name: "a", addressPrefix: "10.0.0.0/24", ...over }],
  ).subnets;
  const why = subnet && unfitness(subnet);
  if (word === undefined) expect(why).toBeUndefined();
  else expect(why).toContain(word);
});

test("the next one is made when 16 are left, and in a small one when a quarter is", () => {
  expect([15, 16].map((free) => runsLow(free, 251))).toEqual([true, false]);
  expect([1, 2].map((free) => runsLow(free, 11))).toEqual([true, false]);
});

/** Random networks: spaces, and subnets of other people that lie in them apart from each other. */
const anyNetwork = fc
  .record({
    spaces: fc.uniqueArray(fc.integer({ min: 0, max: 15 }), { minLength: 1, maxLength: 3 }),
    length: fc.integer({ min: 20, max: 26 }),
    others: fc.array(
      fc.record({
        at: fc.integer({ min: 0, max: 4095 }),
        length: fc.integer({ min: 24, max: 29 }),
        plural: fc.boolean(),
      }),
      { maxLength: 30 },
    ),
  })
  .map(({ spaces, length, others }) => {
    const prefixes = spaces.map((n) => `10.${n}.0.0/${length}`);
    const blocks = prefixes.map(parseCidr);
    const taken: string[] = [];
    for (const { at, length: size } of others) {
      const space = blocks[at % blocks.length];
      if (!space || size < space.prefixLength) continue;
      const step = 1n << BigInt(32 - size);
      const count = 1n << BigInt(size - space.prefixLength);
      const first = space.first + (BigInt(at) % count) * step;
      const block = { version: 4 as const, first, prefixLength: size };
      if (!taken.some((each) => overlaps(parseCidr(each), block))) taken.push(formatCidr(block));
    }
    const subnets = taken.map((prefix, n) =>
      others[n]?.plural
        ? { name: `other-${n}`, addressPrefixes: [prefix, "fd00::/64"] }
        : { name: `other-${n}`, addressPrefix: prefix },
    );
    return { prefixes, subnets };
  });

test("users spread over subnets that never overlap, never leave the space, and are never overfull", () => {
  fc.assert(
    fc.property(
      anyNetwork,
      fc.integer({ min: 24, max: 28 }),
      fc.integer({ min: 1, max: 400 }),
      ({ prefixes, subnets }, prefixLength, users) => {
        const all: Given[] = [...subnets];
        const used = new Map<string, number>();
        let observed = network(prefixes, all);
        for (let user = 0; user < users; user++) {
          const choice = chooseShared(observed, installation, ({ name }) => used.get(name) ?? 0);
          if (choice.is === "exists") {
            const { name, capacity } = choice.subnet;
            used.set(name, (used.get(name) ?? 0) + 1);
            expect(used.get(name)).toBeLessThanOrEqual(capacity);
            continue;
          }
          const made = nextShared(observed, installation, prefixLength);
          if (made === undefined) return;
          expect(prefixes.some((each) => contains(parseCidr(each), made.block))).toBe(true);
          expect(made.block.prefixLength).toBeGreaterThanOrEqual(prefixLength);
          expect(observed.taken.some((each) => overlaps(each, made.block))).toBe(false);
          const name = made.id.slice(made.id.lastIndexOf("/") + 1);
          expect(all.some((each) => each.name === name)).toBe(false);
          all.push({ name, addressPrefix: formatCidr(made.block) });
          observed = network(prefixes, all);
          user--;
        }
      },
    ),
    { numRuns: 150 },
  );
});
