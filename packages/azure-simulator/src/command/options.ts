import { isIPv4, isIPv6 } from "node:net";
import { InvalidArgumentError } from "commander";
import { type Switches, switches, switchNames } from "../arm/switches.ts";
import type { Limit } from "../arm/throttle.ts";

/** Where to listen. */
export interface Address {
  host: string;
  port: number;
}

/** `127.0.0.1:8443` or `[::1]:0`. Without a host it is refused: it would open to everyone what only looks like a port. */
export function address(text: string): Address {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535)
    throw new InvalidArgumentError(
      "use HOST:PORT, such as 127.0.0.1:8443 or [::1]:8443, with port 0 for any free port; 0.0.0.0:8443 for every address of this machine",
    );
  return { host: match[1] ?? match[2] ?? "", port };
}

/** A name or an address that can stand in a URL; an IPv6 address gets its brackets. */
export function publicHost(text: string): string {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (isIPv6(bare)) return `[${bare}]`;
  const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
  const name = new RegExp(`^${label}(?:\\.${label})*$`, "i").test(text) && text.length <= 253;
  // What ends in a number is an address, and must be a right one: https://url.spec.whatwg.org/#ends-in-a-number-checker
  if (isIPv4(text) || (name && !/(^|\.)\d+$/.test(text))) return text;
  throw new InvalidArgumentError(
    "use a hostname or an IP address, such as azure.test or 192.0.2.7, without scheme and port",
  );
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
    throw new InvalidArgumentError("use a number above 0");
  return value;
}

/** `name=value` of a switch; may be given again for others. */
export function switchValue(
  text: string,
  before: Readonly<Partial<Switches>> = {},
): Partial<Switches> {
  const [given = "", value = ""] = text.split(/=(.*)/s, 2);
  const name = switchNames.find((each) => each === given);
  if (name === undefined)
    throw new InvalidArgumentError(`give NAME=VALUE with one of ${switchNames.join(", ")}`);
  const read = switches[name].read(value);
  if (read === undefined)
    throw new InvalidArgumentError(`give ${switches[name].values.replaceAll("`", "")} for ${name}`);
  return { ...before, [name]: read };
}
