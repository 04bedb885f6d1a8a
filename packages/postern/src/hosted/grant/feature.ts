import { keyOf } from "@postern/core/kind.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { byNamespace } from "../../kube/by-namespace.ts";
import { defineFeature } from "../../kube/feature.ts";
import type { MakeFeature, WatchedKind } from "../../kube/runtime.ts";
import { ownServiceAccount } from "../../kube/service-account-token.ts";
import { whenChanged } from "../../kube/when-changed.ts";
import { controlPlaneNamespace } from "../names.ts";
import { registeredIn, whenControlPlaneChanges } from "../tenancy.ts";
import { apply } from "./apply.ts";
import { observe } from "./observe.ts";
import type { Account } from "./observed.ts";
import { plan } from "./plan.ts";

/** The permissions of this process in the namespace of each control plane, as a RoleBinding to its own service account. */
export function grantFeature(): MakeFeature {
  return ({ caches, kube }) => {
    const registered = registeredIn(caches);
    const controlPlanes = caches.of(hostedControlPlane);
    let known: Promise<Account | undefined> | undefined;
    const account = (signal: AbortSignal) => {
      known ??= ownServiceAccount(kube, signal).catch((error: unknown) => {
        known = undefined;
        throw error;
      });
      return known;
    };
    const feature = defineFeature({
      name: "grant",
      kind: hostedControlPlane,
      conditions: [],
      ignoresPolicy: true,
      observe: async (controlPlane, reconcile) => ({
        observed: await observe(controlPlane, { kube, account, registered }, reconcile),
        context: kube,
      }),
      plan,
      apply,
    });
    const watches: WatchedKind[] = [
      whenControlPlaneChanges(byNamespace(controlPlanes)),
      {
        kind: hostedCluster,
        keys: whenChanged(
          ({ metadata: { namespace = "", name } }) =>
            controlPlanes.byIndex("namespace", controlPlaneNamespace(namespace, name)).map(keyOf),
          ({ metadata: { uid } }) => uid,
        ),
      },
    ];
    return { feature, watches };
  };
}
