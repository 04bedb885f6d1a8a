import { expect, test } from "vitest";
import { eventOfStep, stepReasons, stepText } from "./step-words.ts";

const step = { do: "create link service", name: "pls-1", why: "it does not exist" } as const;

test("a step reads as a sentence, and its event says the same in the past tense", () => {
  expect(stepText(step)).toBe("Create link service pls-1: it does not exist");
  expect(eventOfStep(step)).toEqual({
    type: "Normal",
    reason: "Created",
    action: "create link service",
    note: "Created link service pls-1: it does not exist.",
  });
});

test("the reason of each verb is one word that a Kubernetes event may have", () => {
  for (const [verb, reason] of Object.entries(stepReasons)) {
    expect(reason.toLowerCase().startsWith(verb.slice(0, -1))).toBe(true);
    expect(reason).toMatch(/^[A-Z][a-z]+ed$/);
  }
});
