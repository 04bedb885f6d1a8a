import type { Environment } from "@marcbachmann/cel-js";
import { type Functions, register } from "./register.ts";

/** A version by semver.org. */
class SemverValue {
  readonly numbers: readonly bigint[];
  readonly before: readonly string[];

  constructor(numbers: readonly bigint[], before: readonly string[]) {
    this.numbers = numbers;
    this.before = before;
  }

  equals(other: unknown): boolean {
    return other instanceof SemverValue && compare(this, other) === 0;
  }
}

const part = "(0|[1-9]\\d*)";
const shape = new RegExp(
  `^${part}\\.${part}\\.${part}(?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

function semverOf(text: string): SemverValue {
  const [, major, minor, patch, before] = shape.exec(text) ?? [];
  if (major === undefined) throw new Error("No Major.Minor.Patch elements found");
  const numbers = [major, minor ?? "0", patch ?? "0"].map(BigInt);
  const words = before?.split(".") ?? [];
  if (words.some((word) => /^0\d+$/.test(word))) {
    throw new Error("Numeric PreRelease version must not contain leading zeroes");
  }
  return new SemverValue(numbers, words);
}

/** Takes a leading v, missing parts and leading zeros. */
function normalized(text: string): string {
  const [, core = "", rest = ""] = /^v?([\d.]+)(.*)$/.exec(text) ?? [];
  const numbers = core.split(".").map((one) => one.replace(/^0+(?=\d)/, ""));
  while (numbers.length < 3) numbers.push("0");
  return `${numbers.join(".")}${rest}`;
}

function compare(one: SemverValue, other: SemverValue): number {
  for (const [index, number] of one.numbers.entries()) {
    const theirs = other.numbers[index] ?? 0n;
    if (number !== theirs) return number < theirs ? -1 : 1;
  }
  if (one.before.length === 0 || other.before.length === 0) {
    return (
      Math.sign(other.before.length - one.before.length) *
      (one.before.length === other.before.length ? 0 : 1)
    );
  }
  return compareWords(one.before, other.before);
}

function compareWords(one: readonly string[], other: readonly string[]): number {
  for (const [index, word] of one.entries()) {
    const theirs = other[index];
    if (theirs === undefined) return 1;
    if (word === theirs) continue;
    const [isNumber, isTheirs] = [/^\d+$/.test(word), /^\d+$/.test(theirs)];
    if (isNumber && isTheirs) return BigInt(word) < BigInt(theirs) ? -1 : 1;
    if (isNumber !== isTheirs) return isNumber ? -1 : 1;
    return word < theirs ? -1 : 1;
  }
  return one.length === other.length ? 0 : -1;
}

function is(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

const type = "kubernetes.Semver";

const functions: Functions = {
  [`semver(string): ${type}`]: semverOf,
  [`semver(string, bool): ${type}`]: (text: string, loose: boolean) =>
    semverOf(loose ? normalized(text) : text),
  "isSemver(string): bool": (text: string) => is(() => semverOf(text)),
  "isSemver(string, bool): bool": (text: string, loose: boolean) =>
    is(() => semverOf(loose ? normalized(text) : text)),
  [`${type}.isGreaterThan(${type}): bool`]: (one: SemverValue, other: SemverValue) =>
    compare(one, other) > 0,
  [`${type}.isLessThan(${type}): bool`]: (one: SemverValue, other: SemverValue) =>
    compare(one, other) < 0,
  [`${type}.compareTo(${type}): int`]: (one: SemverValue, other: SemverValue) =>
    BigInt(compare(one, other)),
  [`${type}.major(): int`]: ({ numbers }: SemverValue) => numbers[0],
  [`${type}.minor(): int`]: ({ numbers }: SemverValue) => numbers[1],
  [`${type}.patch(): int`]: ({ numbers }: SemverValue) => numbers[2],
};

/** Versions by semver.org. */
export function registerVersions(environment: Environment): void {
  environment.registerType(type, SemverValue);
  environment.registerOperator(`${type} == ${type}`, (one: SemverValue, other) =>
    one.equals(other),
  );
  register(environment, functions);
}
