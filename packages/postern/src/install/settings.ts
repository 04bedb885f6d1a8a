import { forms } from "@postern/core/forms.ts";
import { nearest } from "@postern/core/process/nearest.ts";
import { type Static, type TSchema, Type } from "typebox";
import { Settings as System } from "typebox/system";
import { Errors } from "typebox/value";

type Form = (typeof forms)[keyof typeof forms];

const strict = { additionalProperties: false };

/** A string of a form. */
const formed = ({ pattern }: Form, options: { default?: string; description?: string } = {}) =>
  Type.String({ pattern: `^${pattern}$`, ...options });

/** A string of a form that must be given, or has a default. */
const required = (form: Form, description: string, usual = "") =>
  formed(form, { default: usual, description });

/** A string of a form, or empty for none. */
const optional = ({ pattern }: Form, description: string) =>
  Type.String({ pattern: `^(${pattern})?$`, default: "", description });

const flag = (usual: boolean, description: string) => Type.Boolean({ default: usual, description });

/** A part of an object of Kubernetes, which the API server validates. */
const map = (description: string, usual: Record<string, unknown> = {}) =>
  Type.Object({}, { additionalProperties: true, default: usual, description });

const list = <T extends TSchema>(items: T, description: string) =>
  Type.Array(items, { default: [], description });

const anything = Type.Object({}, { additionalProperties: true });

const image = Type.Object(
  {
    registry: optional(
      forms.registry,
      "The registry, such as a mirror of your own. Empty where the repository names it.",
    ),
    repository: required(
      forms.repository,
      "The repository. Postern publishes no image yet: build it from the Dockerfile, and push it to a registry of yours.",
    ),
    tag: optional(forms.tag, "The tag. Empty for the version of this release."),
    digest: optional(forms.digest, "The digest. It stands before the tag."),
    pullPolicy: Type.Enum(["IfNotPresent", "Always", "Never"], {
      default: "IfNotPresent",
      description: "When the kubelet pulls the image.",
    }),
  },
  { ...strict, description: "Which image the pods run." },
);

const azure = Type.Object(
  {
    cloud: Type.Enum(
      [
        "AzurePublicCloud",
        "AzureUSGovernmentCloud",
        "AzureChinaCloud",
        "AzureGermanCloud",
        "AzureBleuCloud",
      ],
      { default: "AzurePublicCloud", description: "The cloud." },
    ),
    subscriptionId: optional(
      forms.guid,
      "The subscription of the management cluster; for Cluster API that of the base domain's zone.",
    ),
    resourceGroup: optional(
      forms.resourceGroup,
      "The resource group of the management cluster's load balancers, where link services are created.",
    ),
    loadBalancerResourceGroups: list(
      formed(forms.resourceGroup),
      "Other resource groups of the subscription with load balancers of the management cluster.",
    ),
    tenantId: optional(
      forms.guid,
      "The tenant of the identity, where the webhook of workload identity does not know it.",
    ),
    clientId: optional(
      forms.guid,
      "The client id of a managed identity with a federated credential for the ServiceAccount. It sets the annotation of the ServiceAccount and the label of the pods.",
    ),
    projectedToken: flag(
      false,
      "Mount a token of the ServiceAccount for Entra in the pods, where no webhook of workload identity does it.",
    ),
    credentialsSecret: Type.Object(
      {
        name: optional(forms.domain, "A Secret with a credential file, in place of an identity."),
        key: required(forms.key, "The key of the file in that Secret.", "credentials"),
      },
      { ...strict, description: "A client secret, where there is no workload identity." },
    ),
  },
  { ...strict, description: "Where Azure is, and as whom Postern acts there." },
);

const hosted = Type.Object(
  {
    enabled: flag(true, "Serve hosted control planes."),
    replaceHyperShift: flag(
      false,
      "Act in HyperShift's place: install its kinds, and create the namespace, control plane, Services and Routes of a HostedCluster. Only on a cluster without HyperShift.",
    ),
    hyperShiftServiceAccount: Type.Object(
      {
        namespace: required(forms.label, "Its namespace.", "hypershift"),
        name: required(forms.domain, "Its name.", "operator"),
      },
      {
        ...strict,
        description: "As whom HyperShift's operator runs: it may write link objects too.",
      },
    ),
    controlPlanes: list(
      Type.Object(
        {
          namespace: formed(forms.label, {
            description: "The control-plane namespace, which must exist.",
          }),
          clientId: Type.Optional(
            formed(forms.guid, {
              description:
                "The client id of the hosted cluster's identity, with a federated credential for the ServiceAccount postern-control-plane of the namespace.",
            }),
          ),
        },
        strict,
      ),
      "With splitRoles: the control-plane namespaces, each of which gets a process of its own.",
    ),
    natSubnets: Type.Enum(["shared", "per-cluster"], {
      default: "shared",
      description: "Whether link services share their NAT subnets, or each cluster has its own.",
    }),
    azureTags: optional(
      forms.azureTags,
      "Tags of the link services: name=value, with commas between them, at most 5.",
    ),
  },
  { ...strict, description: "Hosted control planes." },
);

const clusterApi = Type.Object(
  {
    enabled: flag(false, "Serve clusters of Cluster API."),
    managementCluster: Type.Object(
      {
        name: optional(forms.domain, "The name of the management cluster's AzureCluster."),
        namespace: optional(forms.label, "Its namespace."),
      },
      { ...strict, description: "The AzureCluster of the management cluster." },
    ),
    gates: list(
      formed(forms.condition),
      "Conditions of an AzureCluster that its control plane waits for.",
    ),
    managementLink: Type.Enum(["gateway", "ingress", "both"], {
      default: "gateway",
      description: "By which link workload clusters reach the management cluster.",
    }),
    baseDomain: optional(forms.domain, "The domain in which clusters get their DNS records."),
    baseDomainResourceGroup: optional(
      forms.resourceGroup,
      "The resource group of that domain's zone.",
    ),
    identityRef: Type.Object(
      {
        name: optional(forms.domain, "The name of the AzureClusterIdentity."),
        namespace: optional(forms.label, "Its namespace."),
      },
      {
        ...strict,
        description: "Which AzureClusterIdentity acts for clusters that are no AzureClusters.",
      },
    ),
    secretNamespaces: list(
      formed(forms.label),
      "Namespaces with Secrets of AzureClusterIdentities and kubeconfigs. An administrator labels each with postern.io/secrets=allowed first.",
    ),
  },
  { ...strict, description: "Cluster API." },
);

/** The settings of an installation. They are the values of the chart. */
export const settingsSchema = Type.Object(
  {
    image,
    imagePullSecrets: list(
      Type.Object({ name: formed(forms.domain) }, strict),
      "Secrets for pulling the image.",
    ),
    createNamespace: flag(
      false,
      "Whether the Namespace is one of the objects. Leave it to helm install --create-namespace.",
    ),
    azure,
    hosted,
    clusterApi,
    splitRoles: flag(
      false,
      "One process for the management side, one for each control-plane namespace, and one for Cluster API, each with its own permissions.",
    ),
    openshift: flag(
      false,
      "Whether the cluster is OpenShift: no fixed user, the restricted-v2 security context constraint, and OpenShift's own Route kind.",
    ),
    tenantPolicy: Type.Object(
      {
        namespaces: list(
          Type.Object(
            {
              namespace: formed(forms.namespaces),
              domains: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
              subscriptions: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
              resourceGroups: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
              identities: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
            },
            strict,
          ),
          "One entry for each namespace of clusters; docs/security.md has the form. Without one no HostedCluster publishes a hostname in HyperShift's place.",
        ),
      },
      {
        ...strict,
        description:
          "Which namespace may use which domains, subscriptions, resource groups and identities.",
      },
    ),
    policy: Type.Enum(["sync", "upsert-only", "observe-only"], {
      default: "sync",
      description:
        "What may be written: everything, everything but deletions, or only status and events.",
    }),
    crds: Type.Object(
      {
        enabled: flag(true, "Whether the kinds that Postern brings are installed."),
        keep: flag(
          true,
          "Whether they stay when the chart is uninstalled. To delete a kind deletes all its objects.",
        ),
      },
      { ...strict, description: "The kinds." },
    ),
    admission: Type.Object(
      {
        enabled: flag(
          true,
          "Whether the admission policies are installed, on which the security of shared clusters depends.",
        ),
        reserveDefaultNamespace: flag(
          true,
          "Whether the namespace default is out of bounds for the operator. Set it to false if clusters of Cluster API live there.",
        ),
      },
      {
        ...strict,
        description: "ValidatingAdmissionPolicies; they need Kubernetes 1.30 or OpenShift 4.17.",
      },
    ),
    serviceAccount: Type.Object(
      { annotations: map("Further annotations of the operator's ServiceAccount.") },
      { ...strict, description: "The operator's ServiceAccount." },
    ),
    replicas: Type.Integer({
      minimum: 0,
      maximum: 10,
      default: 2,
      description: "Pods of each process. One leads by a Lease, the others are ready to take over.",
    }),
    logFormat: Type.Enum(["json", "text"], {
      default: "json",
      description: "How log lines look.",
    }),
    logLevel: Type.Enum(["debug", "info", "warn", "error"], {
      default: "info",
      description: "What is logged.",
    }),
    exposeDetails: flag(false, "Show why checks fail to everybody who reaches the health pages."),
    extraArgs: list(Type.String(), "Further flags of postern operator."),
    extraEnv: list(anything, "Further variables of the environment, as a container has them."),
    additionalTrustBundle: Type.String({
      default: "",
      description:
        "Certificates in PEM that are trusted beside the usual ones, such as those of a proxy.",
    }),
    resources: map("Requests and limits of the container.", {
      requests: { cpu: "50m", memory: "160Mi" },
      limits: { memory: "512Mi" },
    }),
    podAnnotations: map("Further annotations of the pods."),
    podLabels: map("Further labels of the pods."),
    nodeSelector: map("On which nodes pods run."),
    affinity: map("The affinity of the pods."),
    tolerations: list(anything, "The tolerations of the pods."),
    topologySpreadConstraints: list(
      anything,
      "How pods are spread. Empty for: over nodes and zones, where that is possible.",
    ),
    priorityClassName: optional(
      forms.domain,
      "The priority class of the pods, such as system-cluster-critical.",
    ),
    terminationGracePeriodSeconds: Type.Integer({
      minimum: 1,
      maximum: 600,
      default: 30,
      description: "How long a pod may take to stop. It releases its Lease first.",
    }),
    podDisruptionBudget: Type.Object(
      { enabled: flag(true, "Whether there is one, by which one pod at a time is evicted.") },
      { ...strict, description: "The PodDisruptionBudget." },
    ),
    metrics: Type.Object(
      {
        port: Type.Integer({
          minimum: 1024,
          maximum: 65_535,
          default: 8443,
          description:
            "Where /metrics is served, over TLS, to whoever has a token and the ClusterRole postern-metrics-reader.",
        }),
        tlsSecret: optional(
          forms.domain,
          "A Secret of type kubernetes.io/tls with the certificate, such as one of cert-manager. Empty for a self-signed certificate.",
        ),
        serviceMonitor: Type.Object(
          {
            enabled: flag(
              false,
              "Whether there is a ServiceMonitor. The cluster must serve the kind: the Prometheus operator brings it.",
            ),
            labels: map("Labels by which Prometheus selects it."),
            tlsConfig: map("How Prometheus checks the certificate.", { insecureSkipVerify: true }),
          },
          { ...strict, description: "How the Prometheus operator finds the pods." },
        ),
        podMonitor: Type.Object(
          {
            enabled: flag(
              false,
              "Whether there is a PodMonitor in place of the ServiceMonitor, for a Prometheus that may not read token files.",
            ),
            labels: map("Labels by which Prometheus selects it."),
            tokenSecret: Type.Object(
              {
                name: optional(
                  forms.domain,
                  "A Secret with a token of a ServiceAccount that has the ClusterRole postern-metrics-reader, in the namespace of the pods.",
                ),
                key: required(forms.key, "The key of the token in that Secret.", "token"),
              },
              { ...strict, description: "The token by which Prometheus reads the metrics." },
            ),
            tlsConfig: map("How Prometheus checks the certificate.", { insecureSkipVerify: true }),
          },
          { ...strict, description: "The same by pods, with a token of a Secret." },
        ),
        prometheusRule: Type.Object(
          {
            enabled: flag(
              false,
              "Whether there is a PrometheusRule with the alerts. The cluster must serve the kind.",
            ),
            labels: map("Labels by which Prometheus selects it."),
            runbookUrl: optional(
              forms.url,
              "Where your copies of the pages in docs/runbooks are: each alert gets the annotation runbook_url, which is this, a slash and the name of the alert.",
            ),
          },
          { ...strict, description: "The alerts." },
        ),
        grafanaDashboard: Type.Object(
          {
            enabled: flag(false, "Whether there is a ConfigMap with the dashboard for Grafana."),
            labels: map("Labels by which Grafana's sidecar finds it.", { grafana_dashboard: "1" }),
            annotations: map("Annotations of it, such as the folder of the dashboard."),
          },
          { ...strict, description: "The dashboard for Grafana." },
        ),
      },
      { ...strict, description: "Metrics." },
    ),
    health: Type.Object(
      {
        port: Type.Integer({
          minimum: 1024,
          maximum: 65_535,
          default: 8081,
          description: "Where /healthz and /readyz are served, for the kubelet's probes.",
        }),
      },
      { ...strict, description: "Health pages." },
    ),
    networkPolicy: Type.Object(
      {
        enabled: flag(
          true,
          "Whether there is one: pods reach DNS, API servers and Azure, and are reached on the ports of metrics and probes.",
        ),
        metricsFrom: list(
          anything,
          "Who reaches the metrics port, as the from of a NetworkPolicy. Empty for everybody.",
        ),
        extraEgress: list(anything, "Further rules, such as for a proxy or a collector of traces."),
        apiServerPorts: Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), {
          default: [443, 6443],
          description:
            "Ports of API servers, of this cluster and of hosted clusters, and of Azure.",
        }),
      },
      { ...strict, description: "The NetworkPolicy." },
    ),
  },
  strict,
);

export type Settings = Static<typeof settingsSchema>;

interface SchemaNode {
  type?: string;
  default?: unknown;
  properties?: Record<string, SchemaNode>;
}

/** What counts where nothing is given. */
export function defaultSettings(schema: SchemaNode = settingsSchema as SchemaNode): Settings {
  const entries = Object.entries(schema.properties ?? {}).map(([key, each]) => [
    key,
    each.default === undefined ? defaultSettings(each) : structuredClone(each.default),
  ]);
  return Object.fromEntries(entries) as Settings;
}

/** Add values to others, as Helm does: maps are merged, null removes an entry, and anything else replaces what was there. */
export function mergeSettings(base: unknown, given: unknown): unknown {
  if (!isMap(base) || !isMap(given)) return given;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(given)) {
    if (value === null) delete merged[key];
    else merged[key] = key in base ? mergeSettings(base[key], value) : value;
  }
  return merged;
}

/** What is wrong with the form of settings, one line each; empty where they are settings. */
export function formViolations(settings: unknown): string[] {
  return errorsIn(settings).flatMap((error): string[] => {
    const path = error.instancePath.slice(1).replaceAll("/", ".");
    switch (error.keyword) {
      // Says of an unknown entry what additionalProperties says by its name.
      case "boolean":
        return [];
      case "additionalProperties":
        return error.params.additionalProperties.map((name) => unknownSetting(path, name));
      case "required":
        return error.params.requiredProperties.map((name) => `${path}.${name} is missing`);
      case "enum":
        return [`${path} must be one of ${error.params.allowedValues.join(", ")}`];
      case "pattern":
        return [
          `${path}${isEmptyAt(settings, path) ? " is missing and" : ""} must be ${formOf(String(error.params.pattern))}`,
        ];
      default:
        return [`${path} ${error.message}`];
    }
  });
}

function errorsIn(settings: unknown) {
  const { maxErrors } = System.Get();
  System.Set({ maxErrors: 1_000 });
  try {
    return Errors(settingsSchema, settings);
  } finally {
    System.Set({ maxErrors });
  }
}

function unknownSetting(path: string, name: string): string {
  const known = path
    .split(".")
    .filter((key) => key !== "")
    .reduce<SchemaNode | undefined>(
      (schema, key) => schema?.properties?.[key],
      settingsSchema as SchemaNode,
    );
  const meant = nearest(name, Object.keys(known?.properties ?? {}));
  const full = (last: string) => (path === "" ? last : `${path}.${last}`);
  return `${full(name)} is not a setting${meant ? `: did you mean ${full(meant)}?` : ""}`;
}

function isEmptyAt(settings: unknown, path: string): boolean {
  return path.split(".").reduce((node, key) => Reflect.get(Object(node), key), settings) === "";
}

function formOf(pattern: string): string {
  const found = Object.values(forms).find(
    (form) => pattern === `^${form.pattern}$` || pattern === `^(${form.pattern})?$`,
  );
  return found?.is ?? `of the form ${pattern}`;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
