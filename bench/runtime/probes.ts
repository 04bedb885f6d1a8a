import type { Kind, KubeObject } from "@postern/core/kind.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";

/** The custom resource of the bench: of the size and shape of what a private link needs to be told. */
export interface Probe extends KubeObject {
  spec: {
    address: string;
    loadBalancerID: string;
    location: string;
    allowedSubscriptions: string[];
    subnetIDs: string[];
    tags: Record<string, string>;
  };
  status?: { address?: string; conditions?: Condition[] };
}

export const probeKind: Kind<Probe> = {
  group: "bench.postern.io",
  version: "v1",
  kind: "Probe",
  plural: "probes",
  namespaced: true,
};

const subscription = "00000000-0000-0000-0000-000000";
const network = "/resourceGroups/bench/providers/Microsoft.Network";

/** The object with this number (six digits), as a person would create it. Nearly every text in it is its own. */
export function probe(namespace: string, number: string): Probe {
  const ids = `/subscriptions/${subscription}${number}${network}`;
  return {
    apiVersion: "bench.postern.io/v1",
    kind: "Probe",
    metadata: {
      name: `probe-${number}`,
      namespace,
      labels: { "app.kubernetes.io/part-of": "bench", "hosted-cluster": `cluster-${number}` },
    },
    spec: {
      address: `api-${number}.bench.internal`,
      loadBalancerID: `${ids}/loadBalancers/internal-${number}`,
      location: "westeurope",
      allowedSubscriptions: [`${subscription}${number}`],
      subnetIDs: [
        `${ids}/virtualNetworks/network-${number}/subnets/nat-a`,
        `${ids}/virtualNetworks/network-${number}/subnets/nat-b`,
      ],
      tags: { cluster: `cluster-${number}`, owner: "postern" },
    },
  };
}

export function numberOf(index: number): string {
  return String(index).padStart(6, "0");
}

const specFields =
  '{"apiVersion":"bench.postern.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/part-of":{},"f:hosted-cluster":{}}},"f:spec":{".":{},"f:address":{},"f:allowedSubscriptions":{},"f:loadBalancerID":{},"f:location":{},"f:subnetIDs":{},"f:tags":{".":{},"f:cluster":{},"f:owner":{}}}},"manager":"postern-bench","operation":"Update","time":"2026-01-01T00:00:00Z"}';
const statusFields =
  ',{"apiVersion":"bench.postern.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:address":{},"f:conditions":{"k:{\\"type\\":\\"Ready\\"}":{".":{},"f:lastTransitionTime":{},"f:message":{},"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}}}}},"manager":"postern-bench","operation":"Apply","subresource":"status","time":"2026-01-01T00:00:00Z"}';

/**
 * What the stub serves: the same object in the bytes that kube-apiserver 1.36.3 gave for it, keys in its order, with
 * marks where objects differ; and on a second line what a status write adds to the managedFields.
 */
export function stubTemplate(namespace: string): string {
  const { apiVersion, kind, metadata, spec } = probe(namespace, "{number}");
  const text = inOrder({
    apiVersion,
    kind,
    metadata: {
      ...metadata,
      creationTimestamp: "2026-01-01T00:00:00Z",
      generation: 1,
      managedFields: "{managedFields}",
      resourceVersion: "{resourceVersion}",
      uid: "00000000-0000-4000-8000-000000{number}",
    },
    spec,
  });
  const object = text.replace('"{managedFields}"', `[${specFields}{statusFields}]`);
  return `${object.slice(0, -1)}{status}}\n${statusFields}\n`;
}

/** JSON with all keys in order, as the API server writes custom resources. */
function inOrder(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

const texts = { type: "array", items: { type: "string" } };
const conditionSchema = {
  type: "object",
  required: ["type", "status", "reason", "message", "lastTransitionTime"],
  properties: {
    type: { type: "string" },
    status: { type: "string", enum: ["True", "False", "Unknown"] },
    reason: { type: "string" },
    message: { type: "string" },
    observedGeneration: { type: "integer", format: "int64" },
    lastTransitionTime: { type: "string", format: "date-time" },
  },
};

/** Its definition, with a status subresource and a CEL rule, as our own kinds have them. */
export const probeDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "probes.bench.postern.io" },
  spec: {
    group: probeKind.group,
    scope: "Namespaced",
    names: { kind: "Probe", listKind: "ProbeList", plural: "probes", singular: "probe" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                "x-kubernetes-validations": [
                  { rule: "self.location == oldSelf.location", message: "location is immutable" },
                ],
                properties: {
                  address: { type: "string" },
                  loadBalancerID: { type: "string" },
                  location: { type: "string" },
                  allowedSubscriptions: texts,
                  subnetIDs: texts,
                  tags: { type: "object", additionalProperties: { type: "string" } },
                },
              },
              status: {
                type: "object",
                properties: {
                  address: { type: "string" },
                  conditions: {
                    type: "array",
                    items: conditionSchema,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
