/** The reasons of the events of this feature. */
export const reasons = {
  taken: "ProviderConfigTaken",
  ownedByAnother: "OwnedByAnother",
} as const;
