import type { RoleBinding } from "@postern/core/kinds/role-binding.ts";
import type { Step } from "../../kube/feature.ts";

/** A write of the RoleBinding. */
export type GrantStep = Step &
  (
    | { do: "create RoleBinding"; binding: RoleBinding }
    | { do: "update RoleBinding"; binding: RoleBinding; change: object }
  );
