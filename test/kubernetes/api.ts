import { vi } from "vitest";
import { type Cluster, describeOnCluster } from "../setup/cluster.ts";
import { describeWhere } from "../setup/needs.ts";
import type { RequestOptions } from "../setup/request.ts";
import { startWatch, type Watch } from "./watching.ts";

/** An object as the tests of this folder read it. */
export interface Thing {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  data?: Record<string, string>;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
  [field: string]: unknown;
}

export interface Metadata {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: Record<string, unknown>[];
  managedFields?: ManagedFields[];
}

export interface ManagedFields {
  manager: string;
  operation: string;
  apiVersion: string;
  time: string;
  fieldsType: string;
  fieldsV1: Record<string, unknown>;
  subresource?: string;
}

export interface List {
  apiVersion: string;
  kind: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: Thing[];
}

/** What the API answers to a request that it does not grant. */
export interface Status {
  apiVersion: "v1";
  kind: "Status";
  metadata: object;
  status: "Failure" | "Success";
  message: string;
  reason: string;
  details: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    retryAfterSeconds?: number;
    causes?: { reason: string; message: string; field: string }[];
  };
  code: number;
}

/** The API under test, whichever of the two it is. */
export interface Api extends Cluster {
  /** The body of an answer of success; any other answer is an error of the test. */
  ok<T = Thing>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  /** The Status of a refusal; success is an error of the test. */
  refused(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Status>;
  /** Opens a watch; it is closed when the test ends. */
  watch(path: string, options?: RequestOptions): Promise<Watch>;
}

/** Cases that hold on the real kube-apiserver and on the embedded API; skipped where something else is missing. */
export function describeApi(name: string, suite: (api: Api) => void, missing?: string): void {
  if (missing === undefined) describeOnCluster(name, (cluster) => suite(apiOf(cluster)));
  else describeWhere(missing, name, () => suite(apiOf({} as Cluster)));
}

/** The same for a cluster that a suite has for itself. */
export function apiOf(cluster: Cluster): Api {
  return {
    ...cluster,
    ok: async <T>(method: string, path: string, body?: unknown, options?: RequestOptions) => {
      const answer = await cluster.request<T>(method, path, body, options);
      if (answer.status < 300) return answer.body;
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    },
    refused: async (method, path, body, options) => {
      const answer = await cluster.request<Status>(method, path, body, options);
      if (answer.status >= 400) return answer.body;
      throw new Error(`${method} ${path} is granted: ${JSON.stringify(answer.body)}`);
    },
    watch: (path, options) => startWatch(cluster, path, options),
  };
}

/** Where ConfigMaps are: the plainest of the built-in kinds. */
export function configMaps(namespace: string, name?: string): string {
  return at(`/api/v1/namespaces/${namespace}/configmaps`, name);
}

/** A path, and one below it where there is one. */
export function at(path: string, ...below: (string | undefined)[]): string {
  return [path, ...below.filter((each) => each !== undefined)].join("/");
}

export const patches = {
  json: { contentType: "application/json-patch+json" },
  merge: { contentType: "application/merge-patch+json" },
  strategic: { contentType: "application/strategic-merge-patch+json" },
  apply: { contentType: "application/apply-patch+yaml" },
} as const;

/** Looks again until `look` does not throw: for what a server does in its own time. */
export function eventually<T>(look: () => Promise<T>): Promise<T> {
  return vi.waitFor(look, { timeout: 20_000, interval: 50 });
}
