import type { Cause, Stored } from "../resource.ts";
import { same } from "../schema/plain.ts";
import { changed, invalid, required } from "./causes.ts";
import { wrongQualifiedName } from "./names.ts";

/** An Event as it is stored. */
export interface Event {
  involvedObject?: Partial<Record<"kind" | "name" | "namespace" | "uid" | "fieldPath", string>> &
    Partial<Record<"apiVersion" | "resourceVersion", string>>;
  reason?: string;
  message?: string;
  type?: string;
  action?: string;
  count?: number;
  firstTimestamp?: string;
  lastTimestamp?: string;
  eventTime?: string;
  series?: { count?: number; lastObservedTime?: string };
  source?: { component?: string; host?: string };
  reportingComponent?: string;
  reportingInstance?: string;
  related?: unknown;
}

/** What is wrong with an Event, in whichever group it was written; one with an eventTime says who did what. */
export function eventProblems(stored: Stored, reporterField: string): Cause[] {
  const event = stored as Stored & Event;
  return event.eventTime ? newStyleProblems(event, reporterField) : namespaceProblems(event, []);
}

/** An Event about an object that has no namespace lies in `default`, or in one of `elsewhere`. */
function namespaceProblems(
  { metadata, involvedObject }: Stored & Event,
  elsewhere: string[],
): Cause[] {
  const { namespace = "" } = involvedObject ?? {};
  const own = metadata.namespace ?? "";
  const fits = namespace === "" ? ["default", ...elsewhere].includes(own) : namespace === own;
  if (fits) return [];
  return [invalid("involvedObject.namespace", namespace, "does not match event.namespace")];
}

function newStyleProblems(event: Stored & Event, reporterField: string): Cause[] {
  const { reportingComponent = "", reportingInstance = "", action = "", reason = "" } = event;
  // One that has another namespace than its object is taken here, though not in the older form.
  const causes = event.involvedObject?.namespace ? [] : namespaceProblems(event, ["kube-system"]);
  const why = wrongQualifiedName(reportingComponent);
  if (reportingComponent === "") causes.push(required(reporterField));
  if (why !== undefined) causes.push(invalid(reporterField, reportingComponent, why));
  for (const [field, value] of Object.entries({ reportingInstance, action, reason })) {
    if (value === "") causes.push(required(field));
    else if (value.length > 128) causes.push(invalid(field, "", "can have at most 128 characters"));
  }
  if ((event.message ?? "").length > 1024) {
    causes.push(invalid("message", "", "can have at most 1024 characters"));
  }
  return causes;
}

/** What is wrong with a new Event of the newer group beyond that: it must have the newer form. */
export function newEventProblems(event: Event): Cause[] {
  const causes = seriesProblems(event);
  if (!event.eventTime) causes.push(required("eventTime"));
  if (event.type !== "Normal" && event.type !== "Warning") {
    causes.push(invalid("type", "", `has invalid value: ${event.type ?? ""}`));
  }
  for (const field of ["firstTimestamp", "lastTimestamp", "count"] as const) {
    if (event[field]) causes.push(invalid(field, "", "needs to be unset"));
  }
  if (event.source?.component || event.source?.host) {
    causes.push(invalid("source", "", "needs to be unset"));
  }
  return causes;
}

function seriesProblems({ series }: Event): Cause[] {
  if (series === undefined) return [];
  const causes: Cause[] = [];
  if ((series.count ?? 0) < 2) causes.push(invalid("series.count", "", "should be at least 2"));
  if (!series.lastObservedTime) causes.push(required("series.lastObservedTime"));
  return causes;
}

const fixed = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingComponent",
  "reportingInstance",
] as const;

/** What may not change through the newer group: all but how often it was seen. */
export function changedEventProblems(event: Event, old: Event): Cause[] {
  const causes = same(event.series, old.series) ? [] : seriesProblems(event);
  for (const field of fixed) {
    if (same(event[field], old[field])) continue;
    const name = field === "reportingComponent" ? "reportingController" : field;
    causes.push(changed(name, event[field] ?? null));
  }
  return causes;
}
