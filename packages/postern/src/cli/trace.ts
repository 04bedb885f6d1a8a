import type { Hop, Trace } from "@postern/core/dashboard/trace.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { Command } from "commander";
import { type Format, mark, notRead, paint, show, withConnection, withOutput } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

/** `postern trace`: the way of a name, and the hop at which it breaks. */
export function command(): Command {
  return withOutput(withConnection(new Command("trace")))
    .description("follow a host name to the machines behind it, and say where the way breaks")
    .argument("<host>", "a name, such as api.one.hypershift.local")
    .option("--from <network>", "only as clients in this network see it: a name or an id")
    .addHelpText(
      "after",
      `
Exit code 0: the way is whole from every network that knows the name. 3: it breaks somewhere, cannot be
followed to its end, or no network knows the name.

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
  const seen = hidden ? " that can be seen" : "";
  const who = from
    ? `no private zone${seen} that is linked to ${from} knows ${host}`
    : `no private zone${seen} knows ${host}`;
  return cluster
    ? `${who}; it is a public name of ${cluster}\ndo this: ask the public DNS for it; only private names are traced here`
    : `${who}\ndo this: look at the names with postern tree; a name of the public DNS is not traced here`;
}

/** People paste what they have in their browser. */
function hostIn(text: string): string {
  const host = URL.canParse(text) && text.includes("://") ? new URL(text).hostname : text;
  const plain = host.toLowerCase().replace(/\.$/, "");
  if (/^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(plain)) return plain;
  throw new UsageError(`'${text}' is no host name: give one such as api.one.hypershift.local`);
}

function render({ network, hops, works, known }: Trace): string {
  const verdict = works
    ? paint("green", "works")
    : !known
      ? paint("grey", "does not know the name")
      : hops.at(-1)?.state === "unknown"
        ? paint("yellow", "cannot be followed to its end")
        : paint("red", "breaks");
  return [`from network ${network}: ${verdict}`, ...hops.flatMap(hopLines)].join("\n");
}

function hopLines({ what, name, state, found, remedy }: Hop): string[] {
  const line = `  ${mark(state)} ${paint("grey", what)} ${name}  ${found}`;
  return remedy ? [line, `      do this: ${remedy}`] : [line];
}
