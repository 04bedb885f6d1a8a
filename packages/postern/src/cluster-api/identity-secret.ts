import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { AzureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import { type Secret, secret } from "@postern/core/kinds/secret.ts";
import type { CertificateText } from "../azure/entra.ts";
import { AzureError } from "../azure/errors.ts";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";

/** On a Secret: the other namespaces whose AzureClusterIdentities may use it, with commas between them. */
export const allowedIdentityNamespaces = "postern.io/allowed-identity-namespaces";

/** The Secret of an identity as it was read. */
export interface IdentitySecret {
  /** `namespace/name`, for messages. */
  where: string;
  /** Changes with every write of the Secret. */
  version: string;
  values: Readonly<Record<string, string | undefined>>;
}

/** The client secret in the Secret of an identity. */
export function clientSecretIn({ where, values }: IdentitySecret): string {
  const { clientSecret = "" } = values;
  // A line end after it is a slip of whoever created the Secret; no client secret has one.
  if (clientSecret.trim() !== "") return clientSecret.trim();
  throw incomplete(where, "there is nothing under its key clientSecret");
}

/** The certificate in the Secret of an identity: under `clientSecret`, or under `certificate` and `password`. */
export function certificateIn({ where, values }: IdentitySecret): CertificateText {
  const certificate = (values.clientSecret || values.certificate || "").trim();
  if (certificate === "") throw incomplete(where, "there is nothing under its key clientSecret");
  const missing = missingFromPem(certificate);
  if (missing === undefined)
    return { certificate, ...(values.password && { password: values.password }) };
  throw incomplete(where, `its key clientSecret holds no ${missing} in PEM`);
}

/** What a text in PEM lacks to be a certificate with its key; undefined where it is whole. */
export function missingFromPem(text: string): string | undefined {
  const missing = [
    text.includes("-----BEGIN CERTIFICATE-----") ? [] : ["certificate"],
    /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text) ? [] : ["private key"],
  ].flat();
  return missing.length === 0 ? undefined : missing.join(" and no ");
}

/**
 * Read the Secret of an identity. One of another namespace must allow it: without that, whoever may create an
 * AzureClusterIdentity would act by every credential in the cluster. Until it is known to allow it, only its metadata are read.
 */
export async function readIdentitySecret(
  kube: KubeClient,
  identity: AzureClusterIdentity,
  acrossNamespaces: boolean,
): Promise<IdentitySecret> {
  const what = `use AzureClusterIdentity ${keyOf(identity)}`;
  const own = identity.metadata.namespace ?? "";
  const { name, namespace } = identity.spec.clientSecret ?? {};
  if (!name)
    throw new AzureError({
      code: "ClusterIdentityIncomplete",
      what,
      detail: "its spec.clientSecret names no Secret",
    });
  const place = { name, namespace: namespace || own };
  const where = `${place.namespace}/${place.name}`;
  const read = async <T extends KubeObject>(reading: Promise<T | undefined>) => {
    try {
      return await reading;
    } catch (cause) {
      if (!(cause instanceof KubeError && cause.status === 403)) throw cause;
      const detail = `the operator may not get Secret ${where}`;
      throw new AzureError({ code: "SecretForbidden", what, detail, cause });
    }
  };
  // The same answer for one that does not exist: nobody learns the names of another namespace's Secrets.
  const mustAllow = place.namespace !== own && !acrossNamespaces;
  const checkAllowed = (read: KubeObject | undefined) => {
    if (!mustAllow || allowsNamespace(read, own)) return;
    const detail = `Secret ${where} is not in namespace ${own} and does not allow its identities`;
    throw new AzureError({ code: "SecretNotAllowed", what, detail });
  };
  if (mustAllow) checkAllowed(await read(kube.getMetadata({ kind: secret, ...place })));
  const found = await read(kube.get<Secret>({ kind: secret, ...place }));
  checkAllowed(found);
  if (found === undefined)
    throw new AzureError({ code: "SecretMissing", what, detail: `there is no Secret ${where}` });
  const { uid, resourceVersion } = found.metadata;
  const values = Object.entries(found.data ?? {}).map(([key, value]) => [
    key,
    Buffer.from(value, "base64").toString("utf8"),
  ]);
  return { where, version: `${uid}/${resourceVersion}`, values: Object.fromEntries(values) };
}

function allowsNamespace(found: KubeObject | undefined, namespace: string): boolean {
  const listed = found?.metadata.annotations?.[allowedIdentityNamespaces] ?? "";
  return listed.split(",").some((each) => each.trim() === namespace);
}

function incomplete(where: string, detail: string): AzureError {
  return new AzureError({ code: "SecretIncomplete", what: `use Secret ${where}`, detail });
}
