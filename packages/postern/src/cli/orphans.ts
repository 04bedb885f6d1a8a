import { counted } from "@postern/core/counted.ts";
import { isExplained } from "@postern/core/failure.ts";
import { type Format, isText, print, show, withOutput } from "@postern/core/process/output.ts";
import { goOnUnheard } from "@postern/core/process/run-main.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import { Command } from "commander";
import type { Orphan } from "../view/orphans.ts";
import type { NamedOrphan } from "../view/orphans-by-name.ts";
import { notRead, table, withConnection } from "./output.ts";
import type { ConnectOptions, Session } from "./session.ts";

type OrphanOptions = ConnectOptions & {
  output: Format;
  delete?: boolean;
  cluster?: string[];
  resource?: string[];
  subscription?: string[];
};

/** `postern orphans`: Azure resources with Postern's tag whose object no longer exists. */
export function command(): Command {
  return withOutput(withConnection(new Command("orphans")))
    .description(
      "Find Azure resources that Postern created and whose Kubernetes object no longer exists",
    )
    .option(
      "--delete",
      "delete orphans of clusters that exist here, and of the clusters given with --cluster",
    )
    .option(
      "--cluster <id...>",
      "only orphans of this cluster id; with --delete also if no such cluster exists here (it may belong to another management cluster)",
    )
    .option(
      "--resource <id...>",
      "with --delete: also delete this resource, which was found only by its name",
    )
    .option(
      "--subscription <id...>",
      "also search this subscription; needed after the last cluster that used it was deleted",
    )
    .addHelpText(
      "after",
      `
The owner tag of a resource contains the id of a cluster and of the object that the resource was created for. If no cluster with
that id exists here, it was deleted or it belongs to another management cluster. Its resources are deleted only if --cluster names it.
Tags can be lost, so the command also searches for names that Postern computes. A resource with such a name, without an owner tag
and without an object in this cluster is listed by name. It may belong to somebody else, so it is deleted only if --resource names it.
The command searches AZURE_SUBSCRIPTION_ID, the subscriptions that objects name, and those given with --subscription. It searches
private DNS zones only, not public ones.
Exit code 0: there are no orphans, or all were deleted. 3: there are orphans, or something could not be read.

Examples:
  $ postern orphans
  $ postern orphans --cluster 6f1a0d5e-2c1b-4c55-9d0a-0c8f5d3a7e11
  $ postern orphans --delete
  $ postern orphans --delete --cluster 6f1a0d5e-2c1b-4c55-9d0a-0c8f5d3a7e11 --subscription bbbbbbbb-0000-4000-8000-000000000000
  $ postern orphans --delete --resource /subscriptions/…/providers/Microsoft.Network/privateEndpoints/private-router-pe`,
    )
    .action(async (options: OrphanOptions) => {
      if (options.resource && !options.delete) throw new UsageError("--resource requires --delete");
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
          if (isText(options.output)) print(`Deleting ${what} ${id}`);
          try {
            await remove();
            deleted.push(id);
          } catch (error) {
            session.signal.throwIfAborted();
            if (!isExplained(error)) throw error;
            failures.push({ id, why: error.explain().message });
          }
        };
        // The tagged contents of a zone are deleted before a zone that was found by name.
        for (const orphan of selected)
          await attempt(orphan, () => run.deleteOrphan(session, orphan));
        for (const orphan of named) await attempt(orphan, () => run.deleteByName(session, orphan));
        const isLeft = ({ id }: { id: string }) => !deleted.includes(id);
        const [left, leftByName] = [orphans.filter(isLeft), byName.filter(isLeft)];
        show(options.output, { orphans: left, byName: leftByName, deleted, failures, unread }, () =>
          [
            ...failures.map(({ id, why }) => `Not deleted: ${id}: ${messageInSentences(why)}`),
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

/** What was found by name only, listed separately: nothing proves that Postern created it. */
function listedByName(left: readonly NamedOrphan[]): string[] {
  if (left.length === 0) return [];
  const rows = left.map(({ what, id }) => [what, id]);
  return [
    "Found by name: these have names that Postern computes, no owner tag, and no object in this cluster.",
    table(["WHAT", "ID"], rows),
    "Check each of them. To delete one: postern orphans --delete --resource ID",
  ];
}

function render(
  left: readonly Orphan[],
  deleted: number,
  hidden: boolean,
  othersFollow: boolean,
): string {
  const done = deleted > 0 ? [`${counted(deleted, "resource")} deleted.`] : [];
  if (left.length === 0 && othersFollow) return done.join();
  if (left.length === 0)
    return [...done, `No orphaned resources found${hidden ? " in what could be read" : ""}.`].join(
      " ",
    );
  const rows = left.map(({ what, id, owner, elsewhere }) => [
    what,
    `${owner.clusterID}/${owner.uid}`,
    elsewhere.length === 0 ? "exists" : "not found",
    id,
  ]);
  const foreign = [...new Set(left.flatMap(({ elsewhere }) => elsewhere))];
  return [
    ...done,
    table(["WHAT", "OWNER", "CLUSTER", "ID"], rows),
    "",
    ...(left.some(({ elsewhere }) => elsewhere.length === 0)
      ? ["Delete those whose cluster exists: postern orphans --delete"]
      : []),
    ...(foreign.length > 0
      ? [
          `Not found: ${foreign.join(", ")}. They may belong to another management cluster. If they are deleted for good, pass them to --cluster.`,
        ]
      : []),
  ].join("\n");
}
