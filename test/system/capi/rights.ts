import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { isEmbedded } from "../../setup/differences.ts";
import type { HostedWorld } from "../hosted/world.ts";

const role = new URL("../../../manifests/rbac/cluster-api.yaml", import.meta.url);

/** Give alice the role of `manifests/rbac` and nothing else. */
export async function grantRole({ cluster }: HostedWorld): Promise<void> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const made = parse(await readFile(role, "utf8")) as { metadata: { name: string } };
  await cluster.request("POST", `${rbac}/clusterroles`, made);
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
