import { Badge } from "./state.tsx";
import type { JournalStep, State } from "./types.ts";

const outcomes: Record<"done" | "running" | "failed", { state: State; word: string }> = {
  done: { state: "ok", word: "done" },
  running: { state: "working", word: "begun in Azure" },
  failed: { state: "broken", word: "failed" },
};

/** Steps as a timeline, the newest first, with the ids by which Microsoft's support finds their requests. */
export function Steps({ steps }: { steps: readonly JournalStep[] }) {
  return (
    <ol class="steps">
      {steps.toReversed().map((step) => {
        const { state, word } = step.outcome
          ? outcomes[step.outcome]
          : ({ state: "working", word: "beginning" } as const);
        return (
          <li key={step.number}>
            <time dateTime={step.at}>{step.at.slice(11, 19)}</time>
            <Badge state={state}>{word}</Badge>
            <div>
              <strong>{step.do}</strong> <span class="quiet">because {step.why}</span>
              <p class="request">
                {step.controller} of {step.key}
              </p>
              {step.failure ? <p>{step.failure}</p> : null}
              {step.requests.map((request) => (
                <p key={`${request.thing} ${request.requestId}`} class="request">
                  {request.verb} {request.thing} → {request.code}
                  {request.requestId ? `, request ${request.requestId}` : ""}
                </p>
              ))}
            </div>
          </li>
        );
      })}
    </ol>
  );
}
