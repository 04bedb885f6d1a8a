import type { KubeObject } from "@postern/core/kind.ts";
import type { Applied, Step } from "./feature.ts";
import type { OwnObjects } from "./own-objects.ts";
import type { Reconcile } from "./reconcile.ts";

/** One write of an object that a feature creates beside its own. */
export type ObjectStep<T extends KubeObject = KubeObject> = Step &
  (
    | { verb: "create"; object: T }
    | { verb: "change"; object: T; change: object; subresource?: "status" }
    | { verb: "delete"; object: T }
  );

/** Do one step. */
export async function applyObjectStep<T extends KubeObject>(
  step: ObjectStep<T>,
  objects: OwnObjects<T>,
  { signal }: Reconcile,
): Promise<Applied> {
  switch (step.verb) {
    case "create":
      await objects.create(step.object, signal);
      break;
    case "change":
      await objects.change(step.object, step.change, signal, step.subresource);
      break;
    case "delete":
      await objects.remove(step.object, signal);
      break;
  }
  return { state: "done" };
}
