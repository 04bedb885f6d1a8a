import type { Feature } from "../../kube/feature.ts";
import type { Also, MakeFeature } from "../../kube/runtime.ts";
import { ownServiceAccount } from "../../kube/service-account-token.ts";
import { whenItMatters } from "../../kube/when-it-matters.ts";
import { type KubeObject, keyOf } from "../../model/kind.ts";
import { namespace } from "../../model/kinds/core.ts";
import { hostedCluster } from "../../model/kinds/hosted-cluster.ts";
import {
  type HostedControlPlane,
  hostedControlPlane,
} from "../../model/kinds/hosted-control-plane.ts";
import { clusterAnnotation } from "../names.ts";
import { apply } from "./apply.ts";
import { type Account, type GrantStep, plan, type Seen } from "./plan.ts";
import { see } from "./see.ts";

/** What the feature is told. */
export interface GrantOptions {
  /** Whether a control plane belongs to a HostedCluster that agrees. Nothing is granted in the namespace of another. */
  isVerified(controlPlane: HostedControlPlane): boolean;
}

/** The permissions of this process in the namespace of each control plane, as a RoleBinding to its own service account. */
export function grantFeature({ isVerified }: GrantOptions): MakeFeature {
  return ({ caches, kube }) => {
    const controlPlanes = caches.of(hostedControlPlane);
    controlPlanes.index("namespace", ({ metadata }) => [metadata.namespace ?? ""]);
    controlPlanes.index("cluster", ({ metadata }) =>
      [metadata.annotations?.[clusterAnnotation]].filter((key) => key !== undefined),
    );
    let known: Promise<Account | undefined> | undefined;
    const account = (signal: AbortSignal) => {
      known ??= ownServiceAccount(kube, signal).catch((error: unknown) => {
        known = undefined;
        throw error;
      });
      return known;
    };
    const feature: Feature<HostedControlPlane, Seen, GrantStep> = {
      name: "grant",
      kind: hostedControlPlane,
      conditions: [],
      see: (controlPlane, pass) => see(controlPlane, { kube, account, isVerified }, pass),
      plan,
      apply: (step, pass) => apply(step, kube, pass),
    };
    // Whether a control plane is verified depends on them.
    const also: Also[] = [
      {
        kind: hostedCluster,
        keys: whenItMatters(
          (cluster) => controlPlanes.byIndex("cluster", keyOf(cluster)).map(keyOf),
          metadataAndSpec,
        ),
      },
      {
        kind: namespace,
        metadataOnly: true,
        keys: ({ metadata }) => controlPlanes.byIndex("namespace", metadata.name).map(keyOf),
      },
    ];
    return { feature: feature as Feature, also };
  };
}

/** What of a HostedCluster a control plane is verified by; its status changes all the time. */
function metadataAndSpec(object: KubeObject): unknown {
  const { annotations, labels, uid } = object.metadata;
  return [annotations, labels, uid, (object as { spec?: unknown }).spec];
}
