import type { State } from "./types.ts";

/** Each state has a mark and a word beside its colour: a colour alone tells some people nothing. */
export const marks: Record<State, string> = {
  ok: "✓",
  working: "…",
  pending: "?",
  broken: "✗",
  absent: "✗",
  unknown: "–",
};

export const words: Record<State, string> = {
  ok: "works",
  working: "at work",
  pending: "waits for approval",
  broken: "broken",
  absent: "missing",
  unknown: "not known",
};

export function Badge({ state, children }: { state: State; children?: string | undefined }) {
  return (
    <span class={`badge ${state}`}>
      <span aria-hidden="true">{marks[state]}</span> {children ?? words[state]}
    </span>
  );
}
