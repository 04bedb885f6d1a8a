import {
  isEmptySelector,
  type LabelSelector,
  matchesLabels,
} from "@postern/core/label-selector.ts";

/** From which namespaces clusters may act by an AzureClusterIdentity. */
export interface AllowedNamespaces {
  list?: readonly string[] | null;
  selector?: LabelSelector | null;
}

/**
 * Whether a cluster of this namespace may, as Cluster API Provider Azure has it:
 *
 *   allowedNamespaces     who may
 *   -------------------   ----------------------------------------------------------------
 *   absent                nobody, not even the namespace of the identity
 *   {}                    everybody
 *   list                  those in it
 *   selector              those whose labels meet it; an empty one beside a list is nobody
 *   list and selector     those in either
 */
export function allows(
  allowed: AllowedNamespaces | null | undefined,
  namespace: { name: string; labels: Readonly<Record<string, string>> | undefined },
): boolean {
  if (allowed === null || allowed === undefined) return false;
  const { list, selector } = allowed;
  const isRestricted =
    (list !== null && list !== undefined) || (selector !== null && selector !== undefined);
  if (!isRestricted) return true;
  if (list?.includes(namespace.name)) return true;
  return isEmptySelector(selector) ? false : matchesLabels(selector ?? {}, namespace.labels);
}
