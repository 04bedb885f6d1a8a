import { readFile } from "node:fs/promises";
import { AzureError } from "./errors.ts";

/** What a credential file holds. */
export interface CredentialFile {
  subscriptionId: string;
  tenantId: string;
  clientId: string;
  clientSecret: string;
}

const fields = ["subscriptionId", "tenantId", "clientId", "clientSecret"] as const;

/** Read a credential file: YAML, of which JSON is a part. Nothing of its contents gets into an error. */
export async function readCredentialFile(path: string): Promise<CredentialFile> {
  const refuse = (detail?: string, cause?: unknown) =>
    new AzureError({ code: "CredentialUnreadable", what: `read ${path}`, detail, cause });
  const { parse } = await import("yaml");
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw refuse(undefined, cause);
  });
  let value: unknown;
  try {
    // Its warnings would go to standard error, and quote the text too.
    value = parse(text, { logLevel: "error" });
  } catch {
    // The parser quotes the line that it stumbled over, which may be the secret: no cause.
    throw refuse("it is neither YAML nor JSON");
  }
  const settings = typeof value === "object" && value !== null ? { ...value } : {};
  const read = (name: string) => String(Reflect.get(settings, name) ?? "").trim();
  const missing = fields.filter((name) => read(name) === "");
  if (missing.length > 0) throw refuse(`it does not say ${missing.join(", ")}`);
  const [subscriptionId, tenantId, clientId, clientSecret] = fields.map(read);
  return { subscriptionId, tenantId, clientId, clientSecret } as CredentialFile;
}
