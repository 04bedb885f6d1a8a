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
