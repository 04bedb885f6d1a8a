import { seeder } from "../state/seeder.ts";
import type { JsonObject } from "../state/store.ts";
import type { Arm } from "./arm.ts";
import type { Operation } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import { unsupported } from "./refusals.ts";
import type { ResourceStore } from "./resource-store.ts";
import type { Principal, World } from "./resource-type.ts";

/**
 * Write a resource as a request of the asker would, or of someone who may do everything, and have it done. What Azure refuses is thrown
 * as a `Refusal`; what it takes and then fails gives what it failed with.
 */
export function writeAtOnce(
  id: string,
  body: JsonObject,
  { arm, world }: { arm: Arm; world: World },
  as?: { asker: Principal; apiVersion: string },
): Operation["error"] {
  const { operations, directory } = world;
  operations.settle();
  const before = new Set(operations.running());
  const asker = as?.asker ?? seeder(directory.tenantOf(id.split("/")[2] ?? "") ?? "");
  const query = new URLSearchParams({ "api-version": as?.apiVersion ?? "2024-05-01" });
  arm.answer({ method: "PUT", path: id, query, body, asker }, arm.route("PUT", id));
  const begun = [...operations.running()].find((each) => !before.has(each));
  if (begun) operations.end(begun, begun.error ? "Failed" : "Succeeded");
  return begun?.error;
}

/**
 * Take a resource away with all that belongs to it, as the end of a delete does. What Azure would not delete is refused,
 * so that nothing is left which points nowhere.
 */
export function dropAtOnce(
  id: string,
  { arm, resources, world }: { arm: Arm; resources: ResourceStore; world: World },
): void {
  world.operations.settle();
  const { address, type } = arm.route("DELETE", id);
  if (!type?.delete || address.collection) throw unsupported("DELETE", address);
  const resource = world.store.get(address.key);
  if (!resource)
    throw new Refusal(404, "NotFound", `there is no resource '${id}'`, { by: "gateway" });
  type.mayDelete?.(resource, world);
  resources.remove(resource, type);
}
