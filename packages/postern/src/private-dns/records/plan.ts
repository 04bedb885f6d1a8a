import type { Failure } from "@postern/core/failure.ts";
import { nameOf, type ResourceId, sameId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import { act, done, fail, join, type Part, type Problem, wait } from "../../kube/part.ts";
import type { RecordStep } from "../steps.ts";
import { type DesiredRecords, recordId } from "./desired.ts";
import { isAsDesired, isInTheWay } from "./difference.ts";
import { type FoundRecord, foundRecords, type ObservedRecord, type RecordSet } from "./observed.ts";

/** What to do about a record set that exists: keep it as it is, write it, or what is said where it can be neither. */
export type RecordDecision = "keep" | "write" | Part<never>;

/** What a user wants of the record sets of a zone, and how it reports on them. */
export interface RecordPolicy {
  desired: readonly DesiredRecords[];
  /** By its owner, and by whether it answers as it should. */
  decide(record: FoundRecord, asDesired: boolean): RecordDecision;
  /** What is said of a record set that keeps another from being written; Azure refuses the write where this is left out. */
  conflict?(record: FoundRecord): Part<never>;
  /** Whether a record set is the user's own and wanted no more. */
  isUnwanted(record: FoundRecord): boolean;
  /** The metadata to write, with the owner in them. */
  metadataFor(found: RecordSet | undefined): Tags;
  report: RecordReport;
}

/** What is said of record sets. */
export interface RecordReport {
  /** A record set is being written. */
  writing: Problem;
  /** A record set is being changed, by us or by another. */
  changing: Problem;
  /** A record set is being deleted. */
  deleting?: Problem;
  /** Azure failed to write a record set. */
  failed(failure: Failure): Problem;
  /** A record set in a sentence. */
  named(record: FoundRecord): string;
}

interface ZoneWithRecords {
  id: ResourceId;
  records: readonly ObservedRecord[];
}

/** Create and correct the record sets that are desired, and delete those of ours that nothing wants any more. */
export function planRecords(zone: ZoneWithRecords, policy: RecordPolicy): Part<RecordStep> {
  const unwanted = foundRecords(zone)
    .filter((record) => policy.isUnwanted(record))
    .map((record) => deleteRecord(record, policy.report, "it is not wanted any more"));
  return join([
    ...policy.desired.map((desired) => planRecord(zone, desired, policy)),
    act(unwanted, unwanted.length > 0 ? policy.report.deleting : undefined),
  ]);
}

function planRecord(
  zone: ZoneWithRecords,
  desired: DesiredRecords,
  policy: RecordPolicy,
): Part<RecordStep> {
  const { report } = policy;
  const id = recordId(zone.id, desired);
  const observation = zone.records.find((each) => sameId(each.id, id))?.observation ?? {
    state: "absent",
  };
  if (observation.state === "changing") return wait(report.changing, observation.retryAfterMs);
  if (observation.state === "failed")
    return { ...fail(observation.failure), problems: [report.failed(observation.failure)] };
  const inTheWay = foundRecords(zone).find(({ found }) => isInTheWay(found, desired));
  if (inTheWay !== undefined && policy.conflict !== undefined) return policy.conflict(inTheWay);
  const found = observation.state === "exists" ? observation.resource : undefined;
  const decision = found
    ? policy.decide({ id, found }, isAsDesired(found, desired))
    : ("write" as const);
  if (decision === "keep") return done;
  if (decision !== "write") return decision;
  const { type, name, ttlSeconds, values } = desired;
  const step: RecordStep = {
    on: "record",
    verb: "write",
    do: found === undefined ? "create record" : "update record",
    name: `${name}.${nameOf(zone.id)}`,
    id,
    records: { type, name, ttlSeconds, values, metadata: policy.metadataFor(found) },
    ...(found === undefined ? { ifNoneMatch: "*" } : { ifMatch: found.etag }),
    why: found === undefined ? "it does not exist" : "it differs from what is desired",
  };
  return act([step], report.writing);
}

/** The step that deletes a record set. */
export function deleteRecord(
  record: FoundRecord,
  { named }: Pick<RecordReport, "named">,
  why: string,
): RecordStep {
  return {
    on: "record",
    verb: "delete",
    do: "delete record",
    name: named(record),
    id: record.id,
    ifMatch: record.found.etag,
    why,
  };
}
