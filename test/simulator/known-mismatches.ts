const tagged =
  "a policy of the recorded subscription gives every new group a tag with the time; the other subscription has none";

/** Recorded interactions that the simulator answers differently on purpose, and why. */
export const knownMismatches: Readonly<Record<string, string>> = {
  "virtualmachineclient#0": tagged,
  "virtualmachinescalesetclient#0": tagged,
  "virtualmachinescalesetvmclient#0": tagged,
  "virtualnetworkclient#6":
    "Azure answered 201 to a write that changed nothing on a network that was there; every other recording of such a write has 200",
};

/** What is known to differ in the Azure CLI's recordings, by what it looks like: the same happens in others. */
export const cliMismatches: readonly { where: RegExp; reason: string }[] = [
  {
    where: /resource[gG]roups\/\S* body \.(tags|type)/,
    reason:
      "a policy of the recorded subscription tags groups, and some of the recordings are older than the type of a group in its answer",
  },
  { where: /signingKeys/, reason: "DNSSEC is not done" },
  {
    where: /internalDomainNameSuffix|sysgen\.cloudapp|ddosSettings/,
    reason: "regions in preview have names and fields of their own",
  },
  {
    where: /\.cloudapp|applicationGateways|DeploymentFailed/,
    reason: "application gateways are not done",
  },
  {
    where: /privateIPAddress: "[\d.]+" and not "[\d.]+\/\d+"/,
    reason: "an interface takes an address and no block of addresses",
  },
  {
    where: /\.ipConfigurations(\[\d+\])?(\.id)?: /,
    reason:
      "the order of ip configurations is that of the body; gateways, whose configurations a subnet shows, are not done",
  },
  {
    where: /properties\.privateIPAddress: /,
    reason: "a Dynamic configuration keeps the address that it had; Azure chose anew",
  },
  {
    where: /\.actions: /,
    reason: "what a service may do in a subnet that is delegated to it is not known for each",
  },
  { where: /storageAccounts\/\S+ body/, reason: "an account is a name for endpoints to lead to" },
  {
    where: /autoApprovedPrivateLinkServices/,
    reason: "the subscription had services beside those of the test",
  },
  { where: /\.duration: /, reason: "recorded without a duration in one answer of many" },
  {
    where: /customDnsConfigs|privateLinkServiceConnectionState\.description/,
    reason:
      "the recording has an account's names before the endpoint is there in some answers, and not in others",
  },
  { where: /ipAddress: "PUBLIC" and not "[\d.]+"/, reason: "an address of the recorded run" },
];
