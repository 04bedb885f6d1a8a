import { readFileSync, rmSync } from "node:fs";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { type DataFolder, owedRolesFile as name } from "./data-folder.ts";

/** A role that somebody has. */
export interface Assignment {
  id: string;
  properties: { roleDefinitionId: string; principalId: string };
}

/** The roles that a button took away for a while. They are on disk, because the process may end before they are given back. */
export class OwedRoles {
  readonly #folder: Pick<DataFolder, "file" | "write">;
  readonly #owed = new Map<string, Assignment>();

  constructor(folder: Pick<DataFolder, "file" | "write">) {
    this.#folder = folder;
  }

  add(assignment: Assignment): void {
    this.#owed.set(assignment.id, assignment);
    this.#write();
  }

  givenBack({ id }: Assignment): void {
    this.#owed.delete(id);
    this.#write();
  }

  /** Give back what an earlier process still owed. */
  settle(simulator: Simulator): void {
    for (const { id, properties } of this.#read()) {
      const [scope = ""] = id.split("/providers/Microsoft.Authorization/");
      // Whoever has deleted the group has deleted all roles in it.
      if (simulator.store.get(scope) === undefined) continue;
      const { roleDefinitionId, principalId } = properties;
      simulator.change(id, { properties: { roleDefinitionId, principalId } });
    }
    simulator.flush();
    this.#write();
  }

  #read(): Assignment[] {
    try {
      const found: unknown = JSON.parse(readFileSync(this.#folder.file(name), "utf8"));
      return Array.isArray(found) ? (found as Assignment[]) : [];
    } catch {
      // None, as nearly always.
      return [];
    }
  }

  #write(): void {
    if (this.#owed.size === 0) rmSync(this.#folder.file(name), { force: true });
    else this.#folder.write(name, `${JSON.stringify([...this.#owed.values()])}\n`, 0o600);
  }
}
