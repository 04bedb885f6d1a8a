import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, inject, test, vi } from "vitest";
import type { ControlPlaneAddress } from "./control-plane.ts";
import { describeWhere } from "./needs.ts";
import { type Answer, type RequestOptions, send } from "./request.ts";

/** The API server of this run; or that this machine cannot have one, or that it did not start. */
export type GivenCluster =
  | { address: ControlPlaneAddress }
  | { missing: string }
  | { broken: string };

declare module "vitest" {
  interface ProvidedContext {
    cluster: GivenCluster;
  }
}

/** One line of the audit log: a request that the API server has answered. */
export interface AuditEntry {
  verb: string;
  requestURI: string;
  user: { username: string };
  userAgent?: string;
  objectRef?: {
    apiGroup?: string;
    apiVersion?: string;
    resource?: string;
    subresource?: string;
    namespace?: string;
    name?: string;
  };
  responseStatus?: { code: number };
  /** What the API server adds, such as whether the authorizer or an admission policy refused it. */
  annotations?: Record<string, string>;
  requestReceivedTimestamp: string;
}

/** An API server, as a test sees it. It is shared by the whole run: keep to a namespace of your own. */
export interface Cluster extends ControlPlaneAddress {
  /** Makes a namespace with a new name. None is deleted: beside the real API server nobody would finish that. */
  namespace(): Promise<string>;
  /** Asks as `admin`, or as the one whose token is given. No status is an error. */
  request<T = unknown>(
    method: string,
    path: string,
    body?: unknown,
    options?: RequestOptions,
  ): Promise<Answer<T>>;
  /** Every request that was answered before this call and that `which` picks. */
  audit(which: (entry: AuditEntry) => boolean): Promise<AuditEntry[]>;
}

/** A suite on the API server of the run, real or embedded. Without Go to build one it is skipped, never in CI. */
export function describeOnCluster(name: string, suite: (cluster: Cluster) => void): void {
  const given = inject("cluster");
  if ("broken" in given) {
    describe(name, () => {
      test("has an API server", () => {
        throw new Error(given.broken);
      });
    });
    return;
  }
  const missing = "missing" in given ? given.missing : undefined;
  const address = "address" in given ? given.address : nowhere;
  describeWhere(missing, name, () => suite(clusterAt(address)));
}

/** What a skipped suite is given while its tests are collected. */
const nowhere: ControlPlaneAddress = {
  version: "none",
  embedded: false,
  url: "https://127.0.0.1:0",
  ca: "",
  tokens: { admin: "", alice: "", bob: "" },
  kubeconfig: "",
  auditLog: "",
};

/** The API server at an address, as a test sees it. */
export function clusterAt(address: ControlPlaneAddress): Cluster {
  const request: Cluster["request"] = (method, path, body, options) =>
    send(address, method, path, body, { token: address.tokens.admin, ...options });
  return {
    ...address,
    request,
    namespace: async () => {
      const name = `test-${randomBytes(5).toString("hex")}`;
      const { status, body } = await request("POST", "/api/v1/namespaces", { metadata: { name } });
      if (status !== 201) throw new Error(`namespace ${name}: ${status} ${JSON.stringify(body)}`);
      return name;
    },
    audit: async (which) => {
      // A line is written just after its answer is sent: when this last one is there, the earlier ones are.
      const last = `/version?audit=${randomBytes(8).toString("hex")}`;
      await request("GET", last);
      const lines = await vi.waitFor(async () => {
        const text = await readFile(address.auditLog, "utf8");
        const end = text.indexOf(last);
        if (end < 0) throw new Error("the audit log is behind");
        return text.slice(0, text.lastIndexOf("\n", end)).split("\n");
      });
      return lines
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line))
        .filter(which);
    },
  };
}
