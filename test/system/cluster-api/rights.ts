import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isEmbedded } from "../../setup/differences.ts";
import type { HostedWorld } from "../hosted/world.ts";
import { bindRole, refusedForGood, untilMay } from "../manifests.ts";

const alice = { kind: "User", name: "alice" };

/** Give alice the roles of `manifests/rbac` and nothing else: Secrets only in the namespaces that are named. */
export async function grantRole(
  { cluster }: HostedWorld,
  secretsIn: readonly string[],
): Promise<void> {
  await bindRole(cluster, "cluster-api", alice);
  await bindRole(cluster, "lease", alice, "default");
  for (const namespace of secretsIn)
    await bindRole(cluster, "cluster-api-secrets", alice, namespace);
  const last = secretsIn.at(-1);
  if (last) await untilMay(cluster, "alice", { namespace: last, verb: "get", resource: "secrets" });
}

/** A kubeconfig of alice, who has just those roles. The embedded API knows no rights: there it is everybody's. */
export async function asAlice(
  world: HostedWorld,
  folder: string,
  secretsIn: readonly string[],
): Promise<string> {
  const { kubeconfig, tokens } = world.cluster;
  if (isEmbedded()) return kubeconfig;
  await grantRole(world, secretsIn);
  const file = join(folder, "kubeconfig");
  const text = await readFile(kubeconfig, "utf8");
  await writeFile(file, text.replaceAll(tokens.admin, tokens.alice));
  return file;
}

/** What alice was refused for want of a permission. */
export async function refusals({ cluster }: HostedWorld): Promise<string[]> {
  return isEmbedded() ? [] : refusedForGood(cluster, "alice");
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
    const current = asked.get(asker.objectId) ?? new Set();
    asked.set(asker.objectId, current.add(action));
    return allow(asker, action, scope);
  };
  return ({ objectId }) => [...(asked.get(objectId) ?? [])];
}
