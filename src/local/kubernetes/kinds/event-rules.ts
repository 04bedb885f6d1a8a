import type { Cause } from "../resource.ts";
import { invalid, notSupported, required } from "./causes.ts";
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

/** What is wrong with an Event that has an eventTime: such a one says who reports it, and what was done. */
export function newStyleProblems(event: Event): Cause[] {
  const { reportingComponent = "", reportingInstance = "", action = "", reason = "" } = event;
  const causes: Cause[] = [];
  const why = wrongQualifiedName(reportingComponent);
  if (reportingComponent === "") causes.push(required("reportingController"));
  else if (why !== undefined) causes.push(invalid("reportingController", reportingComponent, why));
  for (const [field, value] of Object.entries({ reportingInstance, action, reason })) {
    if (value === "") causes.push(required(field));
    else if (value.length > 128) causes.push(invalid(field, "", "can have at most 128 characters"));
  }
  if ((event.message ?? "").length > 1024) {
    causes.push(invalid("message", "", "can have at most 1024 characters"));
  }
  if (event.type !== "Normal" && event.type !== "Warning") {
    causes.push(notSupported("type", event.type ?? "", ["Normal", "Warning"]));
  }
  return causes;
}
