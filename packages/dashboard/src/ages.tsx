import { duration } from "@postern/core/duration.ts";
import { useEffect, useRef } from "preact/hooks";
import { serverNow } from "./server.ts";

/** How long something took: a fraction of a second is one too. */
export function took(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  return ms < 1_000 ? "under 1 s" : duration(ms);
}

/** A point in time with its time zone. */
export function dateText(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime())
    ? time
    : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
}

/** Ages count without drawing the page again: each changes its own text. */
const counting = new Set<() => void>();
setInterval(() => {
  for (const count of counting) count();
}, 1_000);

/** How long ago something was: "12 s ago", or "for 12 s". */
export function Age({ time, as = "ago" }: { time: string; as?: "ago" | "for" | "bare" }) {
  const element = useRef<HTMLTimeElement>(null);
  const words = () => {
    const text = duration(serverNow() - Date.parse(time));
    return as === "ago" ? `${text} ago` : as === "for" ? `for ${text}` : text;
  };
  useEffect(() => {
    const count = () => {
      const now = words();
      if (element.current && element.current.textContent !== now) element.current.textContent = now;
    };
    count();
    counting.add(count);
    return () => {
      counting.delete(count);
    };
  }, [time, as]);
  return (
    <time ref={element} dateTime={time} title={dateText(time)}>
      {words()}
    </time>
  );
}
