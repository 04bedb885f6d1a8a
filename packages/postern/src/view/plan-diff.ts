import type { FieldChange } from "@postern/core/dashboard/cluster-page.ts";
import { idKey } from "@postern/core/resource-id.ts";
import type { Step } from "../kube/feature.ts";
import type { World } from "./world.ts";

const mostChanges = 60;
const longestValue = 200;

/** The fields of a resource that a step would change; none where the step does not write one whole resource. */
export function changesOf(step: Step, world: World): FieldChange[] {
  const { id, body, verb } = step as Step & { id?: unknown; body?: unknown; verb?: unknown };
  if (typeof id !== "string") return [];
  const present = new Map(Object.entries(fieldsOf(resourceIn(world, id))));
  if (verb === "delete")
    return [{ path: "", ...(present.size > 0 && { from: id }) }].filter(({ from }) => from);
  if (typeof body !== "object" || body === null) return [];
  const changes = Object.entries(fieldsOf(body)).flatMap(([path, to]): FieldChange[] => {
    const from = present.get(path);
    return from === to ? [] : [{ path, to, ...(from !== undefined && { from }) }];
  });
  return changes.slice(0, mostChanges);
}

function resourceIn({ azure }: World, id: string): unknown {
  const key = idKey(id);
  const all: readonly { id?: string }[] = [
    ...azure.linkServices,
    ...azure.endpoints,
    ...azure.loadBalancers,
    ...azure.networks,
    ...azure.zones.flatMap(({ zone, links, records }) => [zone, ...links, ...records]),
  ];
  return all.find((each) => each.id !== undefined && idKey(each.id) === key);
}

/** The values of an object by their paths. */
function fieldsOf(value: unknown, path = "", depth = 0): Record<string, string> {
  if (typeof value !== "object" || value === null || depth > 12)
    return value === undefined ? {} : { [path]: String(value).slice(0, longestValue) };
  return Object.assign(
    {},
    ...Object.entries(value).map(([name, each]) =>
      fieldsOf(
        each,
        Array.isArray(value) ? `${path}[${name}]` : path ? `${path}.${name}` : name,
        depth + 1,
      ),
    ),
  );
}
