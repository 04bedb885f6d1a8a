import type { Format } from "@postern/core/process/output.ts";
import { show, withOutput } from "@postern/core/process/output.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import { Command } from "commander";
import { checkedAt, healthFor } from "../view/health/times.ts";
import type { Branch } from "../view/tree.ts";
import { mark, notRead, paint, withConnection } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

/** `postern tree`: each cluster with its resources, and their state. */
export function command(): Command {
  return withOutput(withConnection(new Command("tree")))
    .description(
      "Show each cluster with its link service, private endpoint, DNS zones and records, and the state of each",
    )
    .argument("[name]", "cluster, as NAME or NAMESPACE/NAME (default: all)")
    .addHelpText(
      "after",
      `
Exit code 0: everything is healthy or in progress. 3: something failed, is missing, waits for approval or could not be read.

Examples:
  $ postern tree
  $ postern tree clusters/one -o wide`,
    )
    .action(async (name: string | undefined, options: ConnectOptions & { output: Format }) => {
      const [
        { withSession },
        { gatherWorld },
        { pictureOf },
        { unreadOf },
        { treeOf },
        { findClusterKey },
        { reportContradictions },
      ] = await Promise.all([
        import("./session.ts"),
        import("./gather-world.ts"),
        import("../view/picture.ts"),
        import("../view/places.ts"),
        import("../view/tree.ts"),
        import("./find-cluster-key.ts"),
        import("./request-reconcile.ts"),
      ]);
      await withSession(options, async (session) => {
        const world = await gatherWorld(session);
        const only =
          name === undefined ? undefined : findClusterKey(name, world.kube, world.unread);
        const picture = pictureOf(world, only);
        const branches = treeOf(picture);
        const { observedAt } = picture;
        const states = picture.nodes.map(({ state }) => state);
        const unread =
          only === undefined ? world.unread : unreadOf(only, world, states.includes("unknown"));
        const unserved = unread.filter(({ isUnserved }) => isUnserved);
        show(options.output, { observedAt, tree: branches, unread }, (wide) =>
          [
            ...notRead(unserved),
            ...branches.flatMap((each) => drawn(each, { first: "", rest: "", wide, observedAt })),
            ...(branches.length === 0 && unread.length === 0 ? ["No clusters found."] : []),
            ...notRead(unread.filter((each) => !each.isUnserved)),
            paint("grey", checkedAt(observedAt)),
          ].join("\n"),
        );
        const wrong = states.some((state) => state !== "ok" && state !== "working");
        if (wrong || unread.length > 0) process.exitCode = 3;
        await reportContradictions(session, world);
      });
    });
}

interface Place {
  /** What stands before the line of a branch, and before those below it. */
  first: string;
  rest: string;
  wide: boolean;
  observedAt: string;
}

function drawn(branch: Branch, place: Place): string[] {
  const { first, rest, wide, observedAt } = place;
  const { kind, label, state, health, since, reason, message, remedy, facts, under, azureId } =
    branch;
  const why = [reason, messageInSentences(message ?? "")].filter(Boolean).join(": ");
  const note = state === "ok" && !wide ? "" : [why, remedy].filter(Boolean).join("  ");
  const known = Object.entries(facts)
    .filter(([name, value]) => value && (wide || name !== "alias"))
    // What is below an endpoint is its owner's too.
    .filter(([name]) => name !== "owner" || kind === "endpoint")
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
  const line = [
    `${first}${mark(state)} ${paint("grey", kind.replace("-", " "))} ${label}`,
    health ? healthFor({ health, since }, observedAt) : "",
    known && paint("grey", known),
    note,
    wide && azureId ? paint("grey", azureId) : "",
  ]
    .filter(Boolean)
    .join("  ");
  return [
    line,
    ...under.flatMap((each, at) => {
      const last = at === under.length - 1;
      return drawn(each, {
        ...place,
        first: `${rest}${last ? "└─ " : "├─ "}`,
        rest: `${rest}${last ? "   " : "│  "}`,
      });
    }),
  ];
}
