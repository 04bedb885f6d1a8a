import type { Cause, Resource, Stored } from "../resource.ts";
import { ageColumn, builtIn, column, nameColumn } from "./built-in.ts";
import { changed, forbidden, invalid, required } from "./causes.ts";
import { sameMap, totalBytes, wrongDataKey } from "./data-map.ts";
import { bytes, flag, mapOf, text, textMap } from "./fields.ts";

/** The most that a Secret or a ConfigMap may hold. */
export const mostDataBytes = 1024 * 1024;

interface Secret {
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  type?: string;
  immutable?: boolean;
}

/** The fields that a Secret of a known type must have. */
const neededKeys: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

const accountAnnotation = "kubernetes.io/service-account.name";

/** The kind that holds what is to be kept from others. */
export const secret: Resource = builtIn({
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
  description: "Values that are to be kept from others, such as keys and passwords.",
  properties: {
    data: mapOf(bytes("One of them."), "The values, in base64."),
    immutable: flag("True where the values may never change."),
    stringData: textMap("Values as plain text; they are written into data and never shown."),
    type: text("What it is for, which says what data must hold."),
  },
  columns: [
    nameColumn,
    column("Type", (object) => (object as Secret).type ?? ""),
    column("Data", (object) => Object.keys((object as Secret).data ?? {}).length),
    ageColumn,
  ],
  strategy: { fill, problems },
  fieldSelectors: { type: (object) => (object as Secret).type ?? "" },
});

function fill(object: Stored): Stored {
  const { stringData, ...kept } = object as Stored & Secret;
  const data = { ...kept.data };
  for (const [key, value] of Object.entries(stringData ?? {})) {
    data[key] = Buffer.from(value, "utf8").toString("base64");
  }
  const written = stringData === undefined ? kept : { ...kept, data };
  return written.type ? written : { ...written, type: "Opaque" };
}

function problems(object: Stored, old: Stored | undefined): Cause[] {
  const { data = {}, type = "Opaque" } = object as Secret;
  const causes: Cause[] = [];
  for (const key of Object.keys(data)) {
    const why = wrongDataKey(key);
    if (why !== undefined) causes.push(invalid(`data[${key}]`, key, why));
  }
  const size = totalBytes(Object.values(data).map((value) => Buffer.byteLength(value, "base64")));
  if (size > mostDataBytes) causes.push(tooLarge("data"));
  causes.push(...problemsOfType(object, type, data));
  if (old !== undefined) causes.push(...problemsOfChange(object as Secret, old as Secret));
  return causes;
}

function problemsOfType(object: Stored, type: string, data: Record<string, string>): Cause[] {
  if (type === "kubernetes.io/service-account-token") {
    const account = object.metadata.annotations?.[accountAnnotation] ?? "";
    return account === "" ? [required(`metadata.annotations[${accountAnnotation}]`)] : [];
  }
  if (type === "kubernetes.io/basic-auth") {
    if ("username" in data || "password" in data) return [];
    return [required("data[username]"), required("data[password]")];
  }
  const missing = (neededKeys[type] ?? []).filter((key) => !(key in data));
  return missing.map((key) => required(`data[${key}]`));
}

function problemsOfChange(now: Secret, old: Secret): Cause[] {
  const causes: Cause[] = [];
  if ((now.type ?? "") !== (old.type ?? "")) causes.push(changed("type", now.type ?? ""));
  if (old.immutable !== true) return causes;
  const frozen = "field is immutable when `immutable` is set";
  if (now.immutable !== true) causes.push(forbidden("immutable", frozen));
  if (!sameMap(now.data, old.data)) causes.push(forbidden("data", frozen));
  return causes;
}

/** What a Secret or a ConfigMap says of more than it may hold. */
export function tooLarge(field: string): Cause {
  const message = `Too long: may not be more than ${mostDataBytes} bytes`;
  return { reason: "FieldValueTooLong", field, message };
}
