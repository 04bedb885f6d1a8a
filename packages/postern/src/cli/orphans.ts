import { isExplained } from "@postern/core/failure.ts";
import { goOnUnheard } from "@postern/core/process/run-main.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { Command } from "commander";
import type { Orphan } from "../view/orphans.ts";
import type { NamedOrphan } from "../view/orphans-by-name.ts";
import {
  type Format,
  isText,
  notRead,
  print,
  show,
  table,
  withConnection,
  withOutput,
} from "./output.ts";
import type { ConnectOptions, Session } from "./session.ts";

type OrphanOptions = ConnectOptions & {
  output: Format;
  delete?: boolean;
  cluster?: string[];
  resource?: string[];
  subscription?: string[];
};

/** `postern orphans`: what carries our tag and belongs to no object. */
export function command(): Command {
  return withOutput(withConnection(new Command("orphans")))
    .description("find what Postern made in Azure and what belongs to no object any more")
    .option(
      "--delete",
      "delete those whose cluster is here, and those of the clusters that are named",
    )
    .option(
      "--cluster <id...>",
      "only those of this cluster, by its id; with --delete also where the cluster is not here: it may be another management cluster's",
    )
    .option(
      "--resource <id...>",
      "with --delete: also this resource, which was found by its name only",
    )
    .option(
      "--subscription <id...>",
      "look in this subscription too: no object names it any more when its last cluster is gone",
    )
    .addHelpText(
      "after",
      `
An owner is the id of a cluster and of the object that something was made for. Where no cluster of that id is here, it may have
been deleted, or it may belong to another management cluster: such a thing is deleted only where its cluster is named.
Tags can be lost, so it also searches for the names that Postern computes. What has such a name, no tag that names an owner, and
no object in this cluster is listed by name. It may belong to somebody else: it is deleted only where --resource names it.
It looks in AZURE_SUBSCRIPTION_ID, in the subscriptions that objects name, and in those that are given. Only private zones are looked
at, not those of the public DNS.
Exit code 0: there is none, or all were deleted. 3: there are some, or something could not be read.

Examples:
  $ postern orphans
  $ postern orphans --cluster 6f1a0d5e-2c1b-4c55-9d0a-0c8f5d3a7e11
  $ postern orphans --delete
  $ postern orphans --delete --cluster 6f1a0d5e-2c1b-4c55-9d0a-0c8f5d3a7e11 --subscription bbbbbbbb-0000-4000-8000-000000000000
  $ postern orphans --delete --resource /subscriptions/…/providers/Microsoft.Network/privateEndpoints/private-router-pe`,
    )
    .action(async (options: OrphanOptions) => {
      if (options.resource && !options.delete)
        throw new UsageError("--resource names what --delete deletes: give both");
      const [{ withSession }, run] = await Promise.all([
        import("./session.ts"),
        import("./run-orphans.ts"),
      ]);
      await withSession(options, async (session: Session) => {
        if (options.delete) goOnUnheard();
        const found = run.ofClusters(
          await run.findOrphans(session, options.subscription),
          options.delete ? undefined : options.cluster,
        );
        const { orphans, byName, unread } = found;
        const selected = options.delete ? run.deletableOrphans(orphans, options.cluster) : [];
        const named = run.deletableByName(found, selected, options.resource);
        const deleted: string[] = [];
        const failures: { id: string; why: string }[] = [];
        const attempt = async ({ id, what }: Orphan | NamedOrphan, remove: () => Promise<void>) => {
          if (isText(options.output)) print(`deleting ${what} ${id}`);
          try {
            await remove();
            deleted.push(id);
          } catch (error) {
            session.signal.throwIfAborted();
            if (!isExplained(error)) throw error;
            failures.push({ id, why: error.explain().message });
          }
        };
        // What is in a zone by tag is deleted before a zone that was found by name.
        for (const orphan of selected)
          await attempt(orphan, () => run.deleteOrphan(session, orphan));
        for (const orphan of named) await attempt(orphan, () => run.deleteByName(session, orphan));
        const isLeft = ({ id }: { id: string }) => !deleted.includes(id);
        const [left, leftByName] = [orphans.filter(isLeft), byName.filter(isLeft)];
        show(options.output, { orphans: left, byName: leftByName, deleted, failures, unread }, () =>
          [
            ...failures.map(({ id, why }) => `not deleted: ${id}: ${why}`),
            ...notRead(unread),
            render(left, deleted.length, unread.length > 0, leftByName.length > 0),
            ...listedByName(leftByName),
          ]
            .filter(Boolean)
            .join("\n"),
        );
        if (failures.length > 0) process.exitCode = 1;
        else if (left.length + leftByName.length + unread.length > 0) process.exitCode = 3;
      });
    });
}

/** What was found by name only, apart from the rest: nothing proves that it is Postern's. */
function listedByName(left: readonly NamedOrphan[]): string[] {
  if (left.length === 0) return [];
  const rows = left.map(({ what, id }) => [what, id]);
  return [
    "by name: these have names that Postern computes, no tag that names an owner, and no object in this cluster",
    table(["WHAT", "ID"], rows),
    "check each of them; to delete one: postern orphans --delete --resource ID",
  ];
}

function render(
  left: readonly Orphan[],
  deleted: number,
  hidden: boolean,
  othersFollow: boolean,
): string {
  const done = deleted > 0 ? [`${deleted} deleted`] : [];
  if (left.length === 0 && othersFollow) return done.join();
  if (left.length === 0)
    return [
      ...done,
      `nothing ${hidden ? "that can be seen" : "in Azure"} is without its object`,
    ].join("; ");
  const rows = left.map(({ what, id, owner, elsewhere }) => [
    what,
    `${owner.clusterID}/${owner.uid}`,
    elsewhere.length === 0 ? "here" : "not here",
    id,
  ]);
  const foreign = [...new Set(left.flatMap(({ elsewhere }) => elsewhere))];
  return [
    ...done,
    table(["WHAT", "OWNER", "CLUSTER", "ID"], rows),
    "",
    ...(left.some(({ elsewhere }) => elsewhere.length === 0)
      ? ["delete those whose cluster is here: postern orphans --delete"]
      : []),
    ...(foreign.length > 0
      ? [
          `not here: ${foreign.join(", ")}; another management cluster may have them: only if they are gone for good, name them with --cluster`,
        ]
      : []),
  ].join("\n");
}
