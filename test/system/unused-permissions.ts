import { onTestFinished } from "vitest";
import type { AuditEntry, Cluster } from "../setup/cluster.ts";
import { parseManifests, readManifest } from "./manifests.ts";

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

/** Which requests are made with which role of `manifests/rbac`. */
export type RequestsByRole = Record<string, (entry: AuditEntry) => boolean>;

/** The permissions that the tests of a suite use, by role, from the API server's audit log. */
export class UsedPermissions {
  readonly #used = new Map<string, Set<string>>();

  /** Count what is requested from now until the test is over, and whatever started before this call has ended. */
  record(cluster: () => Cluster | undefined, byRole: RequestsByRole): void {
    const begin = new Date().toISOString();
    // What was registered later ends earlier: the audit log has a watch only once it has ended.
    onTestFinished(async () => {
      const entries = await cluster()?.audit(
        ({ requestReceivedTimestamp, annotations }) =>
          requestReceivedTimestamp > begin &&
          annotations?.["authorization.k8s.io/decision"] === "allow",
      );
      for (const [role, isOfRole] of Object.entries(byRole)) {
        const used = this.#used.get(role) ?? new Set();
        for (const entry of entries?.filter(isOfRole) ?? [])
          for (const one of of(entry)) used.add(one);
        this.#used.set(role, used);
      }
    });
  }

  /** What a role of `manifests/rbac` grants and nobody used. */
  unused(role: string): string[] {
    return permissionsOf(role).filter((each) => !this.#used.get(role)?.has(each));
  }
}

/** Every permission of a role on a line of its own: `get secrets`, `get leases.coordination.k8s.io NAME`. */
function permissionsOf(role: string): string[] {
  const [manifest] = parseManifests(readManifest(`rbac/${role}.yaml`));
  const { rules } = manifest as unknown as { rules: Rule[] };
  return rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [""] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) => resourceNames.map((name) => line(verb, resource, group, name))),
      ),
    ),
  );
}

/** The permissions by which a request may have been allowed: for its object alone, or for all of its kind. */
function of({ verb, objectRef }: AuditEntry): string[] {
  const { resource, subresource, apiGroup = "", name = "" } = objectRef ?? {};
  if (resource === undefined) return [];
  const full = subresource ? `${resource}/${subresource}` : resource;
  return [line(verb, full, apiGroup, ""), line(verb, full, apiGroup, name)];
}

function line(verb: string, resource: string, group: string, name: string): string {
  return [verb, group ? `${resource}.${group}` : resource, name].filter(Boolean).join(" ");
}
