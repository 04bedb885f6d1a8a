import { InvalidArgumentError } from "commander";
import type { Limit } from "../simulator/throttle.ts";

/** Where to listen. */
export interface Address {
  host: string;
  port: number;
}

/** `127.0.0.1:8443`, `[::1]:0`, or `:8443` for every address of this machine. */
export function address(text: string): Address {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535)
    throw new InvalidArgumentError(
      "give HOST:PORT, such as 127.0.0.1:8443 or [::1]:8443, with port 0 for any free one",
    );
  return { host: match[1] ?? (match[2] || "0.0.0.0"), port };
}

/** `250:25`: so many at once, and so many more each second. */
export function limit(text: string): Limit {
  const match = /^(\d+):(\d+(?:\.\d+)?)$/.exec(text);
  const [burst, perSecond] = [Number(match?.[1]), Number(match?.[2])];
  if (!match || burst < 1 || perSecond <= 0)
    throw new InvalidArgumentError("give BURST:PER_SECOND, both more than 0, such as 250:25");
  return { burst, perSecond };
}

/** `500`, or `Microsoft.Network/privateEndpoints=500`; may be given again for other types. */
export function operationMs(
  text: string,
  before: Readonly<Record<string, number>> = {},
): Record<string, number> {
  const match = /^(?:([\w.]+(?:\/\w+)+)=)?(\d{1,9})$/.exec(text);
  if (!match)
    throw new InvalidArgumentError(
      "give MILLISECONDS, or TYPE=MILLISECONDS such as Microsoft.Network/privateEndpoints=500",
    );
  return { ...before, [match[1] ?? "*"]: Number(match[2]) };
}

/** How many times faster. */
export function speed(text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value)))
    throw new InvalidArgumentError("give a number above 0");
  return value;
}
