// Writes docs/reference/simulator.md from the types and flags in the code; with --check it only compares.
import { readFileSync, writeFileSync } from "node:fs";
import { resourceTypes } from "@postern/azure-simulator/arm/registry.ts";
import type { ResourceType } from "@postern/azure-simulator/arm/resource-type.ts";
import { switches, switchNames } from "@postern/azure-simulator/arm/switches.ts";
import { command } from "@postern/azure-simulator/command/command.ts";
import { entraDifferences } from "@postern/azure-simulator/entra/entra.ts";
import { imdsDifferences } from "@postern/azure-simulator/imds/imds.ts";
import { operationsOf } from "./simulator-operations.ts";

const page = new URL("../docs/reference/simulator.md", import.meta.url);

const intro = `# The simulator

\`postern simulator\` simulates Azure on one machine: Resource Manager with the types below, Entra's token endpoint, and
the metadata service of each virtual machine. It has Azure's order of checks, error responses, long-running operations, etags, paging and
request limits, so that what works here also works in Azure. No traffic flows, and nothing runs in its virtual machines.

This page is generated from the code by \`npm run generate\`.

## Start it

\`\`\`sh
npx postern simulator --seed examples/simulator/world.yaml --ready-file ready.json
\`\`\`

It serves HTTPS, with a certificate authority that it creates at its first start, and plain HTTP; by default on loopback only. When it is
ready, it writes \`ready.json\` with all addresses, the CA and the identities; from then on \`/healthz\` and \`/readyz\` respond. In tests, use
\`startSimulator()\` of \`@postern/azure-simulator\`. Clients need three settings: the address as their endpoint, the CA, and
\`https://management.azure.com/.default\` as the scope of their tokens. To advance its clock, inject faults and inspect it, use
[the control API](simulator-control.md). A state file contains role assignments, except those of a test with \`roles.makeOwner()\`.`;

const wire = `## What holds for every type

- **Ids** are not case-sensitive, and are returned as they were first written.
- **api-version** is required and must have the form \`yyyy-mm-dd\`, with or without \`-preview\`: 400 \`MissingApiVersionParameter\` or
  \`InvalidApiVersionParameter\` otherwise. Any such version is accepted, and every version has the same fields.
- **Requests are checked in Azure's order**: authentication (401), the subscription and the format of the request, permissions (403), the
  resource group and the parent (404), etags (412), permissions on referenced resources (403), and then the provider's own rules.
- **Unknown fields** of network resources are rejected, in \`properties\` and in those of the children in its lists [I], but not deeper (not done).
- **Long-running operations** complete after \`--operation-ms\`; the first response and the polls have the format of their provider. Poll URLs
  are signed: a modified one is rejected.
- **Lists** have pages of 100 with a \`nextLink\`; \`$top\` makes the pages smaller.
- **Limits** are token buckets at Azure's three levels: each identity in a subscription, fifteen times as much for the subscription, and
  the provider Microsoft.Network: 1,000 writes and deletes and 10,000 reads in 5 minutes, of which 500 may be reads and polls of DNS and
  private DNS. The response is 429 with \`Retry-After\`, in the format of the level that rejects it. All regions of a subscription are counted together.
- **Anything else is 501** \`NotSupportedBySimulator\`, with a message that names the operation.

The column *write* is the response to a PUT: \`sync\` completes immediately; \`async\` starts an operation; \`asyncDone\` starts an operation whose
first response has the state Succeeded already. A *delete* that is \`async\` responds with 202; \`async200\` with 200 and the headers of an operation.`;

const evidence = `## How accurate it is

Each type lists where it differs from Azure, and where its behaviour is not proven. Letters mark the evidence: **[W]** recorded traffic
of Azure, **[D]** its documentation, **[S]** an example of its REST specification, **[I]** a public issue with a real error, **[P]** public code
or output, **[M]** measured with Microsoft's clients, **[?]** an inference without evidence. "(not done)" marks what is not implemented.

These codes of Resource Manager itself and their messages are [?]: \`InvalidResourceType\` and \`MissingSubscription\` for a path where a type is not allowed,
\`InvalidSkipToken\` for an unknown page, \`InvalidOperationUri\` for a modified poll URL. So are the messages with which
Microsoft.Network throttles, and that its five minutes are a token bucket; those of DNS are [I].

Recorded traffic is replayed: of 311 interactions of cloud-provider-azure 307 are equal, and of the 1593 requests of the Azure CLI's tests that the
simulator supports 1593 have the recorded status and 1560 the recorded body. In a checkout, \`npm run conformance\` lists each difference with its reason.

Tests check these figures. Besides, every response in every test matches the format of its operation in Azure's
OpenAPI documents, which we have for Microsoft.Network except for public DNS; and Microsoft's own clients call every operation in the
tables.`;

const besides = `## Entra and instance metadata

**Entra**: the token endpoint of each tenant for client secrets, certificates and federated tokens, OpenID discovery and the signing
keys. Interactive sign-in, refresh tokens, groups and Microsoft Graph are not supported.

${listed(entraDifferences)}

**The instance metadata service** (IMDS): instance, token, load balancer, scheduled events and versions, with its rules on headers and
its limits. Each machine has it on a separate port, which is in the ready file and in \`GET /_postern/machines\`.

${listed(imdsDifferences)}`;

const switchesIntro = `## Switches

Where Azure's documentation leaves a behaviour open, or subscriptions differ, choose it with \`--switch name=value\`, or in tests with
\`startSimulator({ switches })\`.`;

/** The page as it should be. */
export function simulatorPage(): string {
  const namespaces = [...new Set(resourceTypes.map(({ type }) => namespaceOf(type)))];
  return [
    intro,
    `## Flags\n\n${flags()}`,
    `${switchesIntro}\n\n${switchRows()}`,
    wire,
    evidence,
    ...namespaces.map(provider),
    besides,
  ]
    .join("\n\n")
    .concat("\n");
}

function flags(): string {
  const rows = command().options.map(({ flags: names, description, defaultValue, ...rest }) => {
    const given = rest.defaultValueDescription ?? defaultValue;
    const kept = typeof given === "boolean" || given === undefined ? "" : code(String(given));
    return `| ${code(names)} | ${description} | ${kept} |`;
  });
  return ["| flag | description | default |", "|---|---|---|", ...rows].join("\n");
}

function switchRows(): string {
  const rows = switchNames.map((name) => {
    const { what, values, default: usual } = switches[name];
    return `| ${code(name)} | ${what} | ${values} | ${code(String(usual))} |`;
  });
  return ["| switch | meaning | values | default |", "|---|---|---|---|", ...rows].join("\n");
}

function provider(namespace: string): string {
  const groups = alike(resourceTypes.filter(({ type }) => namespaceOf(type) === namespace));
  const rows = groups.map(([first, ...others]) => {
    const names = [first, ...others].map(({ type }) => code(nameOf(type))).join(", ");
    return `| ${names} | ${places[first.within]} | ${operations(first)} | ${style(first.put)} | ${style(first.delete)} |`;
  });
  const table = [
    "| type | where | operations | write | delete |",
    "|---|---|---|---|---|",
    ...rows,
  ];
  return [`## ${namespace}`, table.join("\n"), ...groups.map(differences)].join("\n\n");
}

function operations(type: ResourceType): string {
  const named = operationsOf(type).map((each) =>
    each === "patch" && type.patch === undefined ? "patch of tags" : each,
  );
  return named.join(", ");
}

function differences([first, ...others]: Group): string {
  const names = [first, ...others].map(({ type }) => nameOf(type));
  const title = names.length === 1 ? names[0] : `${names[0]} and the other record sets`;
  return `### ${title}\n\n${listed(first.differences) || "No difference is known."}`;
}

function listed(lines: readonly string[]): string {
  return lines.map((each) => `- ${each}`).join("\n");
}

type Group = readonly [ResourceType, ...ResourceType[]];

/** Record sets have a type of resource for each type of record, and all that is to be said of them is the same. */
function alike(types: readonly ResourceType[]): Group[] {
  const groups = new Map<string, [ResourceType, ...ResourceType[]]>();
  for (const type of types) {
    const { within, put } = type;
    const parent = type.type.slice(0, type.type.lastIndexOf("/"));
    const same =
      type.differences.length === 0
        ? type.type
        : JSON.stringify([parent, within, put, operationsOf(type), type.differences]);
    const group = groups.get(same);
    if (group) group.push(type);
    else groups.set(same, [type]);
  }
  return [...groups.values()];
}

const places: Readonly<Record<ResourceType["within"], string>> = {
  resourceGroup: "in a group",
  subscription: "in a subscription",
  parent: "under its parent",
  scope: "on any id",
  tenant: "in a tenant",
};

function style(given: ResourceType["put"] | ResourceType["delete"]): string {
  if (given === undefined) return "";
  return typeof given === "function" ? "depends on what is there" : given;
}

function namespaceOf(type: string): string {
  return type.slice(0, type.indexOf("/"));
}

function nameOf(type: string): string {
  return type.slice(type.indexOf("/") + 1);
}

function code(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) {
  const wanted = simulatorPage();
  if (!process.argv.includes("--check")) writeFileSync(page, wanted);
  else if (readFileSync(page, "utf8") !== wanted) {
    console.error("docs/reference/simulator.md is not in step with the code: run npm run generate");
    process.exitCode = 1;
  }
}
