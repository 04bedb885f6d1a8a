import type { WriteStream } from "node:tty";
import { type Frame, frameOf } from "./view.ts";

const drawEveryMs = 200;

/** Draw how things stand, in place and again and again, until the answer is called. */
export function drawLive(
  terminal: WriteStream,
  env: NodeJS.ProcessEnv,
  now: () => Omit<Frame, "columns" | "height" | "color">,
): () => void {
  let drawn: string[] = [];
  const draw = () => {
    const { columns = 80, rows: height = 24 } = terminal;
    const color = !env.NO_COLOR && env.TERM !== "dumb";
    const frame = frameOf({ ...now(), columns, height: height - 1, color });
    if (frame.join("\n") === drawn.join("\n")) return;
    // One write, each line over the one before: nothing is empty in between, so nothing flickers.
    const back = drawn.length > 0 ? `\x1b[${drawn.length}A` : "";
    terminal.write(`${back}${frame.map((line) => `\r${line}\x1b[K\n`).join("")}\x1b[J`);
    drawn = frame;
  };
  draw();
  const timer = setInterval(draw, drawEveryMs);
  return () => {
    clearInterval(timer);
    draw();
  };
}
