/** The reasons of the events of this feature. */
export const reasons = {
  made: "ProviderConfigMade",
  changed: "ProviderConfigChanged",
  deleted: "ProviderConfigDeleted",
  taken: "ProviderConfigTaken",
  ownedByAnother: "OwnedByAnother",
} as const;
