import type { Cause, Resource, Stored } from "../resource.ts";
import { builtIn } from "./built-in.ts";
import { columns, commonFields, event, source } from "./event.ts";
import {
  changedEventProblems,
  type Event,
  eventProblems,
  newEventProblems,
} from "./event-rules.ts";
import { int32, text, time } from "./fields.ts";
import { objectReference } from "./references.ts";

/** The names of fields here, and those under which an Event is stored. */
const renamed = {
  regarding: "involvedObject",
  note: "message",
  reportingController: "reportingComponent",
  deprecatedCount: "count",
  deprecatedFirstTimestamp: "firstTimestamp",
  deprecatedLastTimestamp: "lastTimestamp",
  deprecatedSource: "source",
} as const;

const toStored: Readonly<Record<string, string>> = renamed;
const toShown: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(renamed).map(([shown, stored]) => [stored, shown]),
);

/** The same Events, in the words of the newer group. */
export const newEvent: Resource = builtIn({
  group: "events.k8s.io",
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  namespaced: true,
  description: "Something that happened to an object.",
  properties: {
    ...commonFields,
    deprecatedCount: int32("How often it was seen, in the older form."),
    deprecatedFirstTimestamp: time("When it was first seen, in the older form."),
    deprecatedLastTimestamp: time("When it was last seen, in the older form."),
    deprecatedSource: source,
    note: text("What happened, for a person."),
    regarding: objectReference("The object that it happened to."),
    reportingController: text("The controller that reports it."),
  },
  columns: columns.map((each) => ({
    ...each,
    value: (object, now) => {
      // Columns of both groups read the stored form.
      return typeof each.value === "string" ? undefined : each.value(take(object), now);
    },
  })),
  strategy: { prepare, problems },
  fieldSelectors: {
    ...Object.fromEntries(
      Object.entries(event.fieldSelectors ?? {}).map(([name, read]) => [
        name
          .replace(/^involvedObject/, "regarding")
          .replace("reportingComponent", "reportingController"),
        (object: Stored) => read(take(object)),
      ]),
    ),
  },
  view: { of: { group: "", plural: "events" }, show, take },
});

/** A stored Event in the words of the newer group. */
function show(stored: Stored): Stored {
  return { ...withNames(stored, toShown), apiVersion: "events.k8s.io/v1" };
}

/** The other way. */
function take(object: Stored): Stored {
  return { ...withNames(object, toStored), apiVersion: "v1" };
}

function withNames(object: Stored, names: Readonly<Record<string, string>>): Stored {
  const entries = Object.entries(object).map(([name, value]) => [names[name] ?? name, value]);
  return Object.fromEntries(entries) as Stored;
}

/** Completed as it is stored, so that both groups tell the same. */
function prepare(object: Stored, old: Stored | undefined, others: () => Iterable<Stored>): Stored {
  const before = old && take(old);
  return show(event.strategy?.prepare?.(take(object), before, others) ?? take(object));
}

/** Told in the words of the stored form, as the API server does. */
function problems(object: Stored, old: Stored | undefined): Cause[] {
  const stored = take(object);
  const common = eventProblems(stored, "reportingController");
  if (old === undefined) return [...common, ...newEventProblems(stored as Event)];
  return [...common, ...changedEventProblems(stored as Event, take(old) as Event)];
}
