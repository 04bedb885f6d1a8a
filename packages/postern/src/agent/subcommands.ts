/** What `postern agent` can do, and an example of each. */
export const subcommands = {
  run: {
    summary: "Register, stay until SIGTERM or until Azure terminates this machine, then deregister",
    example: "run --pool inspect --health-target http://127.0.0.1:9000/healthz --tunnel configure",
  },
  register: {
    summary: "Register this machine with the backend pool, and exit",
    example: "register --pool inspect --load-balancer gw",
  },
  deregister: {
    summary: "Deregister this machine from the backend pool, and exit",
    example: "deregister --pool inspect",
  },
  status: {
    summary: "Show whether this machine is in the backend pool; exit code 1 if it is not",
    example: "status --pool inspect --output json",
  },
  discover: {
    summary:
      "Show the identity of this machine and the backend pool it would join, without changing anything",
    example: "discover --pool inspect --resource-group security",
  },
} as const satisfies Record<string, { summary: string; example: string }>;

export type Subcommand = keyof typeof subcommands;

/** Whether a word names one. */
export function isSubcommand(name: string): name is Subcommand {
  return Object.hasOwn(subcommands, name);
}
