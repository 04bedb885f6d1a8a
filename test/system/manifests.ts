import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import type { AuditEntry, Cluster } from "../setup/cluster.ts";

const manifests = join(import.meta.dirname, "../../manifests");
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const rbacGroup = "rbac.authorization.k8s.io";

/** An object of `manifests`. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}

/** The objects of a text in YAML. */
export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** The text of a file under `manifests`. */
export function readManifest(path: string): string {
  return readFileSync(join(manifests, path), "utf8");
}

/** All policies of `manifests/admission` and their bindings. */
export function admissionPolicies(): Manifest[] {
  return readdirSync(join(manifests, "admission")).flatMap((file) =>
    parseManifests(readManifest(`admission/${file}`)),
  );
}

/** Create policies and their bindings; the API server begins to enforce them a moment later. */
export async function installPolicies(cluster: Cluster, policies: Manifest[]): Promise<void> {
  for (const policy of policies) {
    const plural = policy.kind.replace(/y$/, "ie").toLowerCase();
    const path = `/apis/admissionregistration.k8s.io/v1/${plural}s`;
    const { status, body } = await cluster.request("POST", path, policy);
    expect([201, 409], JSON.stringify(body)).toContain(status);
  }
}

/** Create a role of `manifests/rbac`: a Role in the namespace that is given, whatever the manifest proposes. */
export async function createRole(
  cluster: Cluster,
  file: string,
  namespace?: string,
): Promise<{ kind: string; name: string }> {
  const [role] = parseManifests(readManifest(`rbac/${file}.yaml`));
  if (role === undefined) throw new Error(`manifests/rbac/${file}.yaml is empty`);
  const { name } = role.metadata;
  const path =
    role.kind === "Role" ? `${rbac}/namespaces/${namespace}/roles` : `${rbac}/clusterroles`;
  const { status } = await cluster.request("POST", path, { ...role, metadata: { name } });
  expect([201, 409], file).toContain(status);
  return { kind: role.kind, name };
}

/** Bind a role of `manifests/rbac` until the test ends: in the namespace that is given, or in the whole cluster. */
export async function bindRole(
  cluster: Cluster,
  file: string,
  subject: { kind: string; name: string; namespace?: string },
  namespace?: string,
): Promise<void> {
  const role = await createRole(cluster, file, namespace);
  const bindings =
    namespace === undefined
      ? `${rbac}/clusterrolebindings`
      : `${rbac}/namespaces/${namespace}/rolebindings`;
  const metadata = { name: `${role.name}-test` };
  const subjects = [subject.kind === "User" ? { ...subject, apiGroup: rbacGroup } : subject];
  const roleRef = { apiGroup: rbacGroup, ...role };
  const made = await cluster.request("POST", bindings, { metadata, roleRef, subjects });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  onTestFinished(async () => {
    await cluster.request("DELETE", `${bindings}/${metadata.name}`);
  });
}

/** Create a service account, with its namespace, and get a token of it. */
export async function serviceAccount(
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<string> {
  await cluster.request("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await cluster.request("POST", accounts, { metadata: { name } });
  const { body } = await cluster.request<{ status: { token: string } }>(
    "POST",
    `${accounts}/${name}/token`,
    { spec: { expirationSeconds: 3600 } },
  );
  return body.status.token;
}

/**
 * What somebody was refused, could not do later, and may not do now. A permission that was just granted, in a namespace
 * that was just created, reaches the API server's authorizer a moment later.
 */
export async function refusedForGood(cluster: Cluster, username: string): Promise<string[]> {
  const all = await cluster.audit(({ user }) => user.username === username);
  const sort = ({ verb, objectRef }: AuditEntry) => {
    const { resource, subresource, namespace } = objectRef ?? {};
    return [verb, resource, subresource, namespace].join(" ");
  };
  const code = (entry: AuditEntry) => entry.responseStatus?.code ?? 0;
  const done = new Set(all.filter((entry) => code(entry) < 300).map(sort));
  const refused = new Set<string>();
  for (const entry of all.filter((each) => code(each) === 403 && !done.has(sort(each)))) {
    const { apiGroup: group, apiVersion: _, ...rest } = entry.objectRef ?? {};
    const asked = { verb: entry.verb, ...(group && { group }), ...rest };
    const byRbac = entry.annotations?.["authorization.k8s.io/decision"] === "forbid";
    if (!byRbac || !(await mayDo(cluster, username, asked)))
      refused.add(`${entry.verb} ${entry.requestURI}`);
  }
  return [...refused];
}

/** Whether somebody may do something, as the API server's authorizer says. */
export async function mayDo(
  cluster: Cluster,
  user: string,
  resourceAttributes: Record<string, string>,
): Promise<boolean> {
  const { body } = await cluster.request<{ status: { allowed: boolean } }>(
    "POST",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    {
      spec: {
        user,
        groups: ["system:serviceaccounts", "system:authenticated"],
        resourceAttributes,
      },
    },
  );
  return body.status.allowed;
}

/** Wait until the authorizer knows a role that was just bound. */
export async function untilMay(
  cluster: Cluster,
  user: string,
  resourceAttributes: Record<string, string>,
): Promise<void> {
  await vi.waitFor(async () => expect(await mayDo(cluster, user, resourceAttributes)).toBe(true), {
    timeout: 10_000,
    interval: 20,
  });
}
