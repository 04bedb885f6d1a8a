import {
  all,
  type Condition,
  type Document,
  forEach,
  item,
  not,
  type ObjectTemplate,
  type Reference,
  releaseNamespace,
  setting,
  type TemplateMap,
  when,
} from "../template/template.ts";
import { readManifests } from "./manifests.ts";
import {
  type Component,
  clusterApiApart,
  clusterApiWithin,
  hosted,
  labels,
  namespaceOf,
  split,
} from "./names.ts";

const group = "rbac.authorization.k8s.io";

/** Roles and bindings: those of manifests/rbac that the mode needs, and a role for people who look. */
export function roles(): Document {
  const together: Condition = all(hosted, not(setting("splitRoles")));
  const topology: Condition = all(hosted, setting("hosted.replaceHyperShift"));
  const clusterApi = setting("clusterApi.enabled");
  return [
    when(hosted, [role("control-plane"), viewers()] as readonly Document[]),
    role("token-review"),
    tokenReviewBinding(),
    reader("postern-metrics-reader", "/metrics"),
    reader("postern-dashboard-reader", "/postern/dashboard"),
    when(together, [role("operator"), clusterBinding("postern-operator", "postern-operator")]),
    when(split, [role("management"), clusterBinding("postern-management", "postern-operator")]),
    when(topology, [role("topology"), clusterBinding("postern-topology", "postern-operator")]),
    when(clusterApi, [role("cluster-api"), role("cluster-api-secrets")]),
    when(clusterApiWithin, clusterBinding("postern-cluster-api", "postern-operator")),
    when(clusterApiApart, clusterBinding("postern-cluster-api", "postern-cluster-api")),
    inNamespace(role("lease")),
    leaseBinding(),
    when(
      split,
      forEach(
        setting("hosted.controlPlanes"),
        binding("postern-control-plane", item("namespace"), [subject("postern-control-plane")]),
      ),
    ),
    when(
      clusterApi,
      forEach(
        setting("clusterApi.secretNamespaces"),
        binding("postern-cluster-api-secrets", item(), [
          when(clusterApiApart, subject("postern-cluster-api"), subject("postern-operator")),
        ]),
      ),
    ),
  ];
}

function role(file: string): ObjectTemplate {
  const [found] = readManifests(`rbac/${file}.yaml`);
  if (found === undefined) throw new Error(`manifests/rbac/${file}.yaml is empty`);
  return { ...found, metadata: { name: found.metadata.name ?? "", labels } };
}

function inNamespace(object: ObjectTemplate): ObjectTemplate {
  return { ...object, metadata: { ...object.metadata, namespace: releaseNamespace } };
}

function subject(component: Component): TemplateMap {
  return { kind: "ServiceAccount", name: component, namespace: namespaceOf(component) };
}

function clusterBinding(role: string, component: Component): ObjectTemplate {
  return {
    apiVersion: `${group}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: role, labels },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: role },
    subjects: [subject(component)],
  };
}

function binding(
  role: string,
  namespace: Reference,
  subjects: ObjectTemplate["subjects"] & {},
): ObjectTemplate {
  return {
    apiVersion: `${group}/v1`,
    kind: "RoleBinding",
    metadata: { name: role, namespace, labels },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: role },
    subjects,
  };
}

function leaseBinding(): ObjectTemplate {
  return {
    apiVersion: `${group}/v1`,
    kind: "RoleBinding",
    metadata: { name: "postern-lease", namespace: releaseNamespace, labels },
    roleRef: { apiGroup: group, kind: "Role", name: "postern-lease" },
    subjects: [subject("postern-operator"), when(clusterApiApart, subject("postern-cluster-api"))],
  };
}

/** Every process reviews the tokens of those who read its metrics. */
function tokenReviewBinding(): ObjectTemplate {
  return {
    ...clusterBinding("postern-token-review", "postern-operator"),
    subjects: [
      subject("postern-operator"),
      when(clusterApiApart, subject("postern-cluster-api")),
      // A rule of the settings: only with splitRoles.
      forEach(setting("hosted.controlPlanes"), subject("postern-control-plane")),
    ],
  };
}

/** For whoever reads a page: bound to nobody here, because nobody here knows who that is. */
function reader(name: string, path: string): ObjectTemplate {
  return {
    apiVersion: `${group}/v1`,
    kind: "ClusterRole",
    metadata: { name, labels },
    rules: [{ nonResourceURLs: [path], verbs: ["get"] }],
  };
}

/** Whoever may look at a namespace may look at its link objects. Nobody but Postern and HyperShift writes them. */
function viewers(): ObjectTemplate {
  const aggregate = ["view", "edit", "admin"].map((to): [string, string] => [
    `${group}/aggregate-to-${to}`,
    "true",
  ]);
  return {
    apiVersion: `${group}/v1`,
    kind: "ClusterRole",
    metadata: {
      name: "postern-view",
      labels: {
        ...labels,
        ...Object.fromEntries(aggregate),
        [`${group}/aggregate-to-cluster-reader`]: "true",
      },
    },
    rules: [
      {
        apiGroups: ["hypershift.openshift.io"],
        resources: ["azureprivatelinkservices"],
        verbs: ["get", "list", "watch"],
      },
    ],
  };
}
