import { type Clock, realClock } from "../clock.ts";

/** A terminal, on which a line can be written over. */
export type Terminal = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">;

const everyMs = 200;
const cleared = "\r\u001b[K";

/** The terminal on which a line of ours stands now. */
let drawnOn: Terminal | undefined;

/**
 * Tell a person at a terminal how far it is, in one line that is written over, until the returned function is called. Where
 * there is nothing to tell yet, or nobody at a terminal, nothing is written.
 */
export function showProgress(
  line: () => string | undefined,
  terminal: Terminal = process.stderr,
  clock: Clock = realClock,
): () => void {
  if (!terminal.isTTY || process.env.TERM === "dumb") return () => undefined;
  const draw = () => {
    const text = line();
    if (text !== undefined) {
      // A line that is folded by the terminal cannot be written over.
      terminal.write(`${cleared}${text.slice(0, (terminal.columns || 80) - 1)}`);
      drawnOn = terminal;
    }
    stop = clock.after(everyMs, draw);
  };
  let stop = clock.after(everyMs, draw);
  return () => {
    stop();
    clearProgress();
  };
}

/** Take the line away, before something is written that stays. */
export function clearProgress(): void {
  drawnOn?.write(cleared);
  drawnOn = undefined;
}
