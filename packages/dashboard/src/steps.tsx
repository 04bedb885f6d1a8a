import { counted } from "@postern/core/counted.ts";
import { Age, took } from "./ages.tsx";
import { Glyph } from "./state.tsx";
import type { JournalStep, State } from "./types.ts";

const outcomes: Record<"done" | "running" | "failed", { state: State; word: string }> = {
  done: { state: "ok", word: "done" },
  running: { state: "working", word: "running in Azure" },
  failed: { state: "broken", word: "failed" },
};

/** Steps by the reconcile that began them, the newest first; only the newest reconcile and failed ones are open. */
export function Steps({ steps }: { steps: readonly JournalStep[] }) {
  const groups = new Map<string, JournalStep[]>();
  for (const step of steps) {
    const key = `${step.controller} ${step.key} ${step.reconcile}`;
    groups.set(key, [...(groups.get(key) ?? []), step]);
  }
  const newest = [...groups].toReversed();
  return (
    <ol class="steps">
      {newest.map(([key, group], at) => (
        <Group key={key} steps={group} isOpen={at === 0} />
      ))}
    </ol>
  );
}

function Group({ steps, isOpen }: { steps: readonly JournalStep[]; isOpen: boolean }) {
  const [first] = steps;
  if (first === undefined) return null;
  const failed = steps.some(({ outcome }) => outcome === "failed");
  const running = steps.some(({ outcome }) => outcome === undefined || outcome === "running");
  const state = failed ? "broken" : running ? "working" : "ok";
  const count = counted(steps.length, "step");
  return (
    <li>
      <details open={isOpen}>
        <summary>
          <Glyph state={state} /> {first.kind} {first.key}{" "}
          <span class="quiet">
            {count} of {first.controller}, <Age time={first.at} />
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
      <Glyph state={state} /> <strong>{step.do}</strong>{" "}
      <span class="quiet">
        {word}
        {step.endedAt ? ` in ${took(step.at, step.endedAt)}` : ""}: {step.why}
      </span>
      {step.failure ? <p class="failure">{step.failure}</p> : null}
      {step.requests.map((request) => (
        <p key={`${request.thing} ${request.requestId}`} class="request">
          {request.verb} {request.thing} → {request.code}
          {request.requestId ? `, request ${request.requestId}` : ""}
        </p>
      ))}
    </li>
  );
}
