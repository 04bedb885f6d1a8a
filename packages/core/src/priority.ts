/** Who goes first: what a person changed, then what is tried again, then what is only looked after. */
export type Priority = "change" | "retry" | "drift";

/** The priorities, the most urgent first. */
export const priorities: readonly Priority[] = ["change", "retry", "drift"];
