/** The reasons of the events of this feature. */
export const reasons = {
  pausedByAnother: "PausedByAnother",
} as const;
