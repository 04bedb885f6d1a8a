import { badRequest, invalidOptions } from "./answers.ts";
import type { Cause } from "./resource.ts";

/** What a write may ask for beside what it writes. */
export interface WriteOptions {
  dryRun: boolean;
  fieldManager?: string;
  fieldValidation: "Ignore" | "Warn" | "Strict";
  /** Server-side apply takes fields of others by it. */
  force: boolean;
}

/** How a deletion is to be done. */
export interface DeleteOptions {
  dryRun: boolean;
  propagation?: "Orphan" | "Background" | "Foreground";
  uid?: string;
  resourceVersion?: string;
}

/** Which objects a list or a watch is for, and from when. */
export interface ListOptions {
  limit: number;
  continueFrom: string;
  resourceVersion?: number;
  match: "" | "Exact" | "NotOlderThan";
  timeoutSeconds?: number;
  bookmarks: boolean;
  initialEvents?: boolean;
}

const mostManagerLength = 128;

/** The options of a create, an update or a patch. */
export function writeOptions(
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  query: URLSearchParams,
  apply = false,
): WriteOptions {
  const causes: Cause[] = [...dryRunProblems(query.getAll("dryRun"))];
  const fieldManager = query.get("fieldManager") ?? "";
  if (apply && fieldManager === "")
    causes.push(required("fieldManager", "is required for apply patch"));
  if (fieldManager.length > mostManagerLength)
    causes.push({
      reason: "FieldValueTooLong",
      field: "fieldManager",
      message: `Too long: may not be more than ${mostManagerLength} bytes`,
    });
  const [unprintable] = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.exec(fieldManager) ?? [];
  if (unprintable !== undefined)
    causes.push({
      reason: "FieldValueInvalid",
      field: "fieldManager",
      message: `Invalid value: ${JSON.stringify(fieldManager)}: invalid character (at position ${fieldManager.indexOf(unprintable)})`,
    });
  const force = query.get("force");
  if (!apply && kind === "PatchOptions" && force !== null)
    causes.push(forbiddenField("force", "may not be specified for non-apply patch"));
  const validation = query.get("fieldValidation") ?? "";
  if (!["", "Ignore", "Warn", "Strict"].includes(validation))
    causes.push(
      unsupported("fieldValidation", JSON.stringify(validation), ["", "Ignore", "Strict", "Warn"]),
    );
  if (causes.length > 0) throw invalidOptions(kind, causes);
  return {
    dryRun: query.has("dryRun"),
    ...(fieldManager !== "" && { fieldManager }),
    fieldValidation: (validation || "Warn") as WriteOptions["fieldValidation"],
    force: isTrue(force),
  };
}

/** The options of a deletion: those of the body win over those of the query. */
export function deleteOptions(query: URLSearchParams, body: unknown): DeleteOptions {
  // Nothing is deleted on terms that cannot be read.
  if (body instanceof Error)
    throw badRequest(`couldn't get version/kind; json parse error: ${body.message}`);
  const { kind } = (body ?? {}) as { kind?: string };
  if (kind && kind !== "DeleteOptions")
    throw badRequest(`no kind "${kind}" is registered for options`);
  const given = (typeof body === "object" && body !== null ? body : {}) as {
    dryRun?: string[];
    propagationPolicy?: string;
    orphanDependents?: boolean;
    preconditions?: { uid?: string; resourceVersion?: string };
  };
  const dryRun = given.dryRun ?? query.getAll("dryRun");
  const policy = given.propagationPolicy ?? query.get("propagationPolicy") ?? undefined;
  const orphan = given.orphanDependents ?? flag(query.get("orphanDependents"));
  const causes = dryRunProblems(dryRun);
  if (policy !== undefined && orphan !== undefined)
    causes.push({
      reason: "FieldValueInvalid",
      field: "propagationPolicy",
      message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
    });
  const policies = ["Foreground", "Background", "Orphan"];
  if (policy !== undefined && !policies.includes(policy))
    causes.push(unsupported("propagationPolicy", JSON.stringify(policy), [...policies, "nil"]));
  if (causes.length > 0) throw invalidOptions("DeleteOptions", causes);
  const propagation =
    policy ?? (orphan === undefined ? undefined : orphan ? "Orphan" : "Background");
  const { uid, resourceVersion } = given.preconditions ?? {};
  return {
    dryRun: dryRun.length > 0,
    ...(propagation !== undefined && {
      propagation: propagation as NonNullable<DeleteOptions["propagation"]>,
    }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

/** The options of a list or a watch. */
export function listOptions(query: URLSearchParams, watch: boolean): ListOptions {
  const initial = flag(query.get("sendInitialEvents"));
  const match = query.get("resourceVersionMatch") ?? "";
  const version = query.get("resourceVersion") ?? "";
  const causes = listProblems({ watch, initial, match, version, continued: query.get("continue") });
  if (causes.length > 0) throw invalidOptions("ListOptions", causes);
  const timeoutSeconds = whole(query.get("timeoutSeconds"));
  return {
    limit: whole(query.get("limit")) ?? 0,
    continueFrom: query.get("continue") ?? "",
    ...(version !== "" && { resourceVersion: revisionOf(version, watch) }),
    match: match as ListOptions["match"],
    ...(timeoutSeconds !== undefined && timeoutSeconds > 0 && { timeoutSeconds }),
    bookmarks: isTrue(query.get("allowWatchBookmarks")),
    ...(initial !== undefined && { initialEvents: initial }),
  };
}

function listProblems(given: {
  watch: boolean;
  initial: boolean | undefined;
  match: string;
  version: string;
  continued: string | null;
}): Cause[] {
  const { watch, initial, match, version } = given;
  const field = "resourceVersionMatch";
  if (watch && initial === undefined) {
    if (match === "") return [];
    return [
      forbiddenField(field, `${field} is forbidden for watch unless sendInitialEvents is provided`),
    ];
  }
  if (watch) {
    if (match === "NotOlderThan") return [];
    return [forbiddenField(field, `sendInitialEvents requires setting ${field} to NotOlderThan`)];
  }
  if (initial !== undefined)
    return [forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list")];
  if (match === "") return [];
  const found: Cause[] = [];
  if (version === "")
    found.push(forbiddenField(field, `${field} is forbidden unless resourceVersion is provided`));
  if (given.continued)
    found.push(forbiddenField(field, `${field} is forbidden when continue is provided`));
  if (match !== "Exact" && match !== "NotOlderThan")
    found.push(unsupported(field, JSON.stringify(match), ["Exact", "NotOlderThan", ""]));
  if (match === "Exact" && version === "0")
    found.push(forbiddenField(field, `${field} "exact" is forbidden for resourceVersion "0"`));
  return found;
}

function revisionOf(text: string, watch: boolean): number {
  if (/^\d+$/.test(text)) return Number(text);
  const wrong = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw badRequest(watch ? wrong : `invalid resource version: ${wrong}`);
}

function whole(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (/^-?\d+$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

/** Whether a query says yes; Kubernetes reads anything but `0` and `false` as that. */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== "0" && text !== "false";
}

function flag(text: string | null): boolean | undefined {
  return text === null ? undefined : isTrue(text);
}

function dryRunProblems(given: readonly string[]): Cause[] {
  if (given.every((each) => each === "All")) return [];
  return [unsupported("dryRun", JSON.stringify(given), ["All"])];
}

function unsupported(field: string, value: string, known: readonly string[]): Cause {
  const listed = known.map((each) => JSON.stringify(each)).join(", ");
  return {
    reason: "FieldValueNotSupported",
    field,
    message: `Unsupported value: ${value}: supported values: ${listed}`,
  };
}

function forbiddenField(field: string, why: string): Cause {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${why}` };
}

function required(field: string, why: string): Cause {
  return { reason: "FieldValueRequired", field, message: `Required value: ${why}` };
}
