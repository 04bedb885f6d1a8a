import { resourceTypes } from "@postern/azure-simulator/arm/registry.ts";
import { expect, test } from "vitest";
import { operationsOf } from "../../../scripts/simulator-operations.ts";
import { driven } from "./driven.ts";
import "./access.ts";
import "./dns.ts";
import "./load-balancers.ts";
import "./machines.ts";
import "./networks.ts";
import "./operations.ts";
import "./private-link.ts";

/** What Azure refuses always: that it is refused is tested. */
const refused = [
  "Microsoft.Network/privateDnsZones/SOA: delete",
  "Microsoft.Network/dnszones/SOA: delete",
];

test("Microsoft's clients have driven every operation of every type", () => {
  const supported = resourceTypes
    .flatMap((type) => operationsOf(type).map((operation) => `${type.type}: ${operation}`))
    .filter((each) => !refused.includes(each));
  const missed = supported.filter((each) => !driven.has(each));
  console.log(`${supported.length - missed.length} of ${supported.length} operations driven`);
  expect(missed).toEqual([]);
});
