// Makes the bundle of the Operator Lifecycle Manager (registry+v1) of the objects of an installation.
// The format: https://github.com/operator-framework/operator-registry/blob/master/docs/design/operator-bundle.md

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "@postern/core/kind.ts";
import { oldestKubernetes } from "postern/kube/oldest-kubernetes.ts";
import { stringify } from "yaml";

const root = join(import.meta.dirname, "../..");

/** Which variable of the Subscription stands for a value of the installation. The first three are those of OpenShift's console. */
export const subscriptionVariables: Readonly<Record<string, string>> = {
  CLIENTID: "00000000-0000-4000-8000-000000000002",
  TENANTID: "00000000-0000-4000-8000-000000000003",
  SUBSCRIPTIONID: "00000000-0000-4000-8000-000000000001",
  RESOURCEGROUP: "management",
};

/** What a bundle may have beside the deployments and permissions of its ClusterServiceVersion. */
const bundled = [
  ...["ClusterRole", "ConfigMap", "PodDisruptionBudget"],
  ...["PrometheusRule", "Service", "ServiceMonitor"],
];

interface Rule {
  [key: string]: unknown;
}

interface RoleObject extends KubeObject {
  rules?: Rule[];
}

interface BindingObject extends KubeObject {
  roleRef: { kind: string; name: string };
  subjects: { name: string; namespace?: string }[];
}

interface DeploymentObject extends KubeObject {
  spec: {
    template: {
      spec: { containers: { env: { name: string; value?: string }[]; image: string }[] };
    };
  };
}

/** What a bundle is made for. */
export interface BundleOptions {
  version: string;
  /** When the image was built; the bundle in the repository is of none. */
  createdAt?: string;
}

/** The files of a bundle: their paths → their texts. What a bundle cannot have is in `before.yaml`, which an administrator applies first. */
export function olmBundle(
  objects: readonly KubeObject[],
  { version, createdAt }: BundleOptions,
): Map<string, string> {
  const { permissions, clusterPermissions, bound, rest } = permissionsOf(objects);
  const deployments = rest.filter(({ kind }) => kind === "Deployment") as DeploymentObject[];
  const images = [
    ...new Set(
      deployments.flatMap(({ spec }) => spec.template.spec.containers.map(({ image }) => image)),
    ),
  ];
  const image = images[0] ?? "";
  const beside = rest.filter(({ kind }) => bundled.includes(kind ?? ""));
  const before = rest.filter(
    ({ kind }) => !["Deployment", "ServiceAccount", ...bundled].includes(kind ?? ""),
  );
  const csv = {
    apiVersion: "operators.coreos.com/v1alpha1",
    kind: "ClusterServiceVersion",
    metadata: {
      name: `postern.v${version}`,
      namespace: "placeholder",
      annotations: {
        "alm-examples": "[]",
        capabilities: "Seamless Upgrades",
        categories: "Networking",
        containerImage: image,
        ...(createdAt !== undefined && { createdAt }),
        description: "Private connectivity for Kubernetes control planes on Azure",
        "operatorframework.io/suggested-namespace": "postern",
        support: "Postern",
        ...features,
      },
    },
    spec: {
      displayName: "Postern",
      description,
      version,
      maturity: "alpha",
      minKubeVersion: oldestKubernetes,
      keywords: ["azure", "private-link", "hypershift", "dns"],
      provider: { name: "Postern" },
      icon: [
        {
          base64data: readFileSync(join(root, "packages/dashboard/icon.svg")).toString("base64"),
          mediatype: "image/svg+xml",
        },
      ],
      links: [
        { name: "Azure Private Link", url: "https://learn.microsoft.com/azure/private-link/" },
      ],
      installModes: ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"].map(
        (type) => ({ type, supported: type === "AllNamespaces" }),
      ),
      install: {
        strategy: "deployment",
        spec: {
          deployments: deployments.map(({ metadata, spec }) => ({
            name: metadata.name,
            label: metadata.labels,
            spec: withVariables(spec),
          })),
          permissions,
          clusterPermissions,
        },
      },
      relatedImages: images.map((each) => ({ name: "operator", image: each })),
    },
  };
  const named = (object: KubeObject): [string, string] => [
    `manifests/${object.metadata.name}.${(object.kind ?? "").toLowerCase()}.yaml`,
    yamlOf(inInstallNamespace(object)),
  ];
  return new Map([
    ["manifests/postern.clusterserviceversion.yaml", yamlOf(csv)],
    ...[...bound, ...beside].map(named),
    ["metadata/annotations.yaml", yamlOf({ annotations })],
    ["tests/scorecard/config.yaml", yamlOf(scorecard)],
    ["Dockerfile", dockerfile],
    ["before.yaml", before.map(yamlOf).join("---\n")],
  ]);
}

/** Rules by ServiceAccount, as a ClusterServiceVersion has them; `bound` are roles that the operator binds itself, or people have. */
function permissionsOf(objects: readonly KubeObject[]) {
  const of = (kind: string) => objects.filter((each) => each.kind === kind);
  const roles = [...of("ClusterRole"), ...of("Role")] as RoleObject[];
  const bindings = [...of("ClusterRoleBinding"), ...of("RoleBinding")] as BindingObject[];
  const rulesOf = (bindingKind: string) =>
    bindings
      .filter(({ kind }) => kind === bindingKind)
      .flatMap(({ roleRef, subjects }) =>
        subjects.map(({ name }) => ({
          serviceAccountName: name,
          rules: roles.find(
            ({ kind, metadata }) => kind === roleRef.kind && metadata.name === roleRef.name,
          )?.rules,
        })),
      );
  const used = new Set(bindings.map(({ roleRef }) => `${roleRef.kind} ${roleRef.name}`));
  const ofRbac = ["ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"];
  return {
    permissions: rulesOf("RoleBinding"),
    clusterPermissions: rulesOf("ClusterRoleBinding"),
    bound: roles.filter(({ kind, metadata }) => !used.has(`${kind} ${metadata.name}`)),
    rest: objects.filter(({ kind }) => !ofRbac.includes(kind ?? "")),
  };
}

/**
 * Values of a Subscription replace those of variables that a container has, in their place, and a variable can refer to those
 * before it: https://github.com/operator-framework/operator-lifecycle-manager/blob/master/doc/design/subscription-config.md
 */
function withVariables(spec: DeploymentObject["spec"]): object {
  const copy = structuredClone(spec);
  for (const container of copy.template.spec.containers)
    container.env = [
      ...Object.keys(subscriptionVariables).map((name) => ({ name, value: "" })),
      ...container.env.map((variable) => {
        const found = Object.entries(subscriptionVariables).find(
          ([, value]) => value === variable.value,
        );
        return found ? { ...variable, value: `$(${found[0]})` } : variable;
      }),
    ];
  return copy;
}

/** OLM sets the namespace that it installs into. */
function inInstallNamespace(object: KubeObject): object {
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

const features = Object.fromEntries(
  Object.entries({
    disconnected: true,
    "fips-compliant": false,
    "proxy-aware": true,
    "tls-profiles": false,
    "token-auth-aws": false,
    "token-auth-azure": true,
    "token-auth-gcp": false,
    cnf: false,
    cni: false,
    csi: false,
  }).map(([name, value]) => [`features.operators.openshift.io/${name}`, String(value)]),
);

const mediaType = "operators.operatorframework.io.bundle";

const annotations = {
  [`${mediaType}.mediatype.v1`]: "registry+v1",
  [`${mediaType}.manifests.v1`]: "manifests/",
  [`${mediaType}.metadata.v1`]: "metadata/",
  [`${mediaType}.package.v1`]: "postern",
  [`${mediaType}.channels.v1`]: "alpha",
  [`${mediaType}.channel.default.v1`]: "alpha",
  "operators.operatorframework.io.test.config.v1": "tests/scorecard/",
  "operators.operatorframework.io.test.mediatype.v1": "scorecard+v1",
  // ValidatingAdmissionPolicies are stable since then.
  "com.redhat.openshift.versions": "v4.17",
};

const dockerfile = `FROM scratch
${Object.entries(annotations)
  .map(([name, value]) => `LABEL ${name}=${value}`)
  .join("\n")}
COPY manifests /manifests/
COPY metadata /metadata/
COPY tests/scorecard /tests/scorecard/
`;

/** The tests of operator-sdk that hold for an operator that owns no kinds. */
const scorecard = {
  apiVersion: "scorecard.operatorframework.io/v1alpha3",
  kind: "Configuration",
  metadata: { name: "config" },
  stages: [
    {
      parallel: true,
      tests: [
        {
          image: "quay.io/operator-framework/scorecard-test:v1.42.0",
          entrypoint: ["scorecard-test", "olm-bundle-validation"],
          labels: { suite: "olm", test: "olm-bundle-validation-test" },
          storage: { spec: { mountPath: {} } },
        },
      ],
    },
  ],
  storage: { spec: { mountPath: {} } },
};

const description = `Postern gives hosted control planes of HyperShift on Azure a private gate: private link services, private endpoints
and private DNS, each cluster in parallel, and nothing is left behind. It serves HyperShift's kind AzurePrivateLinkService, which HyperShift
installs; until then the pods wait, and are not ready.

## Before

A bundle cannot have ValidatingAdmissionPolicies and NetworkPolicies. An administrator applies them first; they are for the namespace \`postern\`:

    kubectl create namespace postern
    kubectl apply --server-side -f deploy/olm/before.yaml

## The identity

Give a managed identity a federated credential for \`system:serviceaccount:postern:postern-operator\` with the audience
\`api://AzureADTokenExchange\`, and set these variables in \`spec.config.env\` of the Subscription:

| variable | what it is |
| --- | --- |
| \`CLIENTID\` | the client id of the identity |
| \`TENANTID\` | its tenant |
| \`SUBSCRIPTIONID\` | the subscription of the management cluster |
| \`RESOURCEGROUP\` | the resource group of its load balancers |
`;

function yamlOf(object: object): string {
  return stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 });
}
