import { isIPv4 } from "node:net";
import { describe, expect, test } from "vitest";
import { fc } from "../../../test/setup/random.ts";
import { formatIp, isIp, parseIp } from "./ip.ts";

const canonical = (text: string) => formatIp(parseIp(text));

describe("an address", () => {
  test.each([
    ["10.0.0.4", "10.0.0.4"],
    ["255.255.255.255", "255.255.255.255"],
    ["::", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["FD00:0:0:0::4", "fd00::4"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["64:ff9b::10.0.0.1", "64:ff9b::a00:1"],
  ])("%s is written as %s", (text, canonicalForm) => {
    expect(canonical(text)).toBe(canonicalForm);
  });

  test.each([
    "",
    "10.0.0",
    "10.0.0.256",
    "10.0.0.04",
    "10.0.0.4 ",
    "0x0a.0.0.4",
    ":",
    ":::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4::5:6:7:8",
    "1::2::3",
    "12345::",
    "fe80::1%eth0",
    "::ffff:10.0.0.4",
    "::ffff:a00:4",
    "1.2.3.4::",
    "[::1]",
  ])("is not %j", (text) => {
    expect(isIp(text)).toBe(false);
    expect(() => parseIp(text)).toThrow(
      `${JSON.stringify(text)} is not an IPv4 or IPv6 address: write it as 10.0.0.4 or fd00::4`,
    );
  });

  test("is of a version", () => {
    expect([isIp("10.0.0.4", 4), isIp("10.0.0.4", 6)]).toEqual([true, false]);
    expect([isIp("fd00::4", 4), isIp("fd00::4", 6)]).toEqual([false, true]);
  });
});

describe("for every address", () => {
  const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
    minLength: 8,
    maxLength: 8,
  });

  test("the canonical form of IPv6 is the one that a URL shows", () => {
    fc.assert(
      fc.property(groups, (numbers) => {
        const text = numbers.map((n) => n.toString(16)).join(":");
        if (/^0:0:0:0:0:ffff:/.test(text)) return; // IPv4 in IPv6, which is refused
        expect(`[${canonical(text)}]`).toBe(new URL(`http://[${text}]`).hostname);
      }),
    );
  });

  test("reading what was written gives the same address", () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), (four, six) => {
        expect(canonical(four)).toBe(four);
        if (isIp(six)) expect(canonical(canonical(six))).toBe(canonical(six));
      }),
    );
  });

  test("a text of digits and dots is IPv4 exactly when the platform says so", () => {
    const digits = fc.stringMatching(/^[0-9]{0,3}(\.[0-9]{0,3}){2,4}$/);
    fc.assert(
      fc.property(digits, (text) => {
        expect(isIp(text)).toBe(isIPv4(text));
      }),
    );
  });
});
