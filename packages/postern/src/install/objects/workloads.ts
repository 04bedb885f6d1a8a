import {
  any,
  type Document,
  forEach,
  item,
  json,
  type ObjectTemplate,
  releaseNamespace,
  setting,
  type Template,
  when,
} from "../template/template.ts";
import {
  type Component,
  clusterApiApart,
  labels,
  labelsOf,
  namespaceOf,
  selectorOf,
  split,
} from "./names.ts";
import { identityOf, podTemplate } from "./pods.ts";

/** The namespace, by its labels closed to every pod that asks for more than ours do. */
export function namespace(): Document {
  const levels = ["enforce", "audit", "warn"].map((mode): [string, string] => [
    `pod-security.kubernetes.io/${mode}`,
    "restricted",
  ]);
  return when<Document>(setting("createNamespace"), {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: releaseNamespace,
      labels: {
        ...labels,
        ...Object.fromEntries(levels),
        "openshift.io/cluster-monitoring": when(setting("openshift"), "true"),
      },
    },
  });
}

/** The processes of the mode, with all that belongs to each. */
export function workloads(): Document {
  return [
    workload("postern-operator"),
    when<Document>(clusterApiApart, workload("postern-cluster-api")),
    when<Document>(
      split,
      forEach<Document>(setting("hosted.controlPlanes"), workload("postern-control-plane")),
    ),
  ];
}

function workload(component: Component): readonly Document[] {
  return [
    serviceAccount(component),
    ...(component === "postern-cluster-api" ? [] : files(component)),
    metricsService(component),
    when<Document>(setting("networkPolicy.enabled"), networkPolicy(component)),
    when<Document>(setting("podDisruptionBudget.enabled"), disruptionBudget(component)),
    deployment(component),
  ];
}

function metadataOf(component: Component, name: string = component) {
  return { name, namespace: namespaceOf(component), labels: labelsOf(component) };
}

function serviceAccount(component: Component): ObjectTemplate {
  const { identity, clientId } = identityOf(component);
  const further =
    component === "postern-operator" ? setting("serviceAccount.annotations") : undefined;
  const annotations: Template = {
    "azure.workload.identity/client-id": when(identity, clientId),
    "azure.workload.identity/tenant-id": when(setting("azure.tenantId"), setting("azure.tenantId")),
    ...(further && { "...": further }),
  };
  const annotated = any(identity, setting("azure.tenantId"), ...(further ? [further] : []));
  return {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { ...metadataOf(component), annotations: when(annotated, annotations) },
  };
}

/** The files that pods read at their start. */
function files(component: Component): Document[] {
  const configMap = (name: string, data: Record<string, Template>): ObjectTemplate => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(component, name),
    data,
  });
  return [
    when<Document>(
      setting("tenantPolicy.namespaces"),
      // JSON is YAML too.
      configMap("postern-tenant-policy", { "tenant-policy.yaml": json(setting("tenantPolicy")) }),
    ),
    when<Document>(
      setting("additionalTrustBundle"),
      configMap("postern-trust-bundle", { "ca-bundle.crt": setting("additionalTrustBundle") }),
    ),
  ];
}

function deployment(component: Component): ObjectTemplate {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(component),
    spec: {
      replicas: setting("replicas"),
      // The Lease keeps an old pod and a new one from writing at the same time.
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: selectorOf(component) },
      template: podTemplate(component),
    },
  };
}

function metricsService(component: Component): ObjectTemplate {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(component, `${component}-metrics`),
    spec: {
      // Prometheus asks each pod, and not one of them.
      clusterIP: "None",
      selector: selectorOf(component),
      ports: [{ name: "metrics", port: setting("metrics.port"), targetPort: "metrics" }],
    },
  };
}

function disruptionBudget(component: Component): ObjectTemplate {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: metadataOf(component),
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(component) } },
  };
}

function networkPolicy(component: Component): ObjectTemplate {
  // 5353 is the DNS of OpenShift behind its Service.
  const dns = [53, 5353].flatMap((port) => ["UDP", "TCP"].map((protocol) => ({ protocol, port })));
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadataOf(component),
    spec: {
      podSelector: { matchLabels: selectorOf(component) },
      policyTypes: ["Ingress", "Egress"],
      ingress: [
        { ports: [{ protocol: "TCP", port: setting("health.port") }] },
        {
          ports: [{ protocol: "TCP", port: setting("metrics.port") }],
          from: when(setting("networkPolicy.metricsFrom"), setting("networkPolicy.metricsFrom")),
        },
      ],
      egress: [
        {
          ports: [
            ...dns,
            forEach(setting("networkPolicy.apiServerPorts"), { protocol: "TCP", port: item() }),
          ],
        },
        forEach(setting("networkPolicy.extraEgress"), item()),
      ],
    },
  };
}
