import type { Precondition } from "../../azure/gateway.ts";
import type { VirtualNetworkLink } from "../../azure/gateways/private-dns.ts";
import type { ResourceGroup } from "../../azure/gateways/resource-groups.ts";
import type { Step } from "../../kube/feature.ts";
import type { PlannedCondition } from "../../model/conditions.ts";
import type { ResourceId } from "../../model/resource-id.ts";
import type { Tags } from "../../model/tags.ts";
import type { Problem, RecordSet, ZoneRole } from "./seen.ts";

/** What is in Azure is reached by the identity that its role says. */
type In = { role: ZoneRole; id: ResourceId };
type Guarded = Pick<Precondition, "ifMatch">;

/** Everything that this feature does. `on` says to what, `do` says it to a person. */
export type DnsStep =
  | (Step & { on: "object"; do: "hold" | "let go" })
  | (Step & { on: "object"; do: "tell"; verdict: PlannedCondition })
  | (Step &
      In &
      Precondition & { on: "zone"; do: "make zone" | "claim zone" | "give up zone"; tags: Tags })
  | (Step & In & Guarded & { on: "zone"; do: "remove zone" })
  | (Step &
      In &
      Precondition & {
        on: "link";
        do: "link network" | "claim link" | "give up link";
        body: VirtualNetworkLink;
      })
  | (Step & In & Guarded & { on: "link"; do: "remove link" })
  | (Step & In & Precondition & { on: "record"; do: "write name"; records: RecordSet })
  | (Step & In & Guarded & { on: "record"; do: "remove name" })
  | (Step & In & { on: "group"; do: "make group" | "tag group"; body: ResourceGroup });

/** What one part of the plan decides. */
export interface Part {
  steps: readonly DnsStep[];
  problems: readonly Problem[];
  /** When to look again although nothing is begun. */
  waits: readonly number[];
  /** It is not as it should be yet, and nothing is wrong with that. */
  pending: boolean;
}

export const nothing: Part = { steps: [], problems: [], waits: [], pending: false };

export function doing(...steps: DnsStep[]): Part {
  return { ...nothing, steps, pending: steps.length > 0 };
}

export function waiting(...waits: number[]): Part {
  return { ...nothing, waits, pending: true };
}

export function wrong(reason: string, message: string, requeueAfterMs?: number): Part {
  const waits = requeueAfterMs === undefined ? [] : [requeueAfterMs];
  return { ...nothing, problems: [{ reason, message }], waits };
}

export function joined(parts: readonly Part[]): Part {
  return {
    steps: parts.flatMap(({ steps }) => steps),
    problems: parts.flatMap(({ problems }) => problems),
    waits: parts.flatMap(({ waits }) => waits),
    pending: parts.some(({ pending }) => pending),
  };
}
