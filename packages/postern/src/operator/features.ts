import type { Clock } from "@postern/core/clock.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import type { Registry } from "@prometheus-io/client";
import type { TokenSource } from "../azure/tokens.ts";
import { clusterArmClients } from "../cluster-api/identities.ts";
import { grantFeature } from "../hosted/grant/feature.ts";
import { type Identities, identities, onlyIn } from "../hosted/identities.ts";
import type { KubeClient } from "../kube/client.ts";
import type { MakeFeature } from "../kube/runtime.ts";
import type { OperatorAzure } from "./azure.ts";
import type { ClusterApiSettings } from "./cluster-api.ts";
import {
  clusterApiControllers,
  controlPlaneControllers,
  type ManagementSettings,
  managementControllers,
} from "./controllers.ts";

/** What the controllers work with. */
export interface FeatureParts {
  azure: Omit<OperatorAzure, "drift">;
  client: KubeClient;
  registry: Registry;
  clock: Clock;
  env: NodeJS.ProcessEnv;
  /** Which namespace may use what; undefined where nobody has said. */
  policy?: TenantPolicy | undefined;
}

/** What the controllers of hosted control planes go by. */
export interface HostedSettings {
  role: "all" | "management" | "control-plane";
  /** Only this namespace; all of them when absent. */
  namespace?: string | undefined;
  natSubnets: "shared" | "per-cluster";
  natPrefixLength: number;
  azureTags?: Tags | undefined;
  /** Where the load balancers of the management cluster are, and the number of the installation; absent for control planes alone. */
  management?:
    | Pick<ManagementSettings, "managementGroup" | "otherLoadBalancerGroups" | "installation">
    | undefined;
}

/** The controllers of hosted control planes, by role. */
export function hostedFeatures(
  settings: HostedSettings,
  parts: FeatureParts,
): readonly MakeFeature[] {
  const { role, natSubnets, natPrefixLength, azureTags, management } = settings;
  const credentials = credentialsOf(settings, parts);
  const { arm } = parts.azure;
  const features: MakeFeature[] = [];
  if (management !== undefined)
    features.push(
      ...managementControllers(arm, credentials, {
        ...management,
        natSubnets,
        natPrefixLength,
        azureTags,
        policy: parts.policy,
      }),
    );
  if (role === "all") features.push(grantFeature());
  if (role !== "management")
    features.push(...controlPlaneControllers(arm, credentials, parts.policy));
  return features;
}

/** The controllers of Cluster API. */
export function clusterApiFeatures(
  settings: ClusterApiSettings,
  { azure, registry, clock, env, policy }: FeatureParts,
): readonly MakeFeature[] {
  const { managementCluster, identityRef, acrossNamespaces, certificateDirectory } = settings;
  const { arm, armClientFor, ca, onCertificate } = azure;
  const clients = clusterArmClients({
    arm,
    armClientFor,
    managementCluster,
    identityRef,
    entra: {
      clock,
      ...(ca !== undefined && { ca }),
      onCertificate,
    },
    tokenFile: env.AZURE_FEDERATED_TOKEN_FILE,
    imdsHost: env.AZURE_POD_IDENTITY_AUTHORITY_HOST,
    acrossNamespaces,
    certificateDirectory,
    ...(policy && { policy }),
    baseDomain: settings.dns?.baseDomain,
  });
  return clusterApiControllers(clients, settings, registry);
}

function credentialsOf(
  { role, namespace = "" }: HostedSettings,
  { azure, client, clock }: FeatureParts,
): Identities {
  const { arm, cloud, credential, ca } = azure;
  if (role === "control-plane") return onlyIn(namespace, credential);
  const dropped = (tokens: TokenSource) => arm.forget(tokens);
  const entra = { cloud, clock, ...(ca !== undefined && { ca }) };
  return identities({ kube: client, entra, dropped });
}
