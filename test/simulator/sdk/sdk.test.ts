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
import "./resources.ts";

/** What Azure refuses always: that it is refused is tested. */
const refused = [
  "Microsoft.Network/privateDnsZones/SOA: delete",
  "Microsoft.Network/dnszones/SOA: delete",
];

/** What none of the clients has that this repository uses; test/simulator/other-clients.test.ts asks for it. */
const beyond =
  /^Microsoft\.(Storage\/|Resources\/deployments:|Network\/dnszones\/(DS|NAPTR|TLSA):)/;

test("Microsoft's clients have driven every operation of every type", () => {
  const supported = resourceTypes
    .flatMap((type) => operationsOf(type).map((operation) => `${type.type}: ${operation}`))
    .filter((each) => !refused.includes(each) && !beyond.test(each));
  const missed = supported.filter((each) => !driven.has(each));
  console.log(`${supported.length - missed.length} of ${supported.length} operations driven`);
  expect(missed).toEqual([]);
});
