import type { Cause } from "../resource.ts";
import type { Changes } from "./compare.ts";
import { paths, printed } from "./field-path.ts";
import { contested, type Manager, type Managers } from "./managers.ts";
import type { Refusal } from "./refusal.ts";

/** A field that an apply would change and that is in the hands of another. */
export interface Conflict {
  manager: Manager;
  path: string[];
}

/** All that an apply would take from others. */
export function conflictsWith(
  managers: Managers,
  applier: string,
  changes: (apiVersion: string) => Changes | undefined,
): Conflict[] {
  return [...managers.keys()].toSorted().flatMap((id) => {
    const manager = managers.get(id) as Manager;
    const theirs = changes(manager.apiVersion);
    if (id === applier || !theirs) return [];
    return paths(contested(manager, theirs)).map((path) => ({ manager, path }));
  });
}

/** What the applier is told of it. */
export function conflictRefusal(conflicts: Conflict[]): Refusal {
  const causes: Cause[] = conflicts.map(({ manager, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${named(manager)}`,
    field: printed(path),
  }));
  return { code: 409, reason: "Conflict", message: conflictMessage(conflicts), causes };
}

function conflictMessage(conflicts: Conflict[]): string {
  const [only] = conflicts;
  if (conflicts.length === 1 && only) {
    return `Apply failed with 1 conflict: conflict with ${named(only.manager)}: ${printed(only.path)}`;
  }
  const lines = [...Map.groupBy(conflicts, ({ manager }) => manager)].flatMap(
    ([manager, theirs]) => [
      `conflicts with ${named(manager)}:`,
      ...theirs.map(({ path }) => `- ${printed(path)}`),
    ],
  );
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

function named({ manager, subresource, operation, apiVersion }: Manager): string {
  const by = subresource ? ` with subresource ${JSON.stringify(subresource)}` : "";
  const using = operation === "Update" ? ` using ${apiVersion}` : "";
  return `${JSON.stringify(manager)}${by}${using}`;
}
