import type { Resource, Stored } from "../resource.ts";
import { ageColumn, builtIn, column, nameColumn } from "./built-in.ts";
import { atomic, fields, flag, int32, list, oneOf, text, textMap, textSet } from "./fields.ts";
import { objectReference } from "./references.ts";

interface Slice {
  addressType?: string;
  endpoints?: { addresses?: string[] }[];
  ports?: { name?: string; port?: number }[];
}

const preferred = (where: string) =>
  list(
    fields(`A ${where}.`, { name: text("Its name.") }, ["name"]),
    `The ${where}s to prefer it in.`,
  );

const endpoint = fields(
  "One address behind a Service.",
  {
    addresses: textSet("Its addresses, all of which lead to the same place."),
    conditions: fields("What is known of it.", {
      ready: flag("Whether it takes connections."),
      serving: flag("The same, also while it ends."),
      terminating: flag("Whether it is ending."),
    }),
    deprecatedTopology: textMap("What older versions said of its place."),
    hints: fields("Who had better use it.", {
      forNodes: preferred("node"),
      forZones: preferred("zone"),
    }),
    hostname: text("Its name."),
    nodeName: text("The node that it is on."),
    targetRef: objectReference("The object that it stands for."),
    zone: text("The zone that it is in."),
  },
  ["addresses"],
);

const port = atomic(
  fields("One port of the endpoints.", {
    appProtocol: text("What is spoken on it."),
    name: text("Its name."),
    port: int32("Its number."),
    protocol: { ...oneOf(["TCP", "UDP", "SCTP"], "What carries it."), default: "TCP" },
  }),
);

/** The kind that says which addresses lie behind a Service. */
export const endpointSlice: Resource = builtIn({
  group: "discovery.k8s.io",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
  description: "Some of the addresses behind a Service.",
  properties: {
    addressType: oneOf(["IPv4", "IPv6", "FQDN"], "What kind of addresses these are."),
    endpoints: list(endpoint, "The addresses."),
    ports: list(port, "The ports of each of them."),
  },
  required: ["addressType"],
  columns: [
    nameColumn,
    column("AddressType", (object) => (object as Slice).addressType ?? ""),
    column("Ports", portsOf),
    column("Endpoints", addressesOf),
    ageColumn,
  ],
});

function portsOf(object: Stored): string {
  const { ports = [] } = object as Slice;
  return firstThree(ports.map(({ port: number, name }) => String(number ?? name ?? "*")));
}

function addressesOf(object: Stored): string {
  const { endpoints = [] } = object as Slice;
  return firstThree(endpoints.flatMap(({ addresses = [] }) => addresses));
}

function firstThree(all: string[]): string {
  if (all.length === 0) return "<unset>";
  const shown = all.slice(0, 3).join(",");
  return all.length > 3 ? `${shown} + ${all.length - 3} more...` : shown;
}
