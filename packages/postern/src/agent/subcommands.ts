/** What `postern agent` can do, and an example of each. */
export const subcommands = {
  run: {
    summary: "join, stay until SIGTERM or until Azure ends this machine, then leave",
    example: "run --pool inspect --health-target http://127.0.0.1:9000/healthz --tunnel configure",
  },
  register: {
    summary: "put this machine into the pool and end",
    example: "register --pool inspect --load-balancer gw",
  },
  deregister: {
    summary: "take this machine's own entry out of the pool and end",
    example: "deregister --pool inspect",
  },
  status: {
    summary: "say whether this machine is in the pool; exit code 1 where it is not",
    example: "status --pool inspect --output json",
  },
  discover: {
    summary: "say which machine this is and which pool it would join; writes nothing",
    example: "discover --pool inspect --resource-group security",
  },
} as const satisfies Record<string, { summary: string; example: string }>;

export type Subcommand = keyof typeof subcommands;

/** Whether a word names one. */
export function isSubcommand(name: string): name is Subcommand {
  return Object.hasOwn(subcommands, name);
}
