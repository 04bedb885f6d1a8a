import {
  all,
  type Condition,
  checksum,
  forEach,
  item,
  not,
  releaseVersion,
  setting,
  type Template,
  type TemplateMap,
  type TextPart,
  text,
  textOf,
  when,
} from "../template/template.ts";
import { type Component, clusterApiWithin, hosted, labelsOf, selectorOf } from "./names.ts";

/** The Secret of `--azure-private-creds`. */
export const credentialsSecretName = "postern-azure-credentials";

/** Where the credential file is, as HyperShift's operator has it. */
const credentialsFolder = "/etc/azure-provider";
const trustFolder = "/etc/postern/trust";
const certificateFolder = "/etc/postern/tls";
const policyFolder = "/etc/postern/policy";
const tokenFolder = "/var/run/secrets/postern/azure";

/** What differs between the processes. */
interface Process {
  /** Whether it acts by a workload identity, and by which. */
  identity: Condition;
  clientId: Template;
  args: readonly Template[];
  env: readonly Template[];
}

/** Whether a credential file is used. Control planes have identities of their own. */
const byFile: Condition = setting("azure.credentialsSecret.name");

const identity: Pick<Process, "identity" | "clientId"> = {
  identity: setting("azure.clientId"),
  clientId: setting("azure.clientId"),
};

const managementEnv: readonly Template[] = [
  when(setting("azure.resourceGroup"), variable("AZURE_RESOURCE_GROUP", "azure.resourceGroup")),
  when(setting("azure.loadBalancerResourceGroups"), {
    name: "AZURE_LOAD_BALANCER_RESOURCE_GROUPS",
    value: text`${forEach<TextPart>(setting("azure.loadBalancerResourceGroups"), text`${item()},`)}`,
  }),
];

const clusterApiArgs: readonly Template[] = [
  argument("--management-cluster-name", "clusterApi.managementCluster.name"),
  argument("--management-cluster-namespace", "clusterApi.managementCluster.namespace"),
  text`--management-link=${setting("clusterApi.managementLink")}`,
  when(
    setting("clusterApi.gates"),
    text`--azure-cluster-gates=${forEach<TextPart>(setting("clusterApi.gates"), text`${item()},`)}`,
  ),
  when(setting("clusterApi.baseDomain"), argument("--base-domain", "clusterApi.baseDomain")),
  when(
    setting("clusterApi.baseDomain"),
    argument("--base-domain-resource-group", "clusterApi.baseDomainResourceGroup"),
  ),
  when(
    setting("clusterApi.identityRef.name"),
    argument("--azure-identity-ref-name", "clusterApi.identityRef.name"),
  ),
  when(
    setting("clusterApi.identityRef.name"),
    argument("--azure-identity-ref-namespace", "clusterApi.identityRef.namespace"),
  ),
];

const natSubnets = text`--nat-subnets=${setting("hosted.natSubnets")}`;

const processes: Record<Component, Process> = {
  "postern-operator": {
    ...identity,
    args: [
      textOf([
        "--role=",
        when<TextPart>(
          hosted,
          textOf([when<TextPart>(setting("splitRoles"), "management", "all")]),
          "cluster-api",
        ),
      ]),
      when(hosted, natSubnets),
      when(
        all(hosted, setting("hosted.azureTags")),
        text`--azure-tags=${setting("hosted.azureTags")}`,
      ),
      ...clusterApiArgs.map((each) => withinOnly(each)),
    ],
    env: managementEnv,
  },
  "postern-cluster-api": {
    ...identity,
    args: ["--role=cluster-api", ...clusterApiArgs],
    env: [],
  },
  "postern-control-plane": {
    identity: item("clientId"),
    clientId: item("clientId"),
    args: ["--role=control-plane", text`--namespace=${item("namespace")}`],
    env: [],
  },
};

/** An argument of Cluster API, where this process serves it. */
function withinOnly(each: Template): Template {
  return when(clusterApiWithin, each);
}

/** The client id of a component's workload identity, and whether there is one. */
export function identityOf(component: Component): Pick<Process, "identity" | "clientId"> {
  return processes[component];
}

const notOpenShift: Condition = { not: setting("openshift") };

/** As whom the pods run. OpenShift gives each namespace users of its own. */
export const podSecurity: TemplateMap = {
  runAsNonRoot: true,
  runAsUser: when(notOpenShift, 65_532),
  runAsGroup: when(notOpenShift, 65_532),
  fsGroup: when(notOpenShift, 65_532),
  seccompProfile: { type: "RuntimeDefault" },
};

const projectedToken = setting("azure.projectedToken");

/** Whether the webhook of workload identity acts on the pods of a component: it looks for a label. */
export function usesWebhook(component: Component): Condition {
  return all(processes[component].identity, not(projectedToken));
}

/** Whether the pods of a component have a token for Entra without that webhook. */
function hasToken(component: Component): Condition {
  return all(processes[component].identity, projectedToken);
}

/** The pods of a component. */
export function podTemplate(component: Component): TemplateMap {
  return {
    metadata: {
      labels: {
        ...labelsOf(component),
        "azure.workload.identity/use": when(usesWebhook(component), "true"),
        "...": setting("podLabels"),
      },
      annotations: {
        "kubectl.kubernetes.io/default-container": "operator",
        "openshift.io/required-scc": when(setting("openshift"), "restricted-v2"),
        // These files are read at the start: a change restarts the pods.
        "checksum/tenant-policy": when(
          setting("tenantPolicy.namespaces"),
          checksum(setting("tenantPolicy")),
        ),
        "checksum/trust-bundle": when(
          setting("additionalTrustBundle"),
          checksum(setting("additionalTrustBundle")),
        ),
        "...": setting("podAnnotations"),
      },
    },
    spec: {
      serviceAccountName: component,
      terminationGracePeriodSeconds: setting("terminationGracePeriodSeconds"),
      enableServiceLinks: false,
      securityContext: podSecurity,
      imagePullSecrets: when(setting("imagePullSecrets"), setting("imagePullSecrets")),
      nodeSelector: when(setting("nodeSelector"), setting("nodeSelector")),
      affinity: when(setting("affinity"), setting("affinity")),
      tolerations: when(setting("tolerations"), setting("tolerations")),
      priorityClassName: when(setting("priorityClassName"), setting("priorityClassName")),
      topologySpreadConstraints: when<Template>(
        setting("topologySpreadConstraints"),
        setting("topologySpreadConstraints"),
        ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => ({
          maxSkew: 1,
          topologyKey,
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: { matchLabels: selectorOf(component) },
        })),
      ),
      containers: [container(component)],
      volumes: volumes(component),
    },
  };
}

/** The image, by digest where one is given. */
export const image = textOf([
  when<TextPart>(setting("image.registry"), text`${setting("image.registry")}/`),
  setting("image.repository"),
  when<TextPart>(
    setting("image.digest"),
    text`@${setting("image.digest")}`,
    textOf([
      ":",
      when<TextPart>(setting("image.tag"), setting("image.tag"), text`v${releaseVersion}`),
    ]),
  ),
]);

/** What a container of ours may do, which is nothing. */
export const containerSecurity: TemplateMap = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

/** The variables by which a component finds Azure. */
export function environment(component: Component): Template[] {
  const { identity, clientId, env } = processes[component];
  return [
    { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    { name: "AZURE_CLOUD_NAME", value: setting("azure.cloud") },
    when(identity, { name: "AZURE_PLS_CLIENT_ID", value: clientId }),
    when(setting("azure.tenantId"), variable("AZURE_TENANT_ID", "azure.tenantId")),
    when(hasToken(component), { name: "AZURE_CLIENT_ID", value: clientId }),
    when<Template>(hasToken(component), {
      name: "AZURE_FEDERATED_TOKEN_FILE",
      value: `${tokenFolder}/token`,
    }),
    when(
      setting("azure.subscriptionId"),
      variable("AZURE_SUBSCRIPTION_ID", "azure.subscriptionId"),
    ),
    ...env,
    ...(usesFile(component)
      ? [
          when<Template>(byFile, {
            name: "AZURE_CREDENTIALS_FILE",
            value: textOf([`${credentialsFolder}/`, setting("azure.credentialsSecret.key")]),
          }),
        ]
      : []),
    when<Template>(setting("additionalTrustBundle"), {
      name: "NODE_EXTRA_CA_CERTS",
      value: `${trustFolder}/ca-bundle.crt`,
    }),
    forEach(setting("extraEnv"), item()),
  ];
}

function container(component: Component): TemplateMap {
  const port = setting("metrics.port");
  const healthPort = setting("health.port");
  const certificate = setting("metrics.tlsSecret");
  const probe = (path: string) => ({ httpGet: { path, port: "health" }, timeoutSeconds: 5 });
  return {
    name: "operator",
    image,
    imagePullPolicy: setting("image.pullPolicy"),
    args: [
      "operator",
      ...processes[component].args,
      text`--listen=0.0.0.0:${healthPort}`,
      text`--metrics=0.0.0.0:${port}`,
      when(certificate, `--tls-cert-file=${certificateFolder}/tls.crt`),
      when(certificate, `--tls-private-key-file=${certificateFolder}/tls.key`),
      text`--log-format=${setting("logFormat")}`,
      text`--log-level=${setting("logLevel")}`,
      text`--policy=${setting("policy")}`,
      when(
        setting("tenantPolicy.namespaces"),
        `--tenant-policy=${policyFolder}/tenant-policy.yaml`,
      ),
      when(setting("exposeDetails"), "--expose-details"),
      forEach(setting("extraArgs"), item()),
    ],
    env: environment(component),
    ports: [
      { name: "metrics", containerPort: port },
      { name: "health", containerPort: healthPort },
    ],
    livenessProbe: { ...probe("/healthz"), initialDelaySeconds: 10, periodSeconds: 20 },
    readinessProbe: { ...probe("/readyz"), periodSeconds: 10 },
    resources: setting("resources"),
    securityContext: containerSecurity,
    volumeMounts: mounts(component),
  };
}

/** Where the container finds files. */
export function mounts(component: Component): Template[] {
  const mount = (name: string, mountPath: string) => ({ name, mountPath, readOnly: true });
  return [
    { name: "tmp", mountPath: "/tmp" },
    when<Template>(hasToken(component), mount("azure-token", tokenFolder)),
    when<Template>(setting("tenantPolicy.namespaces"), mount("tenant-policy", policyFolder)),
    when<Template>(setting("additionalTrustBundle"), mount("trust-bundle", trustFolder)),
    when<Template>(setting("metrics.tlsSecret"), mount("tls", certificateFolder)),
    ...(usesFile(component)
      ? [when<Template>(byFile, mount("azure-credentials", credentialsFolder))]
      : []),
  ];
}

/** The files of the pods. */
export function volumes(component: Component): Template[] {
  const files = (name: string, configMap: string) => ({ name, configMap: { name: configMap } });
  return [
    { name: "tmp", emptyDir: { sizeLimit: "64Mi" } },
    when<Template>(hasToken(component), {
      name: "azure-token",
      projected: {
        sources: [
          {
            serviceAccountToken: {
              path: "token",
              audience: "api://AzureADTokenExchange",
              expirationSeconds: 3600,
            },
          },
        ],
      },
    }),
    when<Template>(
      setting("tenantPolicy.namespaces"),
      files("tenant-policy", "postern-tenant-policy"),
    ),
    when<Template>(setting("additionalTrustBundle"), files("trust-bundle", "postern-trust-bundle")),
    when<Template>(setting("metrics.tlsSecret"), {
      name: "tls",
      secret: { secretName: setting("metrics.tlsSecret") },
    }),
    ...(usesFile(component)
      ? [
          when<Template>(byFile, {
            name: "azure-credentials",
            secret: { secretName: setting("azure.credentialsSecret.name") },
          }),
        ]
      : []),
  ];
}

function usesFile(component: Component): boolean {
  return component !== "postern-control-plane";
}

function argument(flag: string, path: string): Template {
  return textOf([`${flag}=`, setting(path)]);
}

function variable(name: string, path: string): Template {
  return { name, value: setting(path) };
}
