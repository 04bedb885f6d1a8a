import type { ClusterApiFlags } from "./cluster-api.ts";

/**
 * What `postern local` puts beside the cluster in its kubeconfig, so that one variable, KUBECONFIG, is enough for kubectl and
 * for Postern.
 */
export const localExtension = "postern.io/local";

/** The environment that stands for Azure, and how the operator there was started. */
export interface LocalExtension {
  environment?: Record<string, string>;
  operator?: ClusterApiFlags;
  /** The object id by which the operator acts in Azure. */
  operatorPrincipal?: string;
  /** Where the dashboard and the simulator are. */
  urls?: Record<string, string>;
}
