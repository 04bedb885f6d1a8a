import type { Hop, Trace } from "@postern/core/dashboard/trace.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { Command } from "commander";
import { type Format, mark, notRead, paint, show, withConnection, withOutput } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

/** `postern trace`: the path from a hostname to the machines behind it, and the hop that fails. */
export function command(): Command {
  return withOutput(withConnection(new Command("trace")))
    .description("Trace a hostname to the machines behind it, and show the hop that fails")
    .argument("<host>", "hostname, such as api.one.hypershift.local")
    .option("--from <network>", "trace only from this virtual network: its name or id")
    .addHelpText(
      "after",
      `
Exit code 0: the backends are reachable from every network that resolves the hostname. 3: a hop fails or cannot be read, or no
network resolves the hostname.

Example:
  $ postern trace api.one.hypershift.local`,
    )
    .action(async (host: string, options: ConnectOptions & { output: Format; from?: string }) => {
      const [
        { withSession },
        { checkNetwork, gatherFor },
        { publishedBy, tracesOf },
        { reportContradictions },
      ] = await Promise.all([
        import("./session.ts"),
        import("./run-trace.ts"),
        import("../view/trace.ts"),
        import("./request-reconcile.ts"),
      ]);
      await withSession(options, async (session) => {
        const wanted = hostIn(host);
        const world = await gatherFor(session, wanted);
        checkNetwork(world, options.from);
        const traces = tracesOf(world, wanted, options.from);
        const known = traces.filter((each) => each.known);
        show(options.output, { host: wanted, traces, unread: world.unread }, () =>
          [
            ...traces.map(render),
            ...(known.length === 0
              ? [
                  unknown(wanted, {
                    from: options.from,
                    cluster: publishedBy(world, wanted),
                    hidden: world.unread.length > 0,
                  }),
                ]
              : []),
            ...notRead(world.unread),
          ].join("\n\n"),
        );
        if (known.length === 0 || known.some(({ works }) => !works)) process.exitCode = 3;
        await reportContradictions(session, world);
      });
    });
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
  const plain = host.toLowerCase().replace(/\.$/, "");
  if (/^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(plain)) return plain;
  throw new UsageError(`'${text}' is not a hostname: use one such as api.one.hypershift.local`);
}

function render({ network, hops, works, known }: Trace): string {
  const result = works
    ? paint("green", "reachable")
    : !known
      ? paint("grey", "hostname not resolved")
      : hops.at(-1)?.state === "unknown"
        ? paint("yellow", "unknown, because a hop cannot be read")
        : paint("red", "unreachable");
  return [`From network ${network}: ${result}`, ...hops.flatMap(hopLines)].join("\n");
}

function hopLines({ what, name, state, found, remedy }: Hop): string[] {
  const line = `  ${mark(state)} ${paint("grey", what)} ${name}  ${found}`;
  return remedy ? [line, `      Remedy: ${remedy}`] : [line];
}
