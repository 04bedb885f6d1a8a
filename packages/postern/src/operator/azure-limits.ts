import { InvalidArgumentError } from "commander";
import type { Limit } from "../azure/bucket.ts";
import { type LimitName, type Limits, limitNames } from "../azure/limits.ts";

/** How `--azure-limit` is given, for help and errors. */
export const limitForm =
  "NAME=COUNT/SECONDS, such as network-writes=1000/300, or NAME=BURST+PER_SECOND, such as writes=200+10";

/** Read one `--azure-limit`, and add it to those before it. */
export function azureLimit(text: string, before: Partial<Limits> = {}): Partial<Limits> {
  const [, name = "", form = ""] = /^([a-z-]+)=(.+)$/.exec(text) ?? [];
  const limit = limitOf(form);
  if (!isLimitName(name) || limit === undefined)
    throw new InvalidArgumentError(`give ${limitForm}; names are ${limitNames.join(", ")}`);
  return { ...before, [name]: limit };
}

function limitOf(text: string): Limit | undefined {
  const [, counted, , seconds, perSecond] =
    /^(\d{1,9})(\/(\d{1,9})|\+(\d{1,9}(?:\.\d{1,9})?))$/.exec(text) ?? [];
  const burst = Number(counted);
  const rate = seconds === undefined ? Number(perSecond) : burst / Number(seconds);
  return burst >= 1 && rate > 0 && Number.isFinite(rate) ? { burst, perSecond: rate } : undefined;
}

function isLimitName(name: string): name is LimitName {
  return limitNames.some((each) => each === name);
}
