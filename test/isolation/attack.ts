import { evilDomain, groups } from "./azure.ts";
import { clusterID, hosted } from "./victim.ts";
import { pathOf, type Thing, type World } from "./world.ts";

/** One request of the attacker to the API server, in one of its own namespaces. */
export interface Action {
  /** During which stage of the victim's life, and how many seconds into it. */
  stage: number;
  seconds: number;
  verb: "create" | "change" | "change status" | "delete";
  /** The object; of a deletion only its kind, namespace and name. A text that begins with `$` is looked up then. */
  object: Thing;
}

/** The link service of the victim's hosted cluster. */
export const victimLinkId = `${groups.management}/providers/Microsoft.Network/privateLinkServices/pls-${clusterID}`;

/** What the attacker reads in the world when it acts: everything that the victim has may be known to it. */
export const lookups: Record<string, (world: World) => string | undefined> = {
  $victimAddress: (world) => addressOf(world, `${hosted.controlPlane}/private-router`),
  $databaseAddress: (world) => addressOf(world, `${hosted.namespace}/database`),
  $victimControlPlaneUid: ({ get }) =>
    get("hostedcontrolplanes.hypershift.openshift.io", `${hosted.controlPlane}/${hosted.name}`)
      ?.metadata.uid,
  $victimClusterUid: ({ get }) =>
    get("hostedclusters.hypershift.openshift.io", `${hosted.namespace}/${hosted.name}`)?.metadata
      .uid,
  $victimLinkUid: ({ get }) =>
    get("azureprivatelinkservices.hypershift.openshift.io", `${hosted.controlPlane}/private-router`)
      ?.metadata.uid,
  $ownControlPlaneUid: ({ get }) =>
    get("hostedcontrolplanes.hypershift.openshift.io", "evil-x/x")?.metadata.uid,
  $fakeControlPlaneUid: ({ get }) =>
    get("hostedcontrolplanes.hypershift.openshift.io", "evil/fake")?.metadata.uid,
  $fakeOwnControlPlaneUid: ({ get }) =>
    get("hostedcontrolplanes.hypershift.openshift.io", "evil-x/on-e")?.metadata.uid,
  $natSubnet: ({ azure }) =>
    Object.keys(azure.simulator.snapshot().resources).find((id) =>
      /\/subnets\/(postern-|on-e-infra)/.test(id),
    ),
};

/** The address of a Service; before it has one, the first that Azure will give. */
function addressOf({ get }: World, service: string): string {
  const { loadBalancer } = (get("services", service)?.status ?? {}) as {
    loadBalancer?: { ingress?: { ip?: string }[] };
  };
  return loadBalancer?.ingress?.[0]?.ip ?? "10.7.0.4";
}

const unknownUid = "00000000-0000-4000-8000-000000000000";
lookups.$unknownUid = () => unknownUid;

/** Do what the attacker does. What the API server refuses is no attack. */
export async function attack(world: World, { verb, object }: Action): Promise<number> {
  const { kind, metadata } = object;
  const known = JSON.parse(
    JSON.stringify(object, (_key, value: unknown) => {
      const find = typeof value === "string" ? lookups[value] : undefined;
      if (find === undefined) return value;
      return find(world) ?? (String(value).endsWith("Uid") ? unknownUid : undefined);
    }),
  ) as Thing;
  if (!world.variant.hostnames) dropOwnHostnames(known);
  const path = pathOf(kind, metadata.namespace, metadata.name);
  switch (verb) {
    case "create":
      return world.create(known);
    case "change":
      return world.send("PATCH", path, { metadata: known.metadata, spec: known.spec });
    case "change status":
      return world.send("PATCH", `${path}/status`, { status: known.status });
    case "delete":
      return world.send("DELETE", path);
  }
}

/** Where nobody may have hostnames, those of the attacker's own domain would only keep its clusters from working. */
function dropOwnHostnames({ spec }: Thing): void {
  const { services } = (spec ?? {}) as { services?: { servicePublishingStrategy?: Thing }[] };
  if (!Array.isArray(services)) return;
  for (const { servicePublishingStrategy: by } of services) {
    const { hostname = "" } = (by?.route ?? {}) as { hostname?: string };
    if (by && hostname.endsWith(`.${evilDomain}`)) delete by.route;
  }
}

/** The actions of an attack, one after another, in a form like YAML. */
export function formatActions(actions: readonly Action[], stageNames: readonly string[]): string {
  return actions
    .map(({ stage, seconds, verb, object }) => {
      const { kind, metadata, apiVersion: _, ...rest } = object;
      const { namespace, name, ...more } = metadata;
      const lines = [
        `- ${verb} ${kind} ${namespace}/${name}, ${seconds} s into "${stageNames[stage]}"`,
        ...yaml({ ...(Object.keys(more).length > 0 && { metadata: more }), ...rest }, "    "),
      ];
      return (verb === "delete" ? lines.slice(0, 1) : lines).join("\n");
    })
    .join("\n");
}

function yaml(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) return value.map((each) => `${indent}- ${JSON.stringify(each)}`);
  return Object.entries(value as object).flatMap(([key, each]: [string, unknown]) => {
    if (each === undefined) return [];
    const nested = typeof each === "object" && each !== null;
    return nested
      ? [`${indent}${key}:`, ...yaml(each, `${indent}  `)]
      : [`${indent}${key}: ${String(each)}`];
  });
}
