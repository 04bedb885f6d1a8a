// Writes docs/reference/kubernetes-permissions.md from manifests/rbac and manifests/admission; with --check it only compares.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";
import { attacks } from "../test/system/admission/attacks.ts";
import { purposes } from "./kubernetes-purposes.ts";

const page = new URL("../docs/reference/kubernetes-permissions.md", import.meta.url);
const manifests = new URL("../manifests/", import.meta.url);

interface Role {
  kind: "Role" | "ClusterRole";
  metadata: { name: string };
  rules: { resources: string[]; verbs: string[]; resourceNames?: string[] }[];
}

interface Policy {
  kind: string;
  metadata: { name: string };
}

const reading = ["get", "list", "watch"];

/** How each role is bound, in the order of the page. A role without a line here is refused. */
const bound: Record<string, string> = {
  operator: "Bound to the operator for the whole cluster, with `--role all`, the default.",
  management:
    "Bound to the operator for the whole cluster, with `--role management`. It leads to no Secret and to no token.",
  topology:
    "Bound to the operator for the whole cluster beside one of the two above, and only where HyperShift is not installed.",
  "control-plane":
    "Bound in each control-plane namespace, never for the whole cluster: with `--role all` by the operator itself, to itself; for `--role control-plane` by you.",
  "token-review":
    "Bound to the operator for the whole cluster, in every mode: who reads `/metrics` or the dashboard shows a token.",
  lease: "Bound to the operator in its own namespace.",
  "cluster-api": "Bound to the operator for the whole cluster, where it serves Cluster API.",
  "cluster-api-secrets":
    "Bound to the operator in each namespace with Secrets that Cluster API needs, never for the whole cluster.",
};

/** What each policy says. A policy without a line here is refused. */
const rules: Record<string, string> = {
  "postern-link-objects":
    "Only Postern, HyperShift and its control plane operator in the same control-plane namespace write link objects and their status. The garbage collector and the namespace controller delete them, and remove finalizers.",
  "postern-metadata":
    "Only Postern and HyperShift set, change or remove labels and annotations under `postern.io/` and its subdomains on link objects, HostedControlPlanes, Namespaces, Services, ServiceAccounts and Routes, and the label `hypershift.openshift.io/hosted-control-plane` and the annotation `hypershift.openshift.io/cluster` on Namespaces. On a HostedCluster they are the user's settings.",
  "postern-operator-namespaces":
    "The operator creates Namespaces with its own labels only, changes annotations under `postern.io/` and its subdomains only, so no owners and no finalizers, and deletes only those with the label `postern.io/made-by=topology`.",
  "postern-operator-owners":
    "The operator changes the owners of Services and Routes only: an object whose owner does not exist is deleted by the garbage collector.",
  "postern-operator-role-bindings":
    "The operator binds `postern-control-plane` only, in control-plane namespaces only, and to itself only.",
  "postern-operator-reserved-namespaces":
    "The operator writes nothing into `kube-*`, `openshift-*` and `default`, except the Lease in its own namespace.",
  "postern-namespaced-roles":
    "Nobody binds the two roles that read Secrets for the whole cluster, and that of Cluster API only in namespaces with the label `postern.io/secrets=allowed`.",
};

/** The page as it should be. */
export function kubernetesPermissionsPage(): string {
  const roles = named(readdirSync(new URL("rbac/", manifests)), bound, "role");
  const policies = readdirSync(new URL("admission/", manifests)).flatMap(policiesIn);
  named(Object.keys(attacks), rules, "policy");
  return `# Permissions: what the operator may do in Kubernetes

Made by \`npm run generate\` from [manifests/rbac](../../manifests/rbac) and [manifests/admission](../../manifests/admission). Tests run clusters from
creation to deletion on a real API server with just these roles and under these policies. What identities may do in Azure: [permissions](permissions.md).

| mode | for the whole cluster | in each control-plane namespace | in the operator's namespace |
| --- | --- | --- | --- |
| \`--role all\` | \`postern-token-review\`, \`postern-operator\`, without HyperShift also \`postern-topology\` | \`postern-control-plane\`, which the operator binds itself | \`postern-lease\` |
| \`--role management\` | \`postern-token-review\`, \`postern-management\`, without HyperShift also \`postern-topology\` | nothing | \`postern-lease\` |
| \`--role control-plane\` | \`postern-token-review\` | \`postern-control-plane\` | nothing |
| \`--role cluster-api\` | \`postern-token-review\`, \`postern-cluster-api\` | \`postern-cluster-api-secrets\`, in namespaces of Cluster API that you open | \`postern-lease\` |

With \`--role all\` and \`--management-cluster-name\` the operator needs what \`--role cluster-api\` needs too. With another \`--leader-elect-resource-name\`, change it in \`postern-lease\`.

The ClusterRole \`postern-control-plane\` must exist before the operator can bind it. For \`--role all\` with HyperShift, and a namespace \`postern\`:

\`\`\`sh
kubectl create namespace postern
kubectl create serviceaccount postern-operator -n postern
kubectl apply -f manifests/rbac -f manifests/admission
kubectl create clusterrolebinding postern-operator --clusterrole postern-operator --serviceaccount postern:postern-operator
kubectl create clusterrolebinding postern-token-review --clusterrole postern-token-review --serviceaccount postern:postern-operator
kubectl create rolebinding postern-lease -n postern --role postern-lease --serviceaccount postern:postern-operator
\`\`\`

To let Cluster API read the Secrets of a namespace, label it and bind the role there:

\`\`\`sh
kubectl label namespace NAMESPACE postern.io/secrets=allowed
kubectl create rolebinding postern-cluster-api-secrets -n NAMESPACE --clusterrole postern-cluster-api-secrets --serviceaccount postern:postern-operator
\`\`\`

Whoever reads \`/metrics\` needs \`get\` on the nonResourceURL \`/metrics\`, and whoever reads a dashboard that is not on a loopback address on
\`/postern/dashboard\`: the chart brings the ClusterRoles \`postern-metrics-reader\` and \`postern-dashboard-reader\` for that, bound to nobody.

## What a stolen credential is still good for

| of | it can | it cannot |
| --- | --- | --- |
| \`postern-management\` | change and forge link objects and the status of HostedClusters, annotate Namespaces, write events; and act in Azure by the management identity | read a Secret, mint a token, create a Pod, ServiceAccount or role, or change a HostedCluster or HostedControlPlane |
| \`postern-topology\` beside it | create and change HostedControlPlanes, Services, Routes of any hostname and ServiceAccounts outside reserved namespaces, change HostedClusters, and delete the Namespaces that Postern created | read a Secret, mint a token, create a Pod or a role. Where HyperShift runs, a changed HostedControlPlane is a way to all of them: do not bind it there |
| \`postern-operator\` | in control-plane namespaces: read two kubeconfigs, which open the hosted cluster, mint the token of \`control-plane-operator\`, and so act in Azure for every hosted cluster; where HyperShift runs, change HostedControlPlanes, which is a way to their other Secrets | read a Secret in any other namespace, or bind its role there |
| \`postern-cluster-api\` | change AzureClusters, Clusters and KubeadmControlPlanes; with \`postern-cluster-api-secrets\` read all Secrets of the namespaces that were opened | read a Secret elsewhere, or list any |

The admission policies are a part of this: without them the operator could also label Namespaces, delete any Namespace and whatever it may patch, and bind
\`postern-control-plane\` in every namespace.

With HyperShift delete the HostedCluster, not its control-plane namespace: the namespace's RoleBinding is deleted at once, and the operator
could not remove its finalizer from the HostedControlPlane any more. An administrator can.

## Roles

${roles.map(roleSection).join("\n")}
## Admission policies

They need Kubernetes 1.30 or newer, or OpenShift 4.17. The defaults are \`system:serviceaccount:postern:postern-operator\` and
\`system:serviceaccount:hypershift:operator\`: change \`trusted\` and \`matchConditions\` where yours have other names. The control plane operator of HyperShift
is \`control-plane-operator\` in namespaces with the label \`hypershift.openshift.io/hosted-control-plane=true\`.

Whoever may create ValidatingAdmissionPolicies, such as a cluster administrator, is exempt from the first two, to be able to repair; from the last nobody is.
If clusters of Cluster API live in \`default\`, take it out of the pattern of reserved namespaces.

Each attack is a test of \`test/system/admission.test.ts\` under this name: it succeeds before the policies are installed, and changes nothing with them.

${policies.map(policySection).join("\n")}`;
}

/** The names that were found, in the order of the table; one that is in only one of the two is an error. */
function named(found: string[], table: Record<string, string>, what: string): string[] {
  const names = found.map((file) => file.replace(/\.yaml$/, ""));
  const odd = names
    .filter((name) => !(name in table))
    .concat(Object.keys(table).filter((name) => !names.includes(name)));
  if (odd.length > 0) throw new Error(`the ${what} ${odd.join(", ")} is not on both sides`);
  return Object.keys(table);
}

function roleSection(file: string): string {
  const role = parse(readFileSync(new URL(`rbac/${file}.yaml`, manifests), "utf8")) as Role;
  const rows = role.rules.flatMap(({ resources, verbs, resourceNames }) =>
    resources.flatMap((resource) =>
      groups(verbs).map((group) => {
        const only = resourceNames?.map((name) => `\`${name}\``).join(", ") ?? "";
        const cells = [`\`${resource}\``, group.join(", "), only, purpose(file, resource, group)];
        return `| ${cells.join(" | ")} |`;
      }),
    ),
  );
  return `### ${role.metadata.name}

${bound[file]} [The ${role.kind}](../../manifests/rbac/${file}.yaml).

| resource | verbs | only | what for |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}

/** The verbs that read are one row, unless list stands alone; every other verb is a row of its own. */
function groups(verbs: string[]): string[][] {
  const reads = verbs.filter((verb) => reading.includes(verb));
  const others = verbs.filter((verb) => !reading.includes(verb)).map((verb) => [verb]);
  return reads.length > 0 ? [reads, ...others] : others;
}

function purpose(file: string, resource: string, verbs: string[]): string {
  const isRead = verbs.includes("get") || verbs.includes("watch");
  const verb = isRead ? "read" : (verbs[0] ?? "");
  const found = purposes[file]?.[`${resource} ${verb}`];
  if (found === undefined)
    throw new Error(`nothing says what ${resource} ${verb} of ${file} is for`);
  return found;
}

function policiesIn(file: string): string[] {
  const text = readFileSync(new URL(`admission/${file}`, manifests), "utf8");
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Policy)
    .filter(({ kind }) => kind === "ValidatingAdmissionPolicy")
    .map(({ metadata }) => metadata.name);
}

function policySection(policy: string): string {
  const rows = attacks[policy]?.map(([attack]) => `- ${attack}`) ?? [];
  return `### ${policy}

${rules[policy]} It refuses:

${rows.join("\n")}
`;
}

if (import.meta.main) {
  const wanted = kubernetesPermissionsPage();
  if (!process.argv.includes("--check")) writeFileSync(page, wanted);
  else if (readFileSync(page, "utf8") !== wanted) {
    console.error("docs/reference/kubernetes-permissions.md is behind: run npm run generate");
    process.exitCode = 1;
  }
}
