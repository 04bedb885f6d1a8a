import { counted } from "@postern/core/counted.ts";
import { Age, took } from "./ages.tsx";
import { Glyph, Words } from "./state.tsx";
import type { JournalStep, State } from "./types.ts";

const outcomes: Record<"done" | "running" | "failed", { state: State; word: string }> = {
  done: { state: "ok", word: "done" },
  running: { state: "working", word: "running in Azure" },
  failed: { state: "broken", word: "failed" },
};

/** Steps by the reconcile that began them, the newest first; only the newest reconcile and failed ones are open. */
export function Steps({ steps }: { steps: readonly JournalStep[] }) {
  const groups = Map.groupBy(
    steps,
    ({ controller, key, reconcile }) => `${controller} ${key} ${reconcile}`,
  );
  const newest = [...groups].toReversed();
  return (
    <ol class="steps">
      {withoutRepeats(newest).map(({ key, steps: group, times }, at) => (
        <Group key={key} steps={group} times={times} isOpen={at === 0} />
      ))}
    </ol>
  );
}

interface Repeated {
  key: string;
  steps: JournalStep[];
  /** How many reconciles in a row failed in the same way. */
  times: number;
}

/** A reconcile that is tried again and again fails in the same way each time: the newest stands for all of them. */
function withoutRepeats(groups: readonly [string, JournalStep[]][]): Repeated[] {
  const shown: Repeated[] = [];
  for (const [key, steps] of groups) {
    const last = shown.at(-1);
    if (last && isFailed(steps) && waysOf(last.steps) === waysOf(steps)) last.times += 1;
    else shown.push({ key, steps, times: 1 });
  }
  return shown;
}

function isFailed(steps: readonly JournalStep[]): boolean {
  return steps.some(({ outcome }) => outcome === "failed");
}

function waysOf(steps: readonly JournalStep[]): string {
  return steps
    .map((each) => [each.controller, each.key, each.do, each.name, each.outcome].join(" "))
    .join();
}

function Group(props: { steps: readonly JournalStep[]; times: number; isOpen: boolean }) {
  const { steps, times, isOpen } = props;
  const [first] = steps;
  if (first === undefined) return null;
  const running = steps.some(({ outcome }) => outcome === undefined || outcome === "running");
  const state = isFailed(steps) ? "broken" : running ? "working" : "ok";
  const names = [...new Set(steps.map((each) => each.do))].join(", ");
  return (
    <li>
      <details open={isOpen}>
        <summary>
          <Glyph state={state} /> {names}{" "}
          <span class="quiet">
            {first.kind} {first.key}, {times > 1 ? `${counted(times, "time")}, the last ` : ""}
            <Age time={first.at} />
          </span>
        </summary>
        <ul>
          {steps.map((step) => (
            <StepLine key={step.number} step={step} />
          ))}
        </ul>
      </details>
    </li>
  );
}

function StepLine({ step }: { step: JournalStep }) {
  const { state, word } = step.outcome
    ? outcomes[step.outcome]
    : ({ state: "working", word: "starting" } as const);
  return (
    <li>
      <Glyph state={state} />{" "}
      <strong>
        {step.do} {step.name}
      </strong>{" "}
      <span class="quiet">
        {word}
        {step.endedAt ? ` in ${took(step.at, step.endedAt)}` : ""}: {step.why}
      </span>
      {step.failure ? (
        <p class="failure">
          <Words text={step.failure} />
        </p>
      ) : null}
      {step.requests.map((request) => (
        <p key={`${request.thing} ${request.requestId}`} class="request">
          <Words
            text={`${request.verb} ${request.thing} → ${request.code}${request.requestId ? `, request ${request.requestId}` : ""}`}
          />
        </p>
      ))}
    </li>
  );
}
