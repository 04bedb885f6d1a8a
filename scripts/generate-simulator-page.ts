// Writes docs/reference/simulator.md from the types and flags in the code; with --check it only says whether they are in step.
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

\`postern simulator\` is an Azure that runs on one machine: Resource Manager with the types below, the sign-in of Entra, and
the metadata service of each machine. It keeps Azure's order of checks, its refusals, its long-running operations, etags, pages and
limits, so that what works here works there. No traffic flows and nothing runs in its machines.

This page is made from the code by \`npm run generate\`.

## Start it

\`\`\`sh
postern simulator --seed examples/simulator/world.yaml --ready-file ready.json
\`\`\`

It serves HTTPS with a certificate authority that it makes at its first start, and plain HTTP beside it, on loopback if nothing else is
said. \`ready.json\` has every address, the CA and the identities of the world, and is written when requests are answered; \`/healthz\`
and \`/readyz\` answer then too. In tests the same is \`startSimulator()\` of \`@postern/azure-simulator\`. Clients need three things: the
address as their endpoint, the CA, and \`https://management.azure.com/.default\` as the scope of their tokens. How to move its clock, let
things go wrong and look into it: [the control surface](simulator-control.md). A state file keeps role assignments; those whom a test
lets do everything with \`roles.makeOwner()\` are not kept.`;

const wire = `## What holds for every type

- **Ids** are the same in any case, and are given back as they were first written.
- **api-version** must be there and have the form \`yyyy-mm-dd\`, with or without \`-preview\`: 400 \`MissingApiVersionParameter\` or
  \`InvalidApiVersionParameter\` otherwise. Any such version is taken, and every version gets the same fields.
- **Refusals come in Azure's order**: who asks (401), the subscription and the form of the request, what the asker may do (403), the
  group and the parent (404), etags (412), rights on what the body names (403), and then what the provider refuses.
- **Long-running operations** end after \`--operation-ms\`; the first answer and the polls have the form of their provider. Poll addresses
  are signed: one that was changed is refused.
- **Lists** come in pages of 100 with a \`nextLink\`; \`$top\` makes pages smaller.
- **Limits** are token buckets at Azure's three levels: each identity in a subscription, fifteen times as much for the subscription, and
  the provider Microsoft.Network: 1,000 writes and deletes and 10,000 reads in 5 minutes, of which 500 may be reads and polls of DNS and
  private DNS. 429 with \`Retry-After\`, in the words of whoever refuses. All regions of a subscription are counted together.
- **Anything else is 501** \`NotSupportedBySimulator\`, with a message that names the operation.

A *write* below is how a PUT is answered: \`sync\` is done at once; \`async\` is an operation; \`asyncDone\` is an operation whose first answer
says Succeeded already. A *delete* that is \`async\` is answered with 202; \`async200\` with 200 and yet the headers of an operation.`;

const evidence = `## How far to trust it

What a type does differently from Azure, or does without proof, is listed under it. The letters are the evidence: **[W]** recorded traffic
of Azure, **[D]** its documentation, **[S]** an example of its REST specification, **[I]** a public issue with a real error, **[P]** public code
or output, **[M]** measured with Microsoft's clients, **[?]** an inference: nobody has seen it. "(not done)" is what is missing.

Of the front door these codes and their words are [?]: \`InvalidResourceType\` and \`MissingSubscription\` for a path where a type cannot be,
\`InvalidSkipToken\` for a page that was not given out, \`InvalidOperationUri\` for a poll address that was changed. So are the
words with which Microsoft.Network throttles, and that its five minutes are a token bucket; those of DNS are [I].

It is held to this by tests: every recorded interaction is replayed; every answer of every test has the form of its operation in Azure's
OpenAPI documents, which we have for Microsoft.Network but for public DNS; and Microsoft's own clients drive every operation in the
tables.`;

const besides = `## Beside Resource Manager

**Entra**: the token endpoint of each tenant for client secrets, certificates and federated tokens, OpenID discovery and the signing
keys. Interactive sign-in, refresh tokens, groups and Microsoft Graph are not there.

${listed(entraDifferences)}

**The metadata service of a machine** (IMDS): instance, token, load balancer, scheduled events and versions, with its rules on headers and
its limits. Each machine has it on a port of its own, which the ready file and \`GET /_postern/machines\` tell.

${listed(imdsDifferences)}`;

const switchesIntro = `## Switches

What Azure's documents leave open, or subscriptions differ in, can be switched: \`--switch name=value\`, or in tests
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
  return ["| flag | what it does | default |", "|---|---|---|", ...rows].join("\n");
}

function switchRows(): string {
  const rows = switchNames.map((name) => {
    const { what, values, default: usual } = switches[name];
    return `| ${code(name)} | ${what} | ${values} | ${code(String(usual))} |`;
  });
  return ["| switch | what it says | values | default |", "|---|---|---|---|", ...rows].join("\n");
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
