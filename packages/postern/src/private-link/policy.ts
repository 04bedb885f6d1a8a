/** How a source of private links names and reports one kind of resource. */
export interface ResourcePolicy<Difference extends string = string> {
  /** What messages call it, in front of its name. */
  noun: string;
  /** What messages say is done to it while it is created. */
  creationVerb: string;
  /** The condition of its steps; the feature's first where it names none. */
  condition?: string;
  /** What its steps are called. */
  steps: Record<Verb, string>;
  events: Record<Verb, string>;
  /** The reasons while a step is under way, and where it failed. */
  reasons: Record<Verb | "replace", string> & { failed: Record<Verb, string> };
  /** How it differs from what it should be, in words. */
  differences: Record<Difference, string>;
  /** What a step says of why it is taken. */
  whyOf(name: string, why: string): string;
  /** Why it is replaced, and how messages say that it is. */
  replacement: { verb: string; why(differences: string): string };
}

/** What is done to a resource. */
export type Verb = "create" | "change" | "delete";

/** Whose a resource is. What an object left that does not exist any more can be taken over. */
export type Ownership = { is: "ours" } | { is: "left" } | { is: "another"; whose: string };
