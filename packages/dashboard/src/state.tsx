import type { Picture, State } from "./types.ts";

/** Each state has a mark and a word beside its colour: a colour alone tells some people nothing. */
export const symbols: Record<State, string> = {
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
      <span aria-hidden="true">{symbols[state]}</span> {children ?? words[state]}
    </span>
  );
}

const mostBanners = 3;

/** What is missing in what is shown, so that nobody takes it for absent. */
export function NotRead({ unread }: { unread: Picture["unread"] }) {
  const more = unread.length - mostBanners;
  return (
    <>
      {unread.slice(0, mostBanners).map(({ what, why }) => (
        <p key={what} class="banner">
          Not read: {what}. {why}
        </p>
      ))}
      {more > 0 ? <p class="banner">Not read: {more} more; postern doctor names them.</p> : null}
    </>
  );
}
