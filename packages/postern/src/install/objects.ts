import type { KubeObject } from "@postern/core/kind.ts";
import { admissionPolicies } from "./objects/admission.ts";
import { crds } from "./objects/crds.ts";
import { monitoring } from "./objects/monitoring.ts";
import { roles } from "./objects/rbac.ts";
import { namespace, workloads } from "./objects/workloads.ts";
import type { Settings } from "./settings.ts";
import { evaluateObjects } from "./template/evaluate.ts";
import type { Document } from "./template/template.ts";

/** Where an installation goes, and which version it is. */
export interface Release {
  namespace: string;
  version: string;
}

/** The parts of an installation, in the order in which they are applied. Each is a file of the chart. */
export function parts(): Record<string, Document> {
  return {
    namespace: namespace(),
    crds: crds(),
    rbac: roles(),
    admission: admissionPolicies(),
    workloads: workloads(),
    monitoring: monitoring(),
  };
}

/** Every object of an installation. */
export function objectsOf(settings: Settings, release: Release): KubeObject[] {
  return Object.values(parts()).flatMap((part) => evaluateObjects(part, { settings, release }));
}
