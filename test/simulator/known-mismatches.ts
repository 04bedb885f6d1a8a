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
    where: /resource[gG]roups\/\S* body \.tags/,
    reason: "a policy of the recorded subscription tags groups",
  },
  {
    where: /resource[gG]roups\/\S* body \.type/,
    reason: "recorded in 2018, when groups did not show their type",
  },
  { where: /signingKeys/, reason: "DNSSEC is not done" },
  {
    where: /sysgen\.cloudapp/,
    reason: "the hash that domainNameLabelScope puts into a name is not done",
  },
  {
    where: /applicationGateways|DeploymentFailed/,
    reason: "application gateways are not done",
  },
  {
    where: /networkInterfaces\/CLITESTNIC/,
    reason: "the recorder replaced the name of the group, but not where Azure wrote it in capitals",
  },
  {
    where: /virtualNetworkGateways/,
    reason: "gateways, whose configurations a subnet shows, are not done",
  },
  { where: /storageAccounts\/\S+ body/, reason: "an account is a name for endpoints to lead to" },
  {
    where: /autoApprovedPrivateLinkServices/,
    reason: "the subscription had services beside those of the test",
  },
  { where: /\.duration: /, reason: "two deployments of one recording have no duration" },
];
