import type { Schema } from "@postern/kubernetes-embedded/resource.ts";

const text: Schema = { type: "string" };
const number: Schema = { type: "integer" };
const texts: Schema = { type: "array", items: text };
const textMap: Schema = { type: "object", additionalProperties: text };
const pair: Schema = { type: "object", properties: { a: text, b: number } };

/** A kind in which every way is found to merge and to own a field. */
export const ownedSchema: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        text,
        number,
        flag: { type: "boolean" },
        filled: { type: "string", default: "filled" },
        either: { "x-kubernetes-int-or-string": true },
        maybe: { type: "string", nullable: true },
        pair,
        deep: {
          type: "object",
          properties: {
            pair,
            filled: { type: "integer", default: 5 },
            texts: { ...texts, "x-kubernetes-list-type": "set" },
          },
        },
        wholePair: { ...pair, "x-kubernetes-map-type": "atomic" },
        map: textMap,
        wholeMap: { ...textMap, "x-kubernetes-map-type": "atomic" },
        pairs: { type: "object", additionalProperties: pair },
        list: texts,
        wholeList: { ...texts, "x-kubernetes-list-type": "atomic" },
        pairList: { type: "array", items: pair },
        set: { ...texts, "x-kubernetes-list-type": "set" },
        numbers: { type: "array", items: number, "x-kubernetes-list-type": "set" },
        named: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: {
              name: text,
              value: text,
              filled: { type: "string", default: "in a list" },
              map: textMap,
              set: { ...texts, "x-kubernetes-list-type": "set" },
            },
          },
        },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            required: ["port"],
            properties: {
              port: number,
              protocol: { type: "string", enum: ["TCP", "UDP"], default: "TCP" },
              name: text,
            },
          },
        },
        wholeItems: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["a"],
          items: { ...pair, required: ["a"], "x-kubernetes-map-type": "atomic" },
        },
        open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        halfOpen: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { known: text, set: { ...texts, "x-kubernetes-list-type": "set" } },
        },
        anything: { "x-kubernetes-preserve-unknown-fields": true },
        object: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
    },
    status: {
      type: "object",
      properties: {
        phase: text,
        conditions: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["type"],
          items: {
            type: "object",
            required: ["type"],
            properties: { type: text, status: text },
          },
        },
      },
    },
  },
};

const oneOf = (...words: string[]): Schema => ({ type: "string", enum: words });

/** Fields of a Service, with values that mostly fit each other. */
export const serviceFields: Record<string, Schema> = {
  spec: {
    type: "object",
    properties: {
      type: oneOf("ClusterIP", "LoadBalancer", "NodePort"),
      sessionAffinity: oneOf("ClientIP", "None"),
      internalTrafficPolicy: oneOf("Cluster", "Local"),
      publishNotReadyAddresses: { type: "boolean" },
      selector: { type: "object", additionalProperties: oneOf("x", "y") },
      externalIPs: { type: "array", items: oneOf("192.0.2.1", "192.0.2.2") },
      ports: {
        type: "array",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        items: {
          type: "object",
          required: ["port"],
          properties: {
            port: number,
            protocol: { ...oneOf("TCP", "UDP"), default: "TCP" },
            name: oneOf("web", "api", "dns"),
            targetPort: { type: "integer" },
          },
        },
      },
    },
  },
  status: {
    type: "object",
    properties: {
      loadBalancer: {
        type: "object",
        properties: {
          ingress: {
            type: "array",
            items: { type: "object", properties: { ip: oneOf("192.0.2.3", "192.0.2.4") } },
          },
        },
      },
    },
  },
};
