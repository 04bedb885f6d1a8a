// Writes docs/reference/permissions.md from the roles under manifests/roles; with --check it only compares.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { purposes } from "./action-purposes.ts";

const page = new URL("../docs/reference/permissions.md", import.meta.url);
const folder = new URL("../manifests/roles/", import.meta.url);

interface Role {
  Name: string;
  Description: string;
  AssignableScopes: string[];
  Actions: string[];
}

/** Who holds each role. A role without a line here is refused. */
const holders: Record<string, string> = {
  management:
    "The identity of the operator, on the group of the management cluster's load balancers and network.",
  guest: "The identity of each hosted cluster, on the group of its network.",
  "cluster-api":
    "The AzureClusterIdentity of each cluster, management or workload, on the cluster's own group.",
  "cluster-api-connect":
    "The same identities, on the group of each cluster at the other end of a link: the management cluster's on those of the workload clusters, theirs on the management cluster's.",
  "cluster-api-base-zone":
    "The credential of the operator's environment, on the group of the base domain's zone.",
  "cluster-api-other":
    "The identity that acts for clusters of other providers and of AKS, on the subscription in which their groups are made.",
  agent:
    "The managed identity of an appliance, on the group of the machine, its network and the load balancer.",
  "agent-interface": "The same identity, where the pool holds network interfaces.",
};

/** The page as it should be. */
export function permissionsPage(): string {
  const names = readdirSync(folder).map((file) => file.replace(/\.json$/, ""));
  const order = Object.keys(holders);
  const unknown = names.filter((name) => !order.includes(name));
  if (unknown.length > 0) throw new Error(`nobody is said to hold the role ${unknown.join(", ")}`);
  const sections = order.filter((name) => names.includes(name)).map(section);
  return `# Permissions: what each identity may do in Azure

Made by \`npm run generate\` from the files of [manifests/roles](../../manifests/roles). Tests run clusters from birth to end with just these
roles. How an identity proves who it is: [identities](identities.md). What the operator may do in Kubernetes:
[Kubernetes permissions](kubernetes-permissions.md).

\`postern permissions NAME --format json|az|bicep|terraform --scope ID\` prints a role for the tool that makes it;
\`postern doctor\`, run by an identity, names the actions that it lacks. A refused action is told as \`AuthorizationFailed\` with its name and
its scope ([errors](azure-errors.md#authorizationfailed)).

${sections.join("\n")}`;
}

function section(name: string): string {
  const role = JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8")) as Role;
  const rows = role.Actions.map((action) => {
    const purpose = purposes[action];
    if (purpose === undefined) throw new Error(`nothing is said of what ${action} is for`);
    return `| \`${action}\` | ${purpose} |`;
  });
  return `## ${name}

${holders[name]} [The role](../../manifests/roles/${name}.json) is called \`${role.Name}\`, and is given on
${role.AssignableScopes.map((scope) => `\`${scope}\``).join(", ")}.

| action | what for |
| --- | --- |
${rows.join("\n")}
`;
}

if (import.meta.main) {
  const wanted = permissionsPage();
  if (!process.argv.includes("--check")) writeFileSync(page, wanted);
  else if (readFileSync(page, "utf8") !== wanted) {
    console.error("docs/reference/permissions.md is behind: run npm run generate");
    process.exitCode = 1;
  }
}
