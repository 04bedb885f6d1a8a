// The test that `helm test` runs: `postern doctor`, by the operator's ServiceAccount, whose identity Azure knows.
import { definitions } from "@postern/core/definitions.ts";
import { labels } from "postern/install/objects/names.ts";
import {
  containerSecurity,
  environment,
  image,
  mounts,
  podSecurity,
  usesWebhook,
  volumes,
} from "postern/install/objects/pods.ts";
import {
  type Document,
  releaseNamespace,
  setting,
  type TemplateMap,
  when,
} from "postern/install/template/template.ts";

const name = "postern-test";
const group = "rbac.authorization.k8s.io";

/** What the operator may not read, and doctor does: it is granted for as long as the test runs. */
function rules() {
  const groups = Map.groupBy(definitions, (each) => each.group);
  return [
    {
      apiGroups: ["apiextensions.k8s.io"],
      resources: ["customresourcedefinitions"],
      verbs: ["get"],
    },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["list"] },
    { apiGroups: [""], resources: ["services", "namespaces"], verbs: ["get", "list"] },
    ...[...groups].map(([each, kinds]) => ({
      apiGroups: [each],
      resources: kinds.map(({ plural }) => plural),
      verbs: ["get", "list"],
    })),
  ];
}

/** The objects of the test. */
export function helmTest(): Document {
  const hook = (weight: number, rest: TemplateMap = {}): TemplateMap => ({
    name,
    labels,
    annotations: {
      "helm.sh/hook": "test",
      "helm.sh/hook-weight": String(weight),
      "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
    },
    ...rest,
  });
  return [
    { apiVersion: `${group}/v1`, kind: "ClusterRole", metadata: hook(-2), rules: rules() },
    {
      apiVersion: `${group}/v1`,
      kind: "ClusterRoleBinding",
      metadata: hook(-1),
      roleRef: { apiGroup: group, kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name: "postern-operator", namespace: releaseNamespace }],
    },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: hook(0, {
        namespace: releaseNamespace,
        labels: {
          ...labels,
          "azure.workload.identity/use": when(usesWebhook("postern-operator"), "true"),
        },
      }),
      spec: {
        restartPolicy: "Never",
        serviceAccountName: "postern-operator",
        securityContext: podSecurity,
        imagePullSecrets: when(setting("imagePullSecrets"), setting("imagePullSecrets")),
        tolerations: when(setting("tolerations"), setting("tolerations")),
        nodeSelector: when(setting("nodeSelector"), setting("nodeSelector")),
        containers: [
          {
            name: "doctor",
            image,
            imagePullPolicy: setting("image.pullPolicy"),
            // The operator's identity has a role on its resource group only, and doctor reads whole subscriptions where it may.
            args: ["doctor", "--output=wide", "--allow-unread"],
            env: environment("postern-operator"),
            securityContext: containerSecurity,
            resources: setting("resources"),
            volumeMounts: mounts("postern-operator"),
          },
        ],
        volumes: volumes("postern-operator"),
      },
    },
  ];
}
