import { actionPattern } from "@postern/core/action-pattern.ts";
import { isExplained } from "@postern/core/failure.ts";
import { type ResourceId, resourceGroupId } from "@postern/core/resource-id.ts";
import { shellWord } from "@postern/core/shell.ts";
import { headerOf } from "../azure/answer.ts";
import { AzureError } from "../azure/errors.ts";
import type { Finding } from "../view/checks/check.ts";
import { capiClustersIn } from "../view/cluster-objects.ts";
import { capitalised } from "../view/health/observed-causes.ts";
import { groupsIn } from "../view/places.ts";
import type { KubeWorld } from "../view/world.ts";
import { clockFinding } from "./doctor-cluster.ts";
import { type Permission, permissionsOf, principalOf } from "./principal.ts";
import { rolesFor } from "./roles.ts";
import type { Session } from "./session.ts";

/** What needs only Azure: the credential, Resource Manager, and its clock. */
export async function azureFindings({
  azure: { credential, cloud },
  reading: arm,
  signal,
}: Session): Promise<Finding[]> {
  const about = cloud.resourceManager;
  const token = await judged("Azure credential", about, async () => {
    await credential.token(signal);
    return "A token was issued.";
  });
  if (token.result === "failed") return [token];
  const before = Date.now();
  let theirs = Number.NaN;
  // This endpoint belongs to no subscription, so reading it counts against no request limit.
  const armClient = await judged("Azure Resource Manager", about, async () => {
    const { headers } = await arm.request("GET", "/metadata/endpoints", {
      query: { "api-version": "2022-09-01" },
    });
    theirs = Date.parse(headerOf(headers, "date") ?? "");
    return "Reachable.";
  });
  const skew = Number.isNaN(theirs)
    ? []
    : [clockFinding("Azure", theirs, (before + Date.now()) / 2)];
  return [token, armClient, ...skew];
}

async function judged(check: string, about: string, ask: () => Promise<string>): Promise<Finding> {
  try {
    return { check, about, result: "ok", found: await ask() };
  } catch (error) {
    if (!isExplained(error)) throw error;
    return { check, about, result: "failed", found: error.explain().message, blocks: true };
  }
}

/**
 * Which actions of its role the credential lacks: in the resource group of the management cluster, in those of the hosted
 * clusters, and in those of the clusters of Cluster API.
 */
export async function rightsFindings(
  session: Session,
  kube: KubeWorld,
  as?: string,
): Promise<Finding[]> {
  const principal = as === undefined ? undefined : await principalOf(session, as, kube);
  const name = as === undefined ? "this credential" : as === "operator" ? "the operator" : as;
  const check = `Azure permissions of ${name}`;
  const who = capitalised(name);
  if (principal && "why" in principal)
    return [
      {
        check,
        about: "Azure",
        result: "not checked",
        found: principal.why,
        ...(principal.remedy !== undefined && { remedy: principal.remedy }),
      },
    ];
  const { AZURE_SUBSCRIPTION_ID: subscription, AZURE_RESOURCE_GROUP: group } = session.env;
  const role = (identity: string) => rolesFor(identity, undefined)[0];
  const guests = groupsIn({ ...kube, azureClusters: [] });
  const azureClusters = capiClustersIn(kube);
  const clusters = groupsIn({ ...kube, hostedClusters: [], links: [], azureClusters });
  const home = subscription && group ? resourceGroupId(subscription, group) : undefined;
  const places = [
    ...(home ? [{ scope: home, role: role("management") }] : []),
    ...guests
      .filter((each) => each.toLowerCase() !== home?.toLowerCase())
      .map((scope) => ({ scope, role: role("guest") })),
    ...clusters.map((scope) => ({ scope, role: role("cluster-api") })),
  ];
  // The operator acts in the group of the management cluster; elsewhere each cluster has an identity of its own.
  const checked = as === "operator" ? places.slice(0, home ? 1 : 0) : places;
  return Promise.all(
    checked.map(async ({ scope, role }): Promise<Finding> => {
      const granted = principal
        ? await permissionsOf(session, scope, principal)
        : await permissionsAt(session, scope);
      const remedy = `Grant the role: postern permissions ${role?.identity} --format az --scope ${shellWord(scope)}`;
      if ("why" in granted)
        return { check, about: scope, result: "not checked", found: granted.why, remedy };
      const missing = (role?.Actions ?? []).filter((action) => !allows(granted, action));
      if (missing.length === 0)
        return {
          check,
          about: scope,
          result: "ok",
          found: `All actions of the role ${role?.identity} are granted.`,
        };
      // A credential with some of the actions may belong to a person who only reads. One with none cannot be the operator's.
      const everything = missing.length === role?.Actions.length;
      return {
        check,
        about: scope,
        result: everything ? "failed" : "warning",
        found: everything
          ? `${who} has none of the actions of the role ${role?.identity}: ${missing.join(", ")}.`
          : `${who} lacks ${missing.join(", ")}.`,
        remedy,
      };
    }),
  );
}

async function permissionsAt(
  { reading: arm }: Session,
  scope: ResourceId,
): Promise<Permission[] | { why: string }> {
  try {
    const { body } = await arm.request(
      "GET",
      `${scope}/providers/Microsoft.Authorization/permissions`,
      { query: { "api-version": "2022-04-01" } },
    );
    return (body as { value?: Permission[] }).value ?? [];
  } catch (error) {
    if (!(error instanceof AzureError) || !isExplained(error)) throw error;
    return { why: error.explain().message };
  }
}

/** Azure's rule: some permission includes the action and does not exclude it. */
function allows(granted: readonly Permission[], action: string): boolean {
  const plain = action.toLowerCase();
  const names = (patterns: readonly string[] = []) =>
    patterns.some((each) => actionPattern(each)(plain));
  return granted.some(({ actions, notActions }) => names(actions) && !names(notActions));
}
