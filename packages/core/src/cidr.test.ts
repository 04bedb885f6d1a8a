import { describe, expect, test } from "vitest";
import { fc } from "../../../test/setup/random.ts";
import {
  type Cidr,
  contains,
  firstUsable,
  formatCidr,
  nextFreeBlock,
  overlaps,
  parseCidr,
  sizeOf,
  usableAddresses,
} from "./cidr.ts";
import { CidrError } from "./cidr-error.ts";
import { isExplained } from "./failure.ts";
import { formatIp, parseIp } from "./ip.ts";

const blocks = (...texts: string[]): Cidr[] => texts.map(parseCidr);

describe("a block", () => {
  test.each([
    ["10.0.0.0/24", "10.0.0.0/24"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["10.0.0.4/32", "10.0.0.4/32"],
    ["FD00:0::/64", "fd00::/64"],
    ["::/0", "::/0"],
  ])("%s is written as %s", (text, canonical) => {
    expect(formatCidr(parseCidr(text))).toBe(canonical);
  });

  test.each([
    ["10.0.0.0", "is not a block of addresses: write it as 10.0.0.0/24 or fd00::/64"],
    ["10.0.0.0/", "is not a block of addresses: write it as 10.0.0.0/24 or fd00::/64"],
    ["10.0.0.0/024", "is not a block of addresses: write it as 10.0.0.0/24 or fd00::/64"],
    ["10.0.0.0/33", "is not a block of addresses: the prefix is at most /32"],
    ["fd00::/129", "is not a block of addresses: the prefix is at most /128"],
    ["10.0.0.5/24", "is not the start of its block: write it as 10.0.0.0/24"],
    ["fd00::1/64", "is not the start of its block: write it as fd00::/64"],
  ])("is not %s, and the error says why", (text, why) => {
    expect(() => parseCidr(text)).toThrow(`"${text}" ${why}`);
  });

  test("with an address that is none names that address", () => {
    expect(() => parseCidr("10.0.0.300/24")).toThrow('"10.0.0.300" is not an IPv4 or IPv6 address');
  });

  test("that is none is explained to the user", () => {
    const error = new CidrError("x", "not a block", "write one");
    expect(isExplained(error)).toBe(true);
    expect(error.explain()).toEqual({
      reason: "InvalidCidr",
      message: '"x" is not a block: write one',
      terminal: true,
    });
  });

  test("contains what lies whole in it, of the same version", () => {
    const [outer, inner, beside, six] = blocks("10.0.0.0/16", "10.0.1.0/24", "10.1.0.0/24", "::/0");
    if (!outer || !inner || !beside || !six) throw new Error("unreachable");
    expect(contains(outer, inner)).toBe(true);
    expect(contains(inner, outer)).toBe(false);
    expect(contains(outer, beside)).toBe(false);
    expect(contains(six, inner)).toBe(false);
    expect(contains(outer, parseIp("10.0.255.255"))).toBe(true);
    expect(contains(outer, parseIp("10.1.0.0"))).toBe(false);
    expect([overlaps(outer, inner), overlaps(inner, outer)]).toEqual([true, true]);
    expect([overlaps(outer, beside), overlaps(six, outer)]).toEqual([false, false]);
  });
});

describe("a subnet", () => {
  test.each([
    ["10.0.0.0/24", 251n, "10.0.0.4"],
    ["10.0.0.0/29", 3n, "10.0.0.4"],
    ["10.0.0.0/30", 0n, undefined],
    ["10.0.0.0/32", 0n, undefined],
    ["fd00::/64", 2n ** 64n - 5n, "fd00::4"],
  ])("%s leaves %s addresses to use, from %s", (text, usable, first) => {
    const subnet = parseCidr(text);
    expect(usableAddresses(subnet)).toBe(usable);
    const ip = firstUsable(subnet);
    expect(ip && formatIp(ip)).toBe(first);
  });
});

describe("the next free block", () => {
  const next = (spaces: string[], used: string[], prefixLength: number) => {
    const block = nextFreeBlock(blocks(...spaces), blocks(...used), prefixLength);
    return block && formatCidr(block);
  };

  test.each([
    ["is the start of an empty space", ["10.0.0.0/16"], [], 24, "10.0.0.0/24"],
    ["follows what is used", ["10.0.0.0/16"], ["10.0.0.0/24"], 24, "10.0.1.0/24"],
    ["fills a gap", ["10.0.0.0/16"], ["10.0.0.0/24", "10.0.2.0/24"], 24, "10.0.1.0/24"],
    ["skips a gap that is too small", ["10.0.0.0/16"], ["10.0.0.0/25"], 24, "10.0.1.0/24"],
    ["fits into a small gap", ["10.0.0.0/16"], ["10.0.0.0/25"], 26, "10.0.0.128/26"],
    ["is the whole space", ["10.0.0.0/24"], [], 24, "10.0.0.0/24"],
    ["is none in a full space", ["10.0.0.0/24"], ["10.0.0.0/25", "10.0.0.128/25"], 28, undefined],
    ["is none in a smaller space", ["10.0.0.0/25"], [], 24, undefined],
    ["is none in two halves", ["10.0.0.0/25", "10.0.0.128/25"], [], 24, undefined],
    ["is none without a space", [], [], 24, undefined],
    [
      "goes on in the next space, by address and not as listed",
      ["10.2.0.0/24", "10.1.0.0/24"],
      ["10.1.0.0/24"],
      25,
      "10.2.0.0/25",
    ],
    [
      "does not mind what is used elsewhere",
      ["10.0.0.0/24"],
      ["192.168.0.0/16"],
      24,
      "10.0.0.0/24",
    ],
    ["does not mind a larger used block", ["10.0.0.0/24"], ["10.0.0.0/8"], 28, undefined],
    ["may be IPv6", ["10.0.0.0/16", "fd00::/48"], ["fd00::/64"], 64, "fd00:0:0:1::/64"],
    ["is IPv4 where both would do", ["fd00::/16", "10.0.0.0/8"], [], 24, "10.0.0.0/24"],
  ])("%s", (_what, spaces, used, prefixLength, found) => {
    expect(next(spaces, used, prefixLength)).toBe(found);
  });

  test("is found at the end of a /8 that is used to the last /24", () => {
    const used = Array.from({ length: 65_535 }, (_, at) => ({
      version: 4 as const,
      first: 0x0a00_0000n + BigInt(at) * 256n,
      prefixLength: 24,
    }));
    const found = nextFreeBlock(blocks("10.0.0.0/8"), used.reverse(), 28);
    expect(found && formatCidr(found)).toBe("10.255.255.0/28");
  });

  test("is found behind half of an IPv6 /32 without walking through it", () => {
    expect(next(["2001:db8::/32"], ["2001:db8::/33"], 64)).toBe("2001:db8:8000::/64");
    expect(next(["2001:db8::/32"], ["2001:db8::/33", "2001:db8:8000::/128"], 64)).toBe(
      "2001:db8:8000:1::/64",
    );
  });
});

describe("in every small space, the next free block is the one that trying all of them finds", () => {
  const base = { 4: 0x0a00_0000n, 6: 0xfd00n << 112n };
  const within = (version: 4 | 6, shortest: number) =>
    fc.integer({ min: shortest, max: 8 }).chain((length) =>
      fc.integer({ min: 0, max: 2 ** length - 1 }).map(
        (index): Cidr => ({
          version,
          first: base[version] + BigInt(index) * (1n << BigInt(8 - length)),
          prefixLength: (version === 4 ? 24 : 120) + length,
        }),
      ),
    );

  function tryAll(spaces: Cidr[], used: Cidr[], version: 4 | 6, prefixLength: number) {
    const size = sizeOf({ version, prefixLength });
    for (let first = base[version]; first < base[version] + 256n; first += size) {
      const block = { version, first, prefixLength };
      const inside = spaces.some((space) => contains(space, block));
      if (inside && !used.some((one) => overlaps(one, block))) return block;
    }
    return undefined;
  }

  test.each([4, 6] as const)("IPv%i", (version) => {
    const spaces = fc.array(within(version, 0), { maxLength: 4 });
    const used = fc.array(within(version, 2), { maxLength: 20 });
    const length = fc.integer({ min: 0, max: 8 });
    fc.assert(
      fc.property(spaces, used, length, (space, taken, extra) => {
        const prefixLength = (version === 4 ? 24 : 120) + extra;
        expect(nextFreeBlock(space, taken, prefixLength)).toEqual(
          tryAll(space, taken, version, prefixLength),
        );
      }),
      { numRuns: 500 },
    );
  });
});
