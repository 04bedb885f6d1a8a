import type { Health, Picture, State } from "./types.ts";

/** Each state has a mark and a word beside its colour: a colour alone says nothing to some people. */
export const marks: Record<State | "none", string> = {
  ok: "✓",
  working: "…",
  pending: "?",
  degraded: "!",
  broken: "✗",
  absent: "✗",
  unknown: "–",
  none: "·",
};

export const words: Record<State | "none", string> = {
  ok: "ready",
  working: "in progress",
  pending: "waits for approval",
  degraded: "degraded",
  broken: "failed",
  absent: "does not exist",
  unknown: "not readable",
  none: "not requested",
};

/** Worst first, as the server rolls up. */
export const healthOrder: readonly Health[] = [
  "Unavailable",
  "Degraded",
  "Unknown",
  "Progressing",
  "Healthy",
];

const stateOfHealth: Record<Health, State> = {
  Healthy: "ok",
  Progressing: "working",
  Degraded: "degraded",
  Unavailable: "broken",
  Unknown: "unknown",
};

/** The mark of a health in a title, where there is no colour. */
export function markOf(health: Health): string {
  return marks[stateOfHealth[health]];
}

/** The mark of a resource. */
export function Glyph({ state }: { state: State | "none" }) {
  return (
    <span class={`glyph ${state}`} role="img" aria-label={words[state]}>
      {marks[state]}
    </span>
  );
}

/** A cluster's health: its mark and its word. Every place that shows it uses this. */
export function HealthMark({ health, of }: { health: Health; of?: string }) {
  return (
    <span class={`health ${health}`} data-health={health} data-cluster={of}>
      <span aria-hidden="true">{markOf(health)}</span> {health}
    </span>
  );
}

const mostBanners = 3;

/** What could not be read, so that nobody takes it for absent. */
export function NotRead({ unread }: { unread: Picture["unread"] }) {
  const more = unread.length - mostBanners;
  return (
    <>
      {unread.slice(0, mostBanners).map(({ what, why }) => (
        <p key={what} class="banner">
          Not read: {what}. {why}
        </p>
      ))}
      {more > 0 ? <p class="banner">Not read: {more} more. postern doctor lists them.</p> : null}
    </>
  );
}

const longestName = 30;
const headLength = 12;
const tailLength = 12;

/** A name where there is little room: shortened in the middle, for generated ones begin alike. Its title has the whole. */
export function Name({ text }: { text: string }) {
  if (text.length <= longestName) return <Breakable text={text} />;
  return (
    <span class="name" title={text}>
      <span class="hidden">{text}</span>
      <span aria-hidden="true">
        <Breakable text={`${text.slice(0, headLength)}…`} />
        <wbr />
        {text.slice(-tailLength)}
      </span>
    </span>
  );
}

const longestWord = 20;

/** A text with ids and names in it: what is too long for a line breaks as names do. */
export function Words({ text }: { text: string }) {
  return (
    <>
      {text
        .split(/(\s+)/)
        .map((word, at) => (word.length > longestWord ? <Breakable key={at} text={word} /> : word))}
    </>
  );
}

const longestPart = 24;

/** A long name breaks after its separators, where there are none where its words in CamelCase begin, and nowhere else. */
export function Breakable({ text }: { text: string }) {
  const parts = text
    .split(/(?<=[./-])/)
    .flatMap((part) => (part.length > longestPart ? part.split(/(?<=[a-z])(?=[A-Z])/) : part));
  return (
    <>
      {parts.map((part, at) => (
        <span key={at}>
          {at === 0 ? null : <wbr />}
          <span class="part">{part}</span>
        </span>
      ))}
    </>
  );
}
