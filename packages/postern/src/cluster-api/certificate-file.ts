import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import { keyOf } from "@postern/core/kind.ts";
import type { AzureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import type { CertificateText } from "../azure/entra.ts";
import { AzureError } from "../azure/errors.ts";
import { missingFromPem } from "./identity-secret.ts";

const mostBytes = 64 * 1024;

/**
 * The certificate at `spec.certPath` of an identity. The path is a tenant's: only a regular file of at most 64 KB is
 * read, and only in the folder of the identity's namespace, because every other file may be somebody else's credential.
 */
export async function readCertificateFile(
  identity: AzureClusterIdentity,
  { certificateDirectory, acrossNamespaces }: CertificatePlace,
): Promise<CertificateText> {
  const { metadata, spec } = identity;
  const folder = acrossNamespaces
    ? resolve(certificateDirectory)
    : join(resolve(certificateDirectory), metadata.namespace ?? "");
  const what = `use AzureClusterIdentity ${keyOf(identity)}`;
  const outside = () =>
    new AzureError({
      code: "CertificateNotAllowed",
      what,
      detail: `its spec.certPath is not in ${folder}`,
    });
  const unreadable = (detail: string, cause?: unknown) =>
    new AzureError({
      code: "CredentialUnreadable",
      what,
      detail: `its spec.certPath ${detail}`,
      cause,
    });
  const path = spec.certPath ?? "";
  if (!isAbsolute(path) || !isBelow(folder, path)) throw outside();
  const failed = (cause: unknown) => {
    throw unreadable("cannot be read", cause);
  };
  const real = await realpath(path).catch(failed);
  if (!isBelow(await realpath(folder).catch(failed), real)) throw outside();
  // Without O_NONBLOCK the opening of a pipe would wait for a writer for ever.
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const file = await open(real, O_RDONLY | O_NONBLOCK | O_NOFOLLOW).catch(failed);
  try {
    if (!(await file.stat()).isFile()) throw unreadable("is no regular file");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(mostBytes + 1), 0, mostBytes + 1, 0);
    if (bytesRead > mostBytes) throw unreadable("is larger than 64 KB");
    const certificate = buffer.toString("utf8", 0, bytesRead).trim();
    const missing = missingFromPem(certificate);
    if (missing !== undefined) throw unreadable(`holds no ${missing} in PEM`);
    return { certificate };
  } finally {
    await file.close();
  }
}

/** Which certificate files may be read. */
export interface CertificatePlace {
  certificateDirectory: string;
  /** Whether identities may use what is another namespace's. */
  acrossNamespaces: boolean;
}

function isBelow(folder: string, path: string): boolean {
  const relativePath = relative(folder, resolve(path));
  return relativePath !== "" && !isAbsolute(relativePath) && relativePath.split("/")[0] !== "..";
}
