import type { Subcommand } from "./subcommands.ts";

/** One option of `postern agent`. */
export interface AgentOption {
  /** What it takes, for the help: `name`. Without it, it is a switch. */
  takes?: string;
  help: string;
  /** Only for these; for all of them if nothing is said. */
  of?: readonly Subcommand[];
  /** The value where none is given. */
  usual?: string;
  /** What is shown as the value where none is given and the program decides. */
  shown?: string;
  /** The variable of the environment that stands in for it. */
  env?: string;
  needed?: boolean;
  choices?: readonly string[];
  /** What a value means; an Error whose message says what would be right where it means nothing. */
  read?: (text: string) => unknown;
}

const running = ["run"] as const;

/** Every option of the agent, by its name. Loading commander for them would cost half a start of Node. */
export const options: Readonly<Record<string, AgentOption>> = {
  pool: {
    takes: "name",
    help: "the backend pool, by its exact name",
    env: "POSTERN_POOL",
    needed: true,
  },
  "load-balancer": {
    takes: "name",
    help: "the Gateway load balancer, by name or resource id",
  },
  "resource-group": { takes: "name", help: "its resource group", shown: "the machine's" },
  subscription: { takes: "id", help: "its subscription", shown: "the machine's" },
  "client-id": { takes: "id", help: "the user-assigned identity to act by" },
  patience: {
    takes: "seconds",
    help: "how long to go on while something is not there yet",
    usual: "120",
    read: seconds,
  },
  "health-listen": {
    takes: "host:port",
    help: "where health probes are answered",
    of: running,
    usual: "0.0.0.0:8080",
    read: address,
  },
  "health-certificate": {
    takes: "file",
    help: "the certificate for HTTPS probes, in PEM; the port answers both kinds",
    of: running,
  },
  "health-key": { takes: "file", help: "its key", of: running },
  "health-target": {
    takes: "url",
    help: "healthy is what answers 200 here, or with tcp:// accepts a connection; asked for every probe",
    of: running,
    read: target,
  },
  "health-command": {
    takes: "command",
    help: "healthy is that this ends with 0; run by the shell for every probe, for 2.5 seconds at most",
    of: running,
    read: command,
  },
  "health-port-handover": {
    help: "close the port after registration: from then on the appliance listens there itself",
    of: running,
  },
  "health-start": {
    takes: "seconds",
    help: "how long the agent answers 200 for an appliance that is not healthy yet",
    usual: "300",
    of: running,
    read: seconds,
  },
  "no-health": {
    help: "the appliance answers the probes itself, from its first second",
    of: running,
  },
  tunnel: {
    takes: "way",
    help: "find the tunnel's interface, also make its links, or neither",
    of: running,
    usual: "find",
    choices: ["find", "configure", "none"],
  },
  "ingress-device-file": {
    takes: "file",
    help: "write the name of the interface to this file",
    of: running,
  },
  "ingress-device-env-file": {
    takes: "file",
    help: "set INGRESS_DEVICE in this file of variables",
    of: running,
  },
  "ingress-device-hook": {
    takes: "command",
    help: "run this with INGRESS_DEVICE set; empty to undo",
    of: running,
  },
  "metrics-listen": {
    takes: "host:port",
    help: "where /metrics is served",
    of: running,
    read: address,
  },
  "leave-within": {
    takes: "seconds",
    help: "how long leaving may take in all; half of it at most for draining",
    usual: "20",
    of: running,
    read: positive,
  },
  "no-events": { help: "do not look for events that end this machine", of: running },
  "join-by": {
    takes: "kind",
    help: "what joins; auto: what the pool already holds",
    of: ["run", "register"],
    usual: "auto",
    choices: ["auto", "address", "interface"],
  },
  imds: {
    takes: "url",
    help: "where the metadata service answers",
    shown: "http://169.254.169.254",
    read: url,
  },
  "resource-manager": {
    takes: "url",
    help: "where Azure answers, in a cloud of its own",
    read: url,
  },
  output: {
    takes: "format",
    help: "how the output and the log look",
    usual: "text",
    choices: ["text", "json"],
  },
  "log-level": {
    takes: "level",
    help: "what is logged",
    usual: "info",
    choices: ["debug", "info", "warn"],
  },
};

/** The options of one subcommand. */
export function optionsOf(subcommand: Subcommand): [string, AgentOption][] {
  return Object.entries(options).filter(([, { of }]) => of?.includes(subcommand) ?? true);
}

/** How an option is written: `--pool <name>`. */
export function formatOption([name, { takes }]: [string, AgentOption]): string {
  return takes === undefined ? `--${name}` : `--${name} <${takes}>`;
}

function url(text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new Error("give a URL, such as http://127.0.0.1:9000/healthz");
}

function target(text: string): URL {
  const found = URL.canParse(text) ? new URL(text) : undefined;
  const isTarget =
    /^https?:$/.test(found?.protocol ?? "") ||
    (found?.protocol === "tcp:" && found.hostname !== "" && found.port !== "");
  if (found !== undefined && isTarget) return found;
  throw new Error("give a URL, such as http://127.0.0.1:9000/healthz or tcp://127.0.0.1:9000");
}

function command(text: string): string {
  if (text.trim() !== "") return text;
  throw new Error("give a command, such as 'systemctl is-active --quiet firewall'");
}

function positive(text: string): number {
  const found = seconds(text);
  if (found > 0) return found;
  throw new Error("give a whole number of seconds, such as 20");
}

function seconds(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new Error("give a whole number of seconds, such as 120");
}

function address(text: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new Error("give HOST:PORT, such as 0.0.0.0:8080 or [::]:8080");
  return { host: match[1] ?? match[2] ?? "", port };
}
