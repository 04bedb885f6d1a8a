import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { isEmbedded } from "../../setup/differences.ts";
import type { HostedWorld } from "../hosted/world.ts";

const role = new URL("../../../manifests/rbac/cluster-api.yaml", import.meta.url);

interface ClusterRole {
  metadata: { name: string };
  rules: { resources: string[] }[];
}

/** Give alice the role of `manifests/rbac` and nothing else; without rights on Secrets, where `secretsIn` names namespaces. */
export async function grantRole({ cluster }: HostedWorld, secretsIn?: string[]): Promise<void> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const whole = parse(await readFile(role, "utf8")) as ClusterRole;
  const others = whole.rules.filter(({ resources }) => !resources.includes("secrets"));
  const made = secretsIn === undefined ? whole : { ...whole, rules: others };
  await cluster.request("POST", `${rbac}/clusterroles`, made);
  for (const namespace of secretsIn ?? []) {
    const path = `${rbac}/namespaces/${namespace}`;
    const metadata = { name: "postern-secrets" };
    const rules = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];
    await cluster.request("POST", `${path}/roles`, { metadata, rules });
    await cluster.request("POST", `${path}/rolebindings`, {
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", ...metadata },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "alice" }],
    });
  }
  await cluster.request("POST", `${rbac}/clusterrolebindings`, {
    metadata: { name: "alice" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", ...made.metadata },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "alice" }],
  });
}

/** A kubeconfig of alice, who has just that role. The embedded API knows no rights: there it is everybody's. */
export async function asAlice(world: HostedWorld, folder: string): Promise<string> {
  const { kubeconfig, tokens } = world.cluster;
  if (isEmbedded()) return kubeconfig;
  await grantRole(world);
  const file = join(folder, "kubeconfig");
  const text = await readFile(kubeconfig, "utf8");
  await writeFile(file, text.replaceAll(tokens.admin, tokens.alice));
  return file;
}

/** What alice was refused for want of a right. */
export async function refusals({ cluster }: HostedWorld): Promise<string[]> {
  if (isEmbedded()) return [];
  const refused = await cluster.audit(
    ({ user, responseStatus }) => user.username === "alice" && responseStatus?.code === 403,
  );
  return refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`);
}

/** The actions of a role of `manifests/roles`. */
export function actionsOf(role: string): string[] {
  const file = new URL(`../../../manifests/roles/${role}.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { Actions: string[] }).Actions;
}

/** Every action that the simulator held against the rights of an identity. */
export function watchActions({ azure }: HostedWorld): (of: { objectId: string }) => string[] {
  const { roles } = azure.simulator;
  const asked = new Map<string, Set<string>>();
  const allow = roles.allow.bind(roles);
  roles.allow = (asker, action, scope) => {
    const held = asked.get(asker.objectId) ?? new Set();
    asked.set(asker.objectId, held.add(action));
    return allow(asker, action, scope);
  };
  return ({ objectId }) => [...(asked.get(objectId) ?? [])];
}
