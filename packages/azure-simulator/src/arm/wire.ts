import { regionName } from "@postern/core/region.ts";
import type { JsonObject } from "../state/store.ts";
import { dnsOperationWord } from "./dns-operations.ts";
import type { Operation } from "./operations.ts";
import type { Refusal } from "./refusal.ts";
import type { Dialect } from "./resource-type.ts";

/** An answer, before it is bytes. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** Absent for an empty body. */
  body?: unknown;
  /** The body as JSON, where that was made before. */
  text?: string;
  /** Whether it follows from the store alone, so that it can be given again until the store changes. */
  lasting?: boolean;
  /** Sent as it is in place of a body of JSON. */
  raw?: string;
  /** Private DNS escapes every slash in its JSON. */
  escapeSlashes?: boolean;
}

/** What every answer of Resource Manager carries. */
export const commonHeaders: Readonly<Record<string, string>> = {
  "Cache-Control": "no-cache",
  Pragma: "no-cache",
  Expires: "-1",
  "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
  "X-Content-Type-Options": "nosniff",
  "X-Cache": "CONFIG_NOCACHE",
};

/** What a provider adds to its answers. */
export function providerHeaders(dialect: Dialect): Record<string, string> {
  switch (dialect) {
    case "privateDns":
      return {
        "Cache-Control": "private",
        "X-AspNet-Version": "4.0.30319",
        "X-Powered-By": "ASP.NET",
      };
    case "compute":
      return { "X-Ms-Need-To-Refresh-Epl-Cache": "False" };
    default:
      return {};
  }
}

/** The headers that say where an operation can be looked at. */
export function operationHeaders(
  operation: Operation,
  base: string,
  apiVersion: string,
  sign: (path: string) => string,
): Record<string, string> {
  const { dialect, verb } = operation;
  // Locations are texts of people: a header takes not all of them as they are.
  const to = (path: string) =>
    `${base}${encodeURI(path.toWellFormed())}?api-version=${apiVersion}${sign(path.toWellFormed())}`;
  const at = `/subscriptions/${operation.subscription}`;
  switch (dialect) {
    case "resources":
      return { Location: to(`${at}/operationresults/${operation.id}`) };
    case "deployments": {
      // Recorded: the operation is below its deployment.
      const path = `${operation.key}/operationStatuses/${operation.id}`;
      return { "Azure-AsyncOperation": to(path) };
    }
    case "publicDns":
    case "privateDns": {
      const group = `${at}/resourceGroups/${operation.resourceGroup?.toLowerCase()}/providers/Microsoft.Network`;
      return {
        "Azure-AsyncOperation": to(`${group}/${dnsOperationWord(dialect, false)}/${operation.id}`),
        Location: to(`${group}/${dnsOperationWord(dialect, true)}/${operation.id}`),
      };
    }
    default: {
      const provider = dialect === "compute" ? "Microsoft.Compute" : "Microsoft.Network";
      const place = `${at}/providers/${provider}/locations/${regionName(operation.location)}`;
      const headers: Record<string, string> = {
        "Azure-AsyncOperation": to(`${place}/operations/${operation.id}`),
        "Azure-AsyncNotification": "Enabled",
      };
      if (verb === "PUT") return headers;
      // Recorded for deletes: compute has one address for both and tells them apart by a parameter.
      headers.Location =
        dialect === "compute"
          ? `${to(`${place}/operations/${operation.id}`)}&monitor=true`
          : to(`${place}/operationResults/${operation.id}`);
      return headers;
    }
  }
}

/** Private DNS has no details in the errors of its operations (Azure/azure-powershell#9537). */
function errorOf(dialect: Dialect, error: NonNullable<Operation["error"]>): JsonObject {
  const { code, message, details } = error;
  return dialect === "privateDns" && details.length === 0
    ? { code, message }
    : { ...error, details: details.map((each) => ({ ...each })) };
}

/** What a look at an operation says. */
export function operationBody(operation: Operation): JsonObject {
  const error = operation.error && errorOf(operation.dialect, operation.error);
  const failed = operation.status === "Failed" || operation.status === "Canceled";
  if (operation.dialect === "compute")
    return {
      startTime: new Date(operation.startedAt).toISOString(),
      ...(operation.endedAt !== undefined && {
        endTime: new Date(operation.endedAt).toISOString(),
      }),
      status: operation.status,
      ...(failed && error && { error }),
      name: operation.id,
    };
  const running = operation.status === "InProgress" && operation.dialect === "deployments";
  return {
    status: running ? "Running" : operation.status,
    ...(failed && error && { error }),
    ...(operation.status === "Succeeded" && operation.result && { properties: operation.result }),
  };
}

/** A refusal as an answer. */
export function refusalAnswer(refusal: Refusal): Answer {
  const headers: Record<string, string> = { ...refusal.headers };
  if (refusal.by === "gateway") headers["X-Ms-Failure-Cause"] = "gateway";
  return { status: refusal.status, headers, body: refusal.body };
}
