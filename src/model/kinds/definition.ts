import type { TSchema } from "typebox";
import type { Kind, KubeObject } from "../kind.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  name: string;
  type: "string" | "date";
  jsonPath: string;
  description?: string;
}

/** A kind together with all that its CRD is made from. */
export interface Definition<T extends KubeObject = KubeObject> extends Kind<T> {
  singular: string;
  shortNames: readonly string[];
  description: string;
  annotations?: Readonly<Record<string, string>>;
  columns: readonly PrinterColumn[];
  spec: TSchema;
  status: TSchema;
  /**
   * True where HyperShift or OpenShift has a fuller CRD of its own and this one only takes its place on a machine
   * without them. It must never be installed over the other.
   */
  standIn: boolean;
}

/** The column that every kind ends with. */
export const age: PrinterColumn = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
};

/** The path of a condition's status. */
export function statusOf(condition: string): string {
  return `.status.conditions[?(@.type=="${condition}")].status`;
}
