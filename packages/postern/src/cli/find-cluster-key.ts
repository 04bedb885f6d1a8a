import type { Unread } from "@postern/core/dashboard/picture.ts";
import { keyOf } from "@postern/core/kind.ts";
import { nearest } from "@postern/core/process/nearest.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import type { KubeWorld } from "../view/world.ts";
import { CommandFailure } from "./command-failure.ts";

/**
 * The cluster that a person means by NAME or NAMESPACE/NAME, as namespace/name. Before something is destroyed no other name is
 * suggested: one that is similar is another cluster.
 */
export function findClusterKey(
  name: string,
  { hostedClusters, azureClusters }: KubeWorld,
  unread: readonly Unread[],
  { suggests = true }: { suggests?: boolean } = {},
): string {
  const keys = [...new Set([...hostedClusters, ...azureClusters].map(keyOf))];
  const found = keys.filter((key) => key === name || key.split("/")[1] === name);
  if (found.length === 1 && found[0] !== undefined) return found[0];
  if (found.length > 1)
    throw new UsageError(`several clusters are called '${name}': use one of ${found.join(", ")}`);
  const [hidden] = unread;
  if (keys.length === 0 && hidden)
    throw new CommandFailure(
      [`no clusters were found`, `${hidden.what} could not be read: ${hidden.why}`, hidden.remedy]
        .filter(Boolean)
        .join(" · "),
    );
  if (!suggests)
    throw new UsageError(`cluster '${name}' does not exist: list the clusters with postern tree`);
  if (keys.length === 0)
    throw new UsageError(`cluster '${name}' does not exist, and there are no other clusters`);
  const meant = nearest(name, [...keys, ...keys.map((key) => key.split("/")[1] ?? key)]);
  const some =
    keys.slice(0, 5).join(", ") + (keys.length > 5 ? `, and ${keys.length - 5} more` : "");
  throw new UsageError(
    `cluster '${name}' does not exist: ${meant ? `did you mean '${meant}'?` : `the clusters are ${some}`}`,
  );
}
