import type { ApplianceContext } from "./context.ts";
import { ApplianceError } from "./errors.ts";
import type { GWLBConfig } from "./gwlb-config.ts";

/** The links that lead through this machine: what comes out of one tunnel goes into the other. */
export interface TunnelLinks {
  names: string[];
  /** Take them away again. */
  remove(): Promise<void>;
  /** What each tunnel has carried so far. */
  packets(): Promise<{ link: string; received: number; sent: number }[]>;
}

/** Where links are made. */
export interface LinkOptions {
  /** The network namespace of the appliance, where it has its own. */
  namespace?: string | undefined;
}

type Wiring = Pick<GWLBConfig, "tunnels" | "frontendIPs" | "privateIP">;

const bridge = "gwlb-bridge";
/** On every link that we made. One of our names without it is somebody else's, and stays. */
const alias = "postern-agent";
/** How a link is called until it is marked: an agent that is killed in between must know it for its own. */
const unmarked = "postern-new";

interface ObservedLink {
  ifname: string;
  ifalias?: string;
  stats64?: { rx?: { packets?: number }; tx?: { packets?: number } };
}

/** The commands, in their order, that make the links on a device. */
export function linkCommands(
  { tunnels, frontendIPs, privateIP }: Wiring,
  device: string,
): string[][] {
  const [remote = ""] = frontendIPs;
  const marked = (name: string) => [
    ["link", "set", unmarked, "alias", alias],
    ["link", "set", unmarked, "name", name],
  ];
  const port = (name: string) => [
    ["link", "set", name, "master", bridge],
    // Both directions of a connection may carry the same two MACs: a bridge that learns would drop one of them.
    ["link", "set", name, "type", "bridge_slave", "learning", "off"],
    ["link", "set", name, "up"],
  ];
  return [
    ["link", "add", unmarked, "type", "bridge"],
    ...marked(bridge),
    ...tunnels.flatMap(({ type, port: number, identifier }) => {
      const name = linkName(type);
      const tunnel = ["id", String(identifier), "local", privateIP, "remote", remote];
      const where = ["dstport", String(number), "dev", device, "nolearning"];
      const add = ["link", "add", unmarked, "type", "vxlan", ...tunnel, ...where];
      return [add, ...marked(name), ...port(name)];
    }),
    ["link", "set", bridge, "up"],
  ];
}

/**
 * Make a link for each tunnel and a bridge between them. What an agent left that was killed is made anew; where one of
 * them cannot be made, none is left.
 */
export async function makeTunnelLinks(
  config: Wiring,
  device: string,
  options: LinkOptions = {},
): Promise<TunnelLinks> {
  const what = "make the links of the tunnel";
  if (config.frontendIPs.length === 0) throw new ApplianceError({ code: "FrontendMissing", what });
  const ip = runner(options, what);
  const names = [...config.tunnels.map(({ type }) => linkName(type)), bridge];
  const isOwned = ({ ifname, ifalias }: ObservedLink) =>
    ifname === unmarked || (names.includes(ifname) && ifalias === alias);
  const observeOwned = async () => (await observeLinks(ip)).filter(isOwned);
  const others = (await observeLinks(ip))
    .filter((link) => names.includes(link.ifname) && !isOwned(link))
    .map(({ ifname }) => ifname);
  if (others.length > 0)
    throw new ApplianceError({ code: "TunnelLinkTaken", what, detail: others.join(", ") });
  const remove = async () => {
    for (const { ifname } of await observeOwned()) await ip(["link", "del", ifname]);
  };
  await remove();
  try {
    for (const command of linkCommands(config, device)) await ip(command);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    names,
    remove,
    packets: async () =>
      (await observeOwned())
        .filter(({ ifname }) => ifname !== bridge)
        .map(({ ifname, stats64 }) => ({
          link: ifname,
          received: stats64?.rx?.packets ?? 0,
          sent: stats64?.tx?.packets ?? 0,
        })),
  };
}

/** Tell the collector what the tunnels have carried. What cannot be read now is told the next time. */
export async function reportPackets(
  { metrics, log }: Pick<ApplianceContext, "metrics" | "log">,
  links: Pick<TunnelLinks, "packets"> | undefined,
): Promise<void> {
  try {
    for (const { link, received, sent } of (await links?.packets()) ?? []) {
      metrics.tunnelPackets(link, "received", received);
      metrics.tunnelPackets(link, "sent", sent);
    }
  } catch (error) {
    log.warn({ error: String(error) }, "the packets of the tunnels cannot be counted for now");
  }
}

function linkName(type: "Internal" | "External"): string {
  return `gwlb-${type.toLowerCase()}`;
}

type Ip = (args: readonly string[]) => Promise<string>;

async function observeLinks(ip: Ip): Promise<ObservedLink[]> {
  const text = await ip(["-j", "-s", "link", "show"]);
  return text.trim() === "" ? [] : (JSON.parse(text) as ObservedLink[]);
}

function runner({ namespace }: LinkOptions, what: string): Ip {
  const before = namespace === undefined ? [] : ["-n", namespace];
  return (args) =>
    new Promise((resolve, reject) => {
      // Loaded here: most agents start no other process.
      const { execFile } = process.getBuiltinModule("node:child_process");
      execFile("ip", [...before, ...args], { timeout: 10_000 }, (cause, stdout, stderr) => {
        if (cause === null) return resolve(stdout);
        const output = stderr.trim().split("\n")[0] || cause.message;
        const detail = `ip ${args.join(" ")}: ${output}`;
        reject(new ApplianceError({ code: "TunnelLinksRefused", what, detail, cause }));
      });
    });
}
