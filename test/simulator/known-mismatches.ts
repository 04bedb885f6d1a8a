/** Recorded interactions that the simulator answers differently on purpose, and why. */
export const knownMismatches: Readonly<Record<string, string>> = {
  "virtualnetworkclient#6":
    "Azure answered 201 to a write that changed nothing on a network that was there; every other recording of such a write has 200",
};
