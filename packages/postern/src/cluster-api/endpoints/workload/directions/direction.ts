import { done, join, type Part, type Problem, wait, waits } from "../../../../kube/part.ts";

/** What one direction between the two clusters needs, and the address that it gives. */
export interface Direction extends Part<never> {
  /** What the condition says without problems; undefined where this direction is not used. */
  ready?: { reason: string; message: string };
  /** `keep` where it is not known whether the published address is still valid. */
  address: string | undefined | "keep";
}

/** Nothing is desired in this direction. */
export const unused: Direction = { ...done, address: undefined };

/** A problem, and what happens to the published address: it is removed unless it is kept. */
export function blocked(part: Part<never>, address?: "keep"): Direction {
  return { ...part, address };
}

/** What completes by itself. */
export function pending(reason: string, message: string): Direction {
  return blocked(wait({ reason, message, progress: true }, waits.changeMs));
}

/** What a person or another controller has to change first. */
export function waitForChange(problem: Problem): Direction {
  return blocked(wait(problem, waits.changeMs));
}

/** Several endpoints in one direction. All must be connected, and the first problem is reported. */
export function joinDirections(
  all: readonly Direction[],
  address: Direction["address"],
): Direction {
  const { problems, ...part } = join(all);
  const ready = all.at(-1)?.ready;
  return { ...part, problems: problems.slice(0, 1), ...(ready && { ready }), address };
}

/** Whether the endpoint of a direction is connected, and gives an address. */
export function isConnected(direction: Direction | undefined): boolean {
  return direction?.address !== undefined && direction.address !== "keep";
}
