import type { Environment } from "@marcbachmann/cel-js";
import { type Functions, register } from "./register.ts";

/** An amount as Kubernetes writes it, such as `100m` or `2Gi`: a whole number of billionths, for that is as fine as they go. */
class QuantityValue {
  readonly nano: bigint;

  constructor(nano: bigint) {
    this.nano = nano;
  }

  equals(other: unknown): boolean {
    return other instanceof QuantityValue && other.nano === this.nano;
  }
}

const billion = 1_000_000_000n;

/** Suffixes as a factor, in billionths. */
const suffixes: Readonly<Record<string, bigint>> = {
  n: 1n,
  u: 1_000n,
  m: 1_000_000n,
  "": billion,
  k: 10n ** 12n,
  M: 10n ** 15n,
  G: 10n ** 18n,
  T: 10n ** 21n,
  P: 10n ** 24n,
  E: 10n ** 27n,
  Ki: billion << 10n,
  Mi: billion << 20n,
  Gi: billion << 30n,
  Ti: billion << 40n,
  Pi: billion << 50n,
  Ei: billion << 60n,
};

const shape = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";

function quantityOf(text: string): QuantityValue {
  const [, sign, whole = "", fraction = "", suffix = ""] =
    /^([+-]?)(\d*)(?:\.(\d*))?([eE][-+]?\d+|[numkMGTPE]|[KMGTPE]i)?$/.exec(text) ?? [];
  if (sign === undefined || whole + fraction === "") {
    throw new Error(`quantities must match the regular expression '${shape}'`);
  }
  const digits = BigInt(whole + fraction);
  const power = /^[eE]([-+]?\d+)$/.exec(suffix);
  const { up, down } = scale(power ? Number(power[1]) : undefined, suffix, fraction.length);
  const amount = digits * up;
  // What is finer than a billionth is rounded up, away from nothing.
  const nano = amount / down + (amount % down === 0n ? 0n : 1n);
  return new QuantityValue(sign === "-" ? -nano : nano);
}

function scale(
  power: number | undefined,
  suffix: string,
  decimals: number,
): { up: bigint; down: bigint } {
  if (power === undefined)
    return { up: suffixes[suffix] ?? billion, down: 10n ** BigInt(decimals) };
  if (power >= 0) return { up: billion * 10n ** BigInt(power), down: 10n ** BigInt(decimals) };
  return { up: billion, down: 10n ** BigInt(decimals - power) };
}

function isQuantity(text: string): boolean {
  try {
    quantityOf(text);
    return true;
  } catch {
    return false;
  }
}

const limit = 2n ** 63n;

function isInteger({ nano }: QuantityValue): boolean {
  const whole = nano / billion;
  return nano % billion === 0n && whole < limit && whole >= -limit;
}

function compare(one: QuantityValue, other: QuantityValue): number {
  if (one.nano === other.nano) return 0;
  return one.nano < other.nano ? -1 : 1;
}

const type = "kubernetes.Quantity";

const functions: Functions = {
  [`quantity(string): ${type}`]: quantityOf,
  "isQuantity(string): bool": isQuantity,
  [`${type}.sign(): int`]: ({ nano }: QuantityValue) => (nano === 0n ? 0n : nano < 0n ? -1n : 1n),
  [`sign(${type}): int`]: ({ nano }: QuantityValue) => (nano === 0n ? 0n : nano < 0n ? -1n : 1n),
  [`${type}.isGreaterThan(${type}): bool`]: (one: QuantityValue, other: QuantityValue) =>
    compare(one, other) > 0,
  [`${type}.isLessThan(${type}): bool`]: (one: QuantityValue, other: QuantityValue) =>
    compare(one, other) < 0,
  [`${type}.compareTo(${type}): int`]: (one: QuantityValue, other: QuantityValue) =>
    BigInt(compare(one, other)),
  [`${type}.asApproximateFloat(): double`]: ({ nano }: QuantityValue) => Number(nano) / 1e9,
  [`${type}.asInteger(): int`]: (quantity: QuantityValue) => {
    if (!isInteger(quantity)) throw new Error("cannot convert value to integer");
    return quantity.nano / billion;
  },
  [`${type}.isInteger(): bool`]: isInteger,
  [`${type}.add(${type}): ${type}`]: (one: QuantityValue, other: QuantityValue) =>
    new QuantityValue(one.nano + other.nano),
  [`${type}.add(int): ${type}`]: (one: QuantityValue, other: bigint) =>
    new QuantityValue(one.nano + other * billion),
  [`${type}.sub(${type}): ${type}`]: (one: QuantityValue, other: QuantityValue) =>
    new QuantityValue(one.nano - other.nano),
  [`${type}.sub(int): ${type}`]: (one: QuantityValue, other: bigint) =>
    new QuantityValue(one.nano - other * billion),
};

/** Quantities. */
export function registerQuantities(environment: Environment): void {
  environment.registerType(type, QuantityValue);
  environment.registerOperator(`${type} == ${type}`, (one: QuantityValue, other) =>
    one.equals(other),
  );
  register(environment, functions);
}
