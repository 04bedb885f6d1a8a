/** The reasons of the conditions and events of this feature. */
export const observeReasons = {
  failed: "LinkNotWritten",
  ownedByAnother: "OwnedByAnother",
  serviceNotOwned: "ServiceNotOwned",
  serviceNotInternal: "ServiceNotInternal",
  serviceDeleting: "ServiceDeleting",
  serviceHasNoIp: "ServiceHasNoIP",
  azureMissing: "AzureBlockMissing",
  nameUnusable: "NameUnusable",
  endpointSubnet: "EndpointSubnetUnusable",
  subnetMissing: "GuestSubnetMissing",
  cannotChange: "LinkCannotChange",
  unverified: "ControlPlaneNotVerified",
} as const;
