import type { KubeObject } from "@postern/core/kind.ts";
import type { ProviderConfig } from "@postern/core/kinds/provider-config.ts";
import type { Desired } from "./desired/desired.ts";

/** What was observed of one Cluster. */
export interface Observed {
  cluster: KubeObject;
  deleting: boolean;
  paused: boolean;
  /** Whether the Cluster has our finalizer. */
  hasFinalizer: boolean;
  /** Whether the API server knows ProviderConfigs. */
  served: boolean;
  found: ProviderConfig | undefined;
  /** Whether nobody but us and the operator before us has written its spec. */
  isByUs: boolean;
  /** Whether the Cluster that the mark of it names is still there. */
  ownerIsThere: boolean;
  /** A Cluster of the same name with our finalizer, as namespace/name: the one that was there first. */
  rival: { key: string; isOlder: boolean } | undefined;
  desired: Desired;
}
