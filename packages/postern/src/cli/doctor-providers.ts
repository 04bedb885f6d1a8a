import { isExplained } from "@postern/core/failure.ts";
import { idKey, subscriptionId } from "@postern/core/resource-id.ts";
import { shellWord } from "@postern/core/shell.ts";
import type { ArmClient } from "../azure/arm.ts";
import { AzureError } from "../azure/errors.ts";
import type { Finding } from "../view/checks/check.ts";
import { subscriptionsIn } from "../view/places.ts";
import type { World } from "../view/world.ts";

const check = "resource provider registered";
const namespace = "Microsoft.Network";

/** Whether each subscription may have networks at all: without the registration Azure refuses to create any. */
export async function providerFindings(
  arm: ArmClient,
  world: World,
  home: string | undefined,
): Promise<Finding[]> {
  const subscriptions = subscriptionsIn(world.kube, home ? [home] : []);
  const found = await Promise.all(subscriptions.map((each) => findingOf(arm, world, each)));
  return found.flat();
}

async function findingOf(arm: ArmClient, world: World, subscription: string): Promise<Finding[]> {
  const about = subscriptionId(subscription);
  const state = await registrationOf(arm, subscription);
  if (typeof state === "string")
    return [
      state === "Registered"
        ? { check, about, result: "ok", found: `${namespace} is registered.` }
        : {
            check,
            about,
            result: "failed",
            found: `${namespace} is ${state}, so Azure creates none of its resources.`,
            remedy: `Register it: az provider register --namespace ${namespace} --subscription ${shellWord(subscription)}`,
          },
    ];
  // Roles on resource groups do not show it. What is there shows that it was registered.
  if (hasResources(world, subscription)) return [];
  const remedy =
    "Grant the credential the action Microsoft.Resources/subscriptions/providers/read there.";
  return [{ check, about, result: "not checked", found: state.why, remedy }];
}

async function registrationOf(
  arm: ArmClient,
  subscription: string,
): Promise<string | { why: string }> {
  try {
    const { body } = await arm.request(
      "GET",
      `${subscriptionId(subscription)}/providers/${namespace}`,
      { query: { "api-version": "2021-04-01" } },
    );
    return String((body as { registrationState?: unknown }).registrationState);
  } catch (error) {
    if (!(error instanceof AzureError) || !isExplained(error)) throw error;
    return { why: error.explain().message };
  }
}

function hasResources({ azure }: World, subscription: string): boolean {
  const { networks, loadBalancers, linkServices, endpoints } = azure;
  const start = `${idKey(subscriptionId(subscription))}/`;
  return [networks, loadBalancers, linkServices, endpoints].some((all) =>
    all.some(({ id = "" }) => id.toLowerCase().startsWith(start)),
  );
}
