import type { TSchema } from "typebox";
import type { Kind, KubeObject } from "../kind.ts";
import type { Rule } from "./schema.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  name: string;
  type: "string" | "date" | "integer" | "boolean";
  jsonPath: string;
  description?: string;
  /** Above 0 it is shown only with `-o wide`. */
  priority?: number;
}

/** A kind together with all that its CRD is made from. */
export interface Definition<T extends KubeObject = KubeObject> extends Kind<T> {
  singular: string;
  shortNames: readonly string[];
  /** The groups of kinds that `kubectl get` shows together. */
  categories?: readonly string[];
  description: string;
  annotations?: Readonly<Record<string, string>>;
  columns: readonly PrinterColumn[];
  spec: TSchema;
  status: TSchema;
  /** Rules about the whole object: only these can see its name. */
  rules?: readonly Rule[];
  /**
   * True where another project (HyperShift, OpenShift, Cluster API, Crossplane) has a fuller CRD of its own and this
   * one only takes its place on a machine without it. It must never be installed over the other.
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
