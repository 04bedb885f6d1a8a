import type { Action } from "./attack.ts";
import { groups } from "./azure.ts";
import type { Variant } from "./variant.ts";
import { hosted, workload } from "./victim.ts";

/** Names that belong to whoever comes first, because nothing else decides it. */
interface Claim {
  name: string;
  appliesTo(variant: Variant): boolean;
  isMadeBy(action: Action): boolean;
}

const mentions = ({ object }: Action, text: string) =>
  JSON.stringify(object).toLowerCase().includes(text.toLowerCase());

const is = (...kinds: string[]) => {
  const known = new Set(kinds);
  return ({ object }: Action) => known.has(object.kind);
};
const isHosted = is("HostedCluster", "HostedControlPlane", "Service", "Route");
const isClusterApi = is("AzureCluster", "Cluster", "KubeadmControlPlane");

/** The exceptions of the law: docs/security.md lists each of them as a known limit. */
const claims: readonly Claim[] = [
  {
    name: "a hostname that two tenants may both have",
    appliesTo: ({ name }) => name === "overlapping domains",
    isMadeBy: (action) =>
      isHosted(action) && ["api", "oauth"].some((each) => mentions(action, `${each}-on-e.blue`)),
  },
  {
    name: "the name of a cluster of Cluster API that two tenants may both have",
    appliesTo: ({ name, policy }) => policy === undefined || name === "overlapping domains",
    isMadeBy: (action) => isClusterApi(action) && action.object.metadata.name === workload.name,
  },
  {
    name: "a resource group that no policy lists",
    appliesTo: ({ policy }) => policy === undefined,
    isMadeBy: (action) =>
      isClusterApi(action) &&
      (mentions(action, groups.two) || mentions(action, '"resourceGroup":"two"')),
  },
  {
    name: "the namespace of a control plane that no policy reserves, or that HyperShift creates",
    appliesTo: ({ policy, hyperShift }) => policy === undefined || hyperShift,
    isMadeBy: ({ object: { kind, metadata } }) =>
      kind === "HostedCluster" && `${metadata.namespace}-${metadata.name}` === hosted.controlPlane,
  },
];

/** The stage in which the victim has everything. */
const available = 2;

/** The stage in which the victim gives its names up: then they are the attacker's. */
export const givenUp = 4;

/** The names of the claims that an attack makes. */
export function claimsOf(actions: readonly Action[], variant: Variant): string[] {
  return claims
    .filter((claim) => claim.appliesTo(variant) && actions.some(claim.isMadeBy))
    .map(({ name }) => name);
}

/** The same attack; one that makes such a claim begins only when the victim has what it claims. */
export function afterVictim(actions: readonly Action[], variant: Variant): readonly Action[] {
  if (claimsOf(actions, variant).length === 0) return actions;
  return actions.map((action) => {
    if (action.stage >= available) return action;
    const seconds = 40 + action.stage * 10 + Math.min(action.seconds, 9);
    return { ...action, stage: available, seconds };
  });
}
