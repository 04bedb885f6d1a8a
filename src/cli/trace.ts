import { Command } from "commander";
import type { Hop, Trace } from "../view/trace.ts";
import { type Format, mark, paint, print, show, withConnection, withOutput } from "./output.ts";
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
Exit code 0: the way is whole from every network that knows the name. 3: it breaks somewhere, or nobody knows the name.

Example:
  $ postern trace api.one.hypershift.local`,
    )
    .action(async (host: string, options: ConnectOptions & { output: Format; from?: string }) => {
      const [{ withSession }, { gather }, { tracesOf }] = await Promise.all([
        import("./session.ts"),
        import("../view/gather.ts"),
        import("../view/trace.ts"),
      ]);
      await withSession(options, async ({ kube, reading: arm, signal, env }) => {
        const wanted = host.toLowerCase().replace(/\.$/, "");
        const world = await gather({
          kube,
          arm,
          signal,
          subscriptions: env.AZURE_SUBSCRIPTION_ID ? [env.AZURE_SUBSCRIPTION_ID] : [],
          zones: ({ name = "" }) => `.${wanted}`.endsWith(`.${name.toLowerCase()}`) || name === "",
        });
        const traces = tracesOf(world, wanted, options.from);
        show(options.output, { host: wanted, traces, unread: world.unread }, () =>
          traces.map(told).join("\n\n"),
        );
        if (traces.length === 0 && (options.output === "text" || options.output === "wide"))
          print(
            `no private zone ${options.from ? `that is linked to ${options.from} ` : ""}knows ${wanted}\n` +
              "do this: look at the names with postern tree; a name of the public DNS is not traced here",
          );
        if (traces.length === 0 || traces.some(({ works }) => !works)) process.exitCode = 3;
      });
    });
}

function told({ network, hops, works }: Trace): string {
  const verdict = works ? paint("green", "works") : paint("red", "breaks");
  return [`from network ${network}: ${verdict}`, ...hops.flatMap(hopLines)].join("\n");
}

function hopLines({ what, name, state, found, remedy }: Hop): string[] {
  const line = `  ${mark(state)} ${paint("grey", what)} ${name}  ${found}`;
  return remedy ? [line, `      do this: ${remedy}`] : [line];
}
