import type { Hop, Trace } from "@postern/core/dashboard/trace.ts";
import { plainName } from "@postern/core/dns-name.ts";
import { type Format, show, withOutput } from "@postern/core/process/output.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { Command } from "commander";
import { mark, notRead, paint, withConnection } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

/** `postern trace`: the path from a hostname to the machines behind it, and the hop that fails. */
export function command(): Command {
  return withOutput(withConnection(new Command("trace")))
    .description("Trace a hostname to the machines behind it, and show the hop that fails")
    .argument(
      "<host>",
      "hostname, such as api.one.hypershift.local; or a cluster as NAMESPACE/NAME, for all its hostnames",
    )
    .option("--from <network>", "trace only from this virtual network: its name or id")
    .addHelpText(
      "after",
      `
Exit code 0: the backends are reachable from every network that resolves the hostname. 3: a hop fails or cannot be read, or no
network resolves the hostname.

Examples:
  $ postern trace api.one.hypershift.local
  $ postern trace clusters/one`,
    )
    .action(async (target: string, options: ConnectOptions & { output: Format; from?: string }) => {
      const [
        { withSession },
        { checkNetwork, gatherCluster, gatherFor },
        { publishedBy, tracesOf },
        { unreadOf },
        { reportContradictions },
      ] = await Promise.all([
        import("./session.ts"),
        import("./run-trace.ts"),
        import("../view/trace.ts"),
        import("../view/places.ts"),
        import("./request-reconcile.ts"),
      ]);
      await withSession(options, async (session) => {
        const key = clusterIn(target);
        const { world, hosts } =
          key === undefined
            ? await gatherFor(session, hostIn(target))
            : await gatherCluster(session, key);
        checkNetwork(world, options.from);
        const traced = hosts.map((host) => {
          const traces = tracesOf(world, host, options.from);
          const known = traces.filter((each) => each.known);
          const publicOf = known.length === 0 ? publishedBy(world, host) : undefined;
          // Only private DNS is traced: a public hostname of the cluster is no failure of the cluster.
          const isFine = known.every(({ works }) => works);
          const fails = known.length === 0 ? key === undefined || publicOf === undefined : !isFine;
          return { host, traces, known, publicOf, fails };
        });
        const isUnknown = traced.some(
          ({ known, publicOf }) =>
            (known.length === 0 && publicOf === undefined) ||
            known.some(({ hops }) => hops.some(({ state }) => state === "unknown")),
        );
        const unread = key === undefined ? world.unread : unreadOf(key, world, isUnknown);
        const [only] = traced;
        const data =
          key === undefined
            ? { host: only?.host, traces: only?.traces, unread }
            : { cluster: key, hosts: traced.map(({ host, traces }) => ({ host, traces })), unread };
        show(options.output, data, () =>
          [
            ...traced.flatMap(({ host, traces, known, publicOf }) => [
              ...(key === undefined ? [] : [paint("bold", host)]),
              ...(key === undefined ? traces : known).map(render),
              ...(known.length === 0
                ? [
                    unknown(host, {
                      from: options.from,
                      cluster: publicOf,
                      hidden: unread.length > 0,
                    }),
                  ]
                : []),
            ]),
            ...notRead(unread),
          ].join("\n\n"),
        );
        if (traced.length === 0 || traced.some(({ fails }) => fails)) process.exitCode = 3;
        await reportContradictions(session, world);
      });
    });
}

/** The cluster in what a person typed; undefined if it is a hostname or a URL. */
function clusterIn(text: string): string | undefined {
  return /^[^/:]+\/[^/:]+$/.test(text) ? text : undefined;
}

function unknown(
  host: string,
  {
    from,
    cluster,
    hidden,
  }: { from: string | undefined; cluster: string | undefined; hidden: boolean },
): string {
  const zone = `${hidden ? "readable " : ""}private DNS zone`;
  const where = from ? `No ${zone} linked to ${from}` : `No ${zone}`;
  const found = `${where} has a record for ${host}.`;
  return cluster
    ? `${found} It is a public hostname of ${cluster}.\nRemedy: Query public DNS for it. Only private DNS is traced.`
    : `${found}\nRemedy: List the hostnames with postern tree. Public DNS is not traced.`;
}

/** The hostname in what a person typed, or pasted from a browser. */
function hostIn(text: string): string {
  const host = URL.canParse(text) && text.includes("://") ? new URL(text).hostname : text;
  const plain = plainName(host);
  if (/^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(plain)) return plain;
  throw new UsageError(`'${text}' is not a hostname: use one such as api.one.hypershift.local`);
}

/** The path from one network, as a person reads it. */
export function render({ network, hops, works, known }: Trace): string {
  const isUnknown = hops.at(-1)?.state === "unknown";
  const from =
    network !== undefined
      ? `From network ${network}`
      : isUnknown
        ? "From networks that cannot be read"
        : "No network is linked to the zone";
  const result = works
    ? paint("green", "reachable")
    : !known
      ? paint("grey", "hostname not resolved")
      : isUnknown
        ? paint("yellow", "unknown, because a hop cannot be read")
        : paint("red", "unreachable");
  return [`${from}: ${result}`, ...hops.flatMap(hopLines)].join("\n");
}

function hopLines({ what, name, state, found, remedy }: Hop): string[] {
  const line = `  ${mark(state)} ${paint("grey", what)} ${name}  ${found}`;
  return remedy ? [line, `      Remedy: ${remedy}`] : [line];
}
