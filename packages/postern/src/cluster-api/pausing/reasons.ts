/** The reasons of the events of this feature. */
export const reasons = {
  paused: "ControlPlanePaused",
  resumed: "ControlPlaneResumed",
  pausedByAnother: "PausedByAnother",
} as const;
