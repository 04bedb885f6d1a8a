import type { ClusterSummary, OperatorPresence } from "./types.ts";

/** What happened after a fault was injected, and when. */
export interface Timeline {
  label: string;
  cluster: string;
  startedAt: number;
  /** Milliseconds after the beginning. */
  entries: { ms: number; text: string }[];
  isOver: boolean;
  /** What was observed last. */
  last: { health: string; endpoint: string; operator: string };
}

/** A timeline that begins now with what the server said. */
export function beginTimeline(label: string, cluster: string, said: string, at: number): Timeline {
  return {
    label,
    cluster,
    startedAt: at,
    entries: [{ ms: 0, text: said }],
    isOver: false,
    last: { health: "Healthy", endpoint: "ok", operator: "leads" },
  };
}

/** The timeline with what is observed now; the same one where nothing has changed. */
export function observe(
  timeline: Timeline,
  summary: Pick<ClusterSummary, "health" | "causes" | "path">,
  operator: OperatorPresence["state"],
  at: number,
): Timeline {
  const { last, startedAt, entries } = timeline;
  const { health, causes, path } = summary;
  const endpoint = path[0] ?? "none";
  const texts = [
    ...(operator !== last.operator
      ? [operator === "lost" ? "No operator is running" : "An operator is running again"]
      : []),
    ...(endpoint !== last.endpoint ? [endpointText(endpoint, last.endpoint)] : []),
    ...(health !== last.health
      ? [health === "Healthy" ? "Healthy again" : `${health}: ${causes[0]?.message ?? ""}`]
      : []),
  ];
  if (texts.length === 0) return timeline;
  return {
    ...timeline,
    entries: [...entries, ...texts.map((text) => ({ ms: at - startedAt, text }))],
    isOver: health === "Healthy" && operator !== "lost",
    last: { health, endpoint, operator },
  };
}

function endpointText(state: string, before: string): string {
  switch (state) {
    case "ok":
      return "Private endpoint ready";
    case "working":
      return before === "ok" || before === "broken"
        ? "Private endpoint is being deleted"
        : "Private endpoint is being created";
    case "pending":
      return "Private endpoint waits for approval";
    case "absent":
    case "none":
      return "Private endpoint deleted";
    default:
      return "Private endpoint failed";
  }
}
