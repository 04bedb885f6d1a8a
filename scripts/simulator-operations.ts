import { hasGet } from "@postern/azure-simulator/arm/reads.ts";
import type { ResourceType } from "@postern/azure-simulator/arm/resource-type.ts";

/**
 * What can be asked of a type, told from its parts: `put`, `get`, `list`, `list in subscription`, `patch`, `delete`,
 * and `GET …/x` or `POST …/x` for what else is under it.
 */
export function operationsOf(type: ResourceType): string[] {
  const { put, patch, patchTags, list, within } = type;
  const has: [string, boolean][] = [
    ["put", put !== undefined],
    ["get", hasGet(type)],
    ["list", put !== undefined || list !== undefined || within === "parent"],
    [
      "list in subscription",
      put !== undefined && within === "resourceGroup" && type.listedIn === undefined,
    ],
    ["patch", patch !== undefined || patchTags === true],
    ["delete", type.delete !== undefined],
  ];
  return [
    ...has.filter(([, is]) => is).map(([name]) => name),
    ...Object.keys({ ...type.lists, ...type.views }).map((name) => `GET …/${name}`),
    ...Object.keys(type.posts ?? {}).map((name) => `POST …/${name}`),
  ];
}
