import type { StepName } from "../kube/step-words.ts";

/** How a source of private links names and reports one kind of resource. */
export interface ResourcePolicy<Difference extends string = string> {
  /** The condition of its steps; the feature's first where it names none. */
  condition?: string;
  /** What its steps do. */
  steps: Record<Verb, StepName>;
  /** The reasons while a step is under way, and where it failed. */
  reasons: Record<Verb | "replace", string> & { failed: Record<Verb, string> };
  /** What conditions say meanwhile; `write` is for a write of which no more is known. */
  messages: Record<"write" | "create" | "change" | "replace", Message>;
  /** How it differs from what it should be, in words. `failed` is its provisioning state, where its last write failed. */
  describe(differences: readonly Difference[], failed?: string): string;
  /** Why it is deleted before it is created again. */
  whyReplaced(differences: string): string;
}

/** A sentence about a resource of this name. */
export type Message = (name: string, why: string) => string;

/** What is done to a resource. */
export type Verb = "create" | "change" | "delete";

/** The messages about a resource. Most sources need no others. */
export function commonMessages(words: { noun: string; created: string; replaced: string }) {
  const { noun, created, replaced } = words;
  const writing = (verb: string) => (name: string) =>
    `${noun} ${name} is being ${verb} · this takes about half a minute`;
  return {
    write: writing("written"),
    create: writing(created),
    change: (name, why) => `${noun} ${name} is being updated · ${why}`,
    replace: (name, why) =>
      `${noun} ${name} ${replaced} · ${why}, which Azure cannot change in place`,
    adopt: (name, why) => `${noun} ${name} is being adopted · ${why}`,
  } satisfies Record<string, Message>;
}

/** Describes all differences, each by its words. */
export function describeAll<Difference extends string>(words: Record<Difference, string>) {
  return (differences: readonly Difference[], failed?: string): string => {
    const state = failed === undefined ? [] : [`its provisioning state is ${failed}`];
    return [...differences.map((each) => words[each]), ...state].join(", ");
  };
}

/** The owner of a resource. One whose object does not exist any more can be adopted. */
export type Ownership = { is: "ours" } | { is: "left" } | { is: "another"; described: string };
