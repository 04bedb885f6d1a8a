import { realClock } from "@postern/core/clock.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import { Registry } from "@prometheus-io/client";
import type { Arm } from "../azure/arm.ts";
import type { TokenSource } from "../azure/tokens.ts";
import { clusterArmClients } from "../cluster-api/identities.ts";
import type { KubeClient } from "../kube/client.ts";
import { silentLog } from "../kube/log.ts";
import { type MakeFeature, whereServed } from "../kube/runtime.ts";
import { clusterApiSettings } from "./cluster-api.ts";
import {
  clusterApiControllers,
  controlPlaneControllers,
  managementControllers,
} from "./controllers.ts";
import { installationOf } from "./installation.ts";
import { managementGroupIn, otherLoadBalancerGroupsIn } from "./management-group.ts";
import type { PlanFlags } from "./plan-options.ts";

/** What the controllers of one side look after. */
export type Side = "hosted clusters" | "Cluster API";

/** Controllers that could not be made, because it is not known what they would go by. */
export interface NotPlanned {
  /** Whose objects they look after, or the kind that is not served. */
  of: string;
  why: string;
}

/**
 * The controllers of the operator, for looking only: every part of Azure is read by the credential of whoever asks, because a
 * person has none of the identities that the clusters bring. What the operator is refused is refused here too.
 */
export async function dryRunControllers(given: {
  arm: Arm;
  credential: TokenSource;
  kube: KubeClient;
  settings: PlanFlags;
  /** The policy that the operator has; undefined where it has none. */
  policy: TenantPolicy | undefined;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}): Promise<{ features: readonly MakeFeature[]; without: readonly (NotPlanned & { of: Side })[] }> {
  const { arm, credential, kube, settings, policy, env, signal } = given;
  const everyone = { credentialOf: () => credential, follow: () => undefined };
  const features: MakeFeature[] = [];
  const without: (NotPlanned & { of: Side })[] = [];
  if (env.AZURE_RESOURCE_GROUP) {
    const managementGroup = await managementGroupIn(env);
    const installation =
      (await installationOf(kube, { log: silentLog, clock: realClock }).read(signal)) ?? "";
    const { natSubnets, natPrefixLength, azureTags } = settings;
    features.push(
      ...managementControllers(arm, everyone, {
        managementGroup,
        otherLoadBalancerGroups: otherLoadBalancerGroupsIn(env, managementGroup),
        installation,
        natSubnets,
        natPrefixLength,
        azureTags,
        policy,
      }),
    );
  } else
    without.push({
      of: "hosted clusters",
      why: "the group of the management cluster's load balancers is unknown: set AZURE_RESOURCE_GROUP",
    });
  const controlPlanes = controlPlaneControllers(arm, everyone, policy);
  // Where no hosted cluster is managed, nobody misses their kinds.
  features.push(
    ...(env.AZURE_RESOURCE_GROUP ? controlPlanes : controlPlanes.map((make) => whereServed(make))),
  );
  const clusterApi = await clusterApiSettings(settings, { role: "all" }, env);
  if (clusterApi)
    features.push(
      ...clusterApiControllers(
        clusterArmClients({
          arm,
          armClientFor: () => arm,
          observeAs: credential,
          managementCluster: clusterApi.managementCluster,
          baseDomain: clusterApi.dns?.baseDomain,
          ...(policy && { policy }),
        }),
        clusterApi,
        new Registry(),
      ),
    );
  else
    without.push({
      of: "Cluster API",
      why: "the management cluster is unknown: set --management-cluster-name and --management-cluster-namespace",
    });
  return { features, without };
}
