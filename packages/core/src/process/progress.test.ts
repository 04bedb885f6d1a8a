import { expect, test } from "vitest";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { clearProgress, showProgress, type Terminal } from "./progress.ts";

function terminal(isTTY: boolean, columns = 80): Terminal & { output: string[] } {
  const output: string[] = [];
  return { isTTY, columns, output, write: (text: unknown) => output.push(String(text)) > 0 };
}

test("on a terminal it is one line, written over and taken away at the end", async () => {
  const screen = terminal(true, 20);
  const clock = new ManualClock();
  let lists = 0;
  const line = () => (lists === 0 ? undefined : `reading: ${lists} of very many`);
  const end = showProgress(line, screen, clock);
  await clock.move(1_000);
  expect(screen.output).toEqual([]);
  lists = 7;
  await clock.move(400);
  expect(screen.output).toEqual(Array(2).fill("\r\u001b[Kreading: 7 of very "));
  end();
  await clock.move(1_000);
  expect(screen.output.slice(2)).toEqual(["\r\u001b[K"]);
  clearProgress();
  expect(screen.output).toHaveLength(3);
});

test("where nobody looks nothing is written", async () => {
  const pipe = terminal(false);
  const clock = new ManualClock();
  const end = showProgress(() => "reading", pipe, clock);
  await clock.move(1_000);
  end();
  expect(pipe.output).toEqual([]);
});
