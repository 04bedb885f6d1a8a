import type { Feature } from "../../kube/feature.ts";
import type { Also, MakeFeature } from "../../kube/runtime.ts";
import { ownServiceAccount } from "../../kube/service-account-token.ts";
import { whenItMatters } from "../../kube/when-it-matters.ts";
import { keyOf } from "../../model/kind.ts";
import {
  type HostedControlPlane,
  hostedControlPlane,
} from "../../model/kinds/hosted-control-plane.ts";
import { clusterAnnotation } from "../names.ts";
import { apply } from "./apply.ts";
import { type Account, type GrantStep, plan, type Seen } from "./plan.ts";
import { see } from "./see.ts";

/** The permissions of this process in the namespace of each control plane, as a RoleBinding to its own service account. */
export function grantFeature(): MakeFeature {
  return ({ caches, kube }) => {
    const controlPlanes = caches.of(hostedControlPlane);
    controlPlanes.index("namespace", ({ metadata }) => [metadata.namespace ?? ""]);
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
      see: (controlPlane, pass) => see(controlPlane, { kube, account, controlPlanes }, pass),
      plan,
      apply: (step, pass) => apply(step, kube, pass),
    };
    // Only the first control plane of a namespace is verified.
    const also: Also[] = [
      {
        kind: hostedControlPlane,
        keys: whenItMatters(
          ({ metadata }) => controlPlanes.byIndex("namespace", metadata.namespace ?? "").map(keyOf),
          ({ metadata: { annotations, uid } }) => [annotations?.[clusterAnnotation], uid],
        ),
      },
    ];
    return { feature: feature as Feature, also };
  };
}
