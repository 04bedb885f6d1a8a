import { defined, invalid, number, object, oneOf, text } from "../../arm/fields.ts";
import type { Child } from "../../arm/resource-type.ts";
import type { JsonObject } from "../../state/store.ts";
import { missing, named, port } from "./part-fields.ts";

/** What is kept of the probes. */
export function acceptProbes(given: readonly JsonObject[]): Child[] {
  return given.map((each) => {
    const name = named(each);
    const properties = object(each, "properties") ?? {};
    const protocol = oneOf(properties, "protocol", ["Http", "Tcp", "Https"], undefined);
    const requestPath = text(properties, "requestPath", undefined);
    if (protocol === undefined) throw missing("protocol", name);
    if ((protocol === "Tcp") === (requestPath !== undefined))
      throw invalid(
        "InvalidRequestFormat",
        "Cannot parse the request.",
        "InvalidProbeRequestPath",
        `Probe ${name} must have a requestPath if its protocol is Http or Https, and none if it is Tcp.`,
      );
    return {
      name,
      properties: defined({
        protocol,
        port: port(properties, "port", 1, 65535, name),
        requestPath,
        intervalInSeconds: within(number(properties, "intervalInSeconds", 15), 5, name),
        numberOfProbes: within(number(properties, "numberOfProbes", 2), 1, name),
        probeThreshold: within(number(properties, "probeThreshold", 1), 1, name),
        noHealthyBackendsBehavior: oneOf(
          properties,
          "noHealthyBackendsBehavior",
          ["AllProbedDown", "AllProbedUp"],
          "AllProbedDown",
        ),
      }),
    };
  });
}

function within(value: number, low: number, by: string): number {
  if (value >= low) return value;
  throw invalid(
    "InvalidRequestFormat",
    "Cannot parse the request.",
    "InvalidProbe",
    `A value of probe ${by} is lower than ${low}.`,
  );
}
