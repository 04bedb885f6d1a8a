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
    help: "exact name of the backend pool",
    env: "POSTERN_POOL",
    needed: true,
  },
  "load-balancer": {
    takes: "name",
    help: "name or resource id of the Gateway load balancer",
  },
  "resource-group": {
    takes: "name",
    help: "resource group of the load balancer",
    shown: "the machine's",
  },
  subscription: { takes: "id", help: "subscription of the load balancer", shown: "the machine's" },
  "client-id": { takes: "id", help: "client id of the user-assigned managed identity to use" },
  patience: {
    takes: "seconds",
    help: "how long to retry while something does not exist yet",
    usual: "120",
    read: seconds,
  },
  "health-listen": {
    takes: "host:port",
    help: "address on which the agent answers health probes",
    of: running,
    usual: "0.0.0.0:8080",
    read: address,
  },
  "health-certificate": {
    takes: "file",
    help: "certificate for HTTPS probes, in PEM; the port serves HTTP and HTTPS",
    of: running,
  },
  "health-key": { takes: "file", help: "key of that certificate", of: running },
  "health-target": {
    takes: "url",
    help: "the appliance is healthy if this URL returns 200, or with tcp:// accepts a connection; checked for every probe",
    of: running,
    read: target,
  },
  "health-command": {
    takes: "command",
    help: "the appliance is healthy if this shell command exits with 0; run for every probe, for at most 2.5 seconds",
    of: running,
    read: command,
  },
  "health-port-handover": {
    help: "close the port after registration, so that the appliance can listen on it",
    of: running,
  },
  "health-start": {
    takes: "seconds",
    help: "how long the agent answers 200 while the appliance is not healthy yet",
    usual: "300",
    of: running,
    read: seconds,
  },
  "no-health": {
    help: "the appliance answers the probes itself, from the start",
    of: running,
  },
  tunnel: {
    takes: "way",
    help: "find the tunnel's interface, also create its links (configure), or neither",
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
    help: "set INGRESS_DEVICE in this environment file",
    of: running,
  },
  "ingress-device-hook": {
    takes: "command",
    help: "run this command with INGRESS_DEVICE set; it is empty to revert",
    of: running,
  },
  "metrics-listen": {
    takes: "host:port",
    help: "address for /metrics",
    of: running,
    read: address,
  },
  "leave-within": {
    takes: "seconds",
    help: "time limit for deregistration; at most half of it is used for draining",
    usual: "20",
    of: running,
    read: positive,
  },
  "no-events": { help: "do not watch for events that terminate this machine", of: running },
  "join-by": {
    takes: "kind",
    help: "type of the pool member; auto: the type that the pool already has",
    of: ["run", "register"],
    usual: "auto",
    choices: ["auto", "address", "interface"],
  },
  imds: {
    takes: "url",
    help: "address of the metadata service",
    shown: "http://169.254.169.254",
    read: url,
  },
  "resource-manager": {
    takes: "url",
    help: "Resource Manager endpoint, for other clouds",
    read: url,
  },
  output: {
    takes: "format",
    help: "format of output and log",
    usual: "text",
    choices: ["text", "json"],
  },
  "log-level": {
    takes: "level",
    help: "minimum level to log",
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
  throw new Error("use a URL, such as http://127.0.0.1:9000/healthz");
}

function target(text: string): URL {
  const found = URL.canParse(text) ? new URL(text) : undefined;
  const isTarget =
    /^https?:$/.test(found?.protocol ?? "") ||
    (found?.protocol === "tcp:" && found.hostname !== "" && found.port !== "");
  if (found !== undefined && isTarget) return found;
  throw new Error("use a URL, such as http://127.0.0.1:9000/healthz or tcp://127.0.0.1:9000");
}

function command(text: string): string {
  if (text.trim() !== "") return text;
  throw new Error("use a command, such as 'systemctl is-active --quiet firewall'");
}

function positive(text: string): number {
  const found = seconds(text);
  if (found > 0) return found;
  throw new Error("use a whole number of seconds, such as 20");
}

function seconds(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new Error("use a whole number of seconds, such as 120");
}

function address(text: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new Error("use HOST:PORT, such as 0.0.0.0:8080 or [::]:8080");
  return { host: match[1] ?? match[2] ?? "", port };
}
