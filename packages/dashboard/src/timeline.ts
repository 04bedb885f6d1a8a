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
  last: { text: string; isContradicted: boolean; operator: OperatorPresence["state"] };
}

const healthyText = "Healthy again.";

/** A timeline that begins now with what the server said. */
export function beginTimeline(
  label: string,
  cluster: string,
  message: string,
  at: number,
): Timeline {
  return {
    label,
    cluster,
    startedAt: at,
    entries: [{ ms: 0, text: message }],
    isOver: false,
    last: { text: healthyText, isContradicted: false, operator: "leads" },
  };
}

/** The timeline with what is observed now, in the words of the headline; the same one where nothing has changed. */
export function observe(
  timeline: Timeline,
  { health, causes: [cause], isContradicted = false }: Observed,
  operator: OperatorPresence["state"],
  at: number,
): Timeline {
  const { last, startedAt, entries } = timeline;
  const text = health === "Healthy" ? healthyText : `${health}: ${shortened(cause?.message ?? "")}`;
  const texts = [
    ...(operator !== last.operator
      ? [operator === "lost" ? "No operator is running." : "An operator is running again."]
      : []),
    // The conditions say now what only Azure showed before.
    ...(last.isContradicted && !isContradicted && operator !== "lost"
      ? ["Detected by the operator."]
      : []),
    ...(text !== last.text ? [text] : []),
  ];
  if (texts.length === 0) return timeline;
  return {
    ...timeline,
    entries: [...entries, ...texts.map((each) => ({ ms: at - startedAt, text: each }))],
    isOver: health === "Healthy" && operator !== "lost",
    last: { text, isContradicted, operator },
  };
}

type Observed = Pick<ClusterSummary, "health" | "causes"> & { isContradicted?: boolean };

const longestText = 160;

/** The headline has the whole message. */
function shortened(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}…`;
}
