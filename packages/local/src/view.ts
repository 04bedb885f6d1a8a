import { rankOf } from "@postern/core/health.ts";
import type { Row } from "./clusters.ts";

/** What a frame is drawn from. */
export interface Frame {
  title: string;
  seconds: number;
  rows: readonly Row[];
  /** What to say below. */
  notes: readonly string[];
  columns: number;
  /** How many lines there is room for. */
  height: number;
  color: boolean;
}

const colors: Record<Row["state"], number> = {
  Healthy: 32,
  Progressing: 36,
  Degraded: 33,
  Unavailable: 31,
  Unknown: 35,
};
const stateWidth = 11;
const mostNotes = 3;
/** Below this a step says too little to be worth its place. */
const leastStep = 14;

/** The lines of a frame: none is wider than the terminal, and there are no more than it has. */
export function frameOf(frame: Frame): string[] {
  const { title, seconds, rows, columns, color } = frame;
  const notes = frame.notes.slice(0, mostNotes);
  const height = frame.height - notes.length;
  const done = rows.filter(({ state }) => state === "Healthy").length;
  const head = `${title} · ${Math.floor(seconds)} s · ${done} of ${rows.length} Healthy`;
  const shown = rows.length <= height - 1 ? rows : mostRelevant(rows, Math.max(0, height - 2));
  const left = rows.length - shown.length;
  const widths = widthsOf(shown, columns);
  return [
    cut(head, columns),
    ...shown.map((row) => lineOf(row, widths, columns, color)),
    ...(left > 0 ? [cut(`… and ${left} more`, columns)] : []),
    ...notes.map((note) => cut(note, columns)),
  ];
}

/** Where there is no room for all: the worst first. */
function mostRelevant(rows: readonly Row[], count: number): Row[] {
  return rows.toSorted((a, b) => rankOf(a.state) - rankOf(b.state)).slice(0, count);
}

interface Widths {
  name: number;
  what: number;
}

function widthsOf(rows: readonly Row[], columns: number): Widths {
  const widest = (field: "name" | "what") => Math.max(0, ...rows.map((row) => row[field].length));
  const name = Math.min(widest("name"), Math.max(6, columns - stateWidth - 2));
  const what = widest("what");
  // The kind of a cluster is the first to go where it is narrow.
  return { name, what: name + what + stateWidth + 6 + leastStep <= columns ? what : 0 };
}

function lineOf(row: Row, { name, what }: Widths, columns: number, color: boolean): string {
  const state = row.state.padEnd(stateWidth);
  const painted = color ? `\x1b[${colors[row.state]}m${state}\x1b[0m` : state;
  const called = cut(row.name, name).padEnd(name);
  const kind = what > 0 ? `  ${row.what.padEnd(what)}` : "";
  const room = columns - name - (what > 0 ? what + 2 : 0) - stateWidth - 4;
  const step = room >= leastStep && row.step !== "" ? `  ${cut(row.step, room)}` : "";
  return `${called}${kind}  ${painted}${step}`.trimEnd();
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
