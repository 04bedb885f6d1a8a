import type { Cause, Resource, Stored } from "../resource.ts";
import { ageOf } from "./ages.ts";
import { builtIn, column, wide } from "./built-in.ts";
import { type Event, eventProblems } from "./event-rules.ts";
import { fields, int32, microTime, text, time } from "./fields.ts";
import { objectReference } from "./references.ts";

/** What both forms of an Event say in the same words. */
export const commonFields = {
  action: text("What was done."),
  eventTime: microTime("When it was first seen, to the microsecond."),
  reason: text("Why, in one word."),
  related: objectReference("Another object that it is about."),
  reportingInstance: text("Which instance of the reporter it was."),
  series: fields("How often it was seen since, where it goes on.", {
    count: int32("How often."),
    lastObservedTime: microTime("When it was last seen."),
  }),
  type: text("Normal or Warning."),
};

/** Who an Event came from, in the older form. */
export const source = fields("Who it came from.", {
  component: text("The program."),
  host: text("The node that it runs on."),
});

const wideColumns = {
  part: wide("Subobject", (object) => (object as Event).involvedObject?.fieldPath ?? ""),
  source: wide("Source", sourceOf),
  firstSeen: wide("First Seen", firstSeen),
  count: wide("Count", countOf),
  name: { ...wide("Name", (object) => object.metadata.name), format: "name" },
};

/** The columns of Events in both groups; they read the stored form. */
export const columns = [
  column("Last Seen", lastSeen),
  column("Type", (object) => (object as Event).type ?? ""),
  column("Reason", (object) => (object as Event).reason ?? ""),
  column("Object", target),
  wideColumns.part,
  wideColumns.source,
  column("Message", (object) => ((object as Event).message ?? "").trim()),
  wideColumns.firstSeen,
  wideColumns.count,
  wideColumns.name,
];

const involved = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

/** Something that happened to an object, as the core group writes it. All Events are stored like this. */
export const event: Resource = builtIn({
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  namespaced: true,
  description: "Something that happened to an object.",
  properties: {
    ...commonFields,
    count: int32("How often it was seen."),
    firstTimestamp: time("When it was first seen."),
    involvedObject: objectReference("The object that it happened to."),
    lastTimestamp: time("When it was last seen."),
    message: text("What happened, for a person."),
    reportingComponent: text("The controller that reports it."),
    source,
  },
  required: ["involvedObject"],
  columns,
  strategy: { prepare, problems, names: "path-segment" },
  fieldSelectors: {
    ...Object.fromEntries(
      involved.map((name) => [
        `involvedObject.${name}`,
        (object: Stored) =>
          (object as { involvedObject?: Record<string, string> }).involvedObject?.[name] ?? "",
      ]),
    ),
    reason: (object) => (object as Event).reason ?? "",
    reportingComponent: (object) => (object as Event).reportingComponent ?? "",
    source: (object) =>
      (object as Event).source?.component || (object as Event).reportingComponent || "",
    type: (object) => (object as Event).type ?? "",
  },
});

const times = { eventTime: null, firstTimestamp: null, lastTimestamp: null };

/** Some fields are always there, and empty where nothing is said. */
function prepare(object: Stored): Stored {
  const { reportingComponent = "", reportingInstance = "", source: from = {} } = object as Event;
  return { ...times, ...object, reportingComponent, reportingInstance, source: from };
}

function problems(object: Stored): Cause[] {
  return eventProblems(object, "reportingComponent");
}

function target(object: Stored): string {
  const { kind = "", name } = (object as Event).involvedObject ?? {};
  return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase();
}

function firstSeen(object: Stored, now: number): string {
  const { firstTimestamp, eventTime } = object as Event;
  return ageOf(firstTimestamp || eventTime, now);
}

function lastSeen(object: Stored, now: number): string {
  const { series, lastTimestamp } = object as Event;
  if (series) return ageOf(series.lastObservedTime, now);
  return lastTimestamp ? ageOf(lastTimestamp, now) : firstSeen(object, now);
}

function countOf(object: Stored): number {
  const { series, count } = object as Event;
  return series?.count ?? (count || 1);
}

function sourceOf(object: Stored): string {
  const { source: from = {}, reportingComponent, reportingInstance } = object as Event;
  const where = from.host || reportingInstance || "";
  const who = from.component || reportingComponent || "";
  return where === "" ? who : `${who}, ${where}`;
}
