import type { CertificateText } from "../azure/entra.ts";
import { AzureError } from "../azure/errors.ts";
import type { KubeClient } from "../kube/client.ts";
import { keyOf } from "../model/kind.ts";
import type { AzureClusterIdentity } from "../model/kinds/azure-cluster-identity.ts";
import { type Secret, secret } from "../model/kinds/secret.ts";

/** Where the Secret of an identity is: beside it, where it does not say. */
export function secretPlace({ metadata, spec }: AzureClusterIdentity) {
  const { name, namespace } = spec.clientSecret ?? {};
  return name ? { name, namespace: namespace || (metadata.namespace ?? "") } : undefined;
}

/** The client secret of an identity, as its Secret holds it now. */
export async function readClientSecret(
  kube: KubeClient,
  identity: AzureClusterIdentity,
): Promise<string> {
  const { where, values } = await readSecret(kube, identity);
  const { clientSecret = "" } = values;
  // A line end after it is a slip of whoever made the Secret; no client secret has one.
  if (clientSecret.trim() !== "") return clientSecret.trim();
  throw incomplete(where, "there is nothing under its key clientSecret");
}

/** The certificate of an identity: under `clientSecret`, or as older manuals have it under `certificate` and `password`. */
export async function readCertificate(
  kube: KubeClient,
  identity: AzureClusterIdentity,
): Promise<CertificateText> {
  const { where, values } = await readSecret(kube, identity);
  const certificate = (values.clientSecret || values.certificate || "").trim();
  if (certificate === "") throw incomplete(where, "there is nothing under its key clientSecret");
  const missing = [
    certificate.includes("-----BEGIN CERTIFICATE-----") ? [] : ["certificate"],
    /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(certificate) ? [] : ["private key"],
  ].flat();
  if (missing.length === 0)
    return { certificate, ...(values.password && { password: values.password }) };
  throw incomplete(where, `its key clientSecret holds no ${missing.join(" and no ")} in PEM`);
}

async function readSecret(
  kube: KubeClient,
  identity: AzureClusterIdentity,
): Promise<{ where: string; values: Record<string, string | undefined> }> {
  const place = secretPlace(identity);
  if (place === undefined)
    throw new AzureError({
      code: "ClusterIdentityIncomplete",
      what: `use AzureClusterIdentity ${keyOf(identity)}`,
      said: "its spec.clientSecret names no Secret",
    });
  const where = `${place.namespace}/${place.name}`;
  const found = await kube.get<Secret>({ kind: secret, ...place });
  if (found === undefined)
    throw new AzureError({
      code: "SecretMissing",
      what: `use AzureClusterIdentity ${keyOf(identity)}`,
      said: `there is no Secret ${where}`,
    });
  const entries = Object.entries(found.data ?? {}).map(([key, value]) => [
    key,
    Buffer.from(value, "base64").toString("utf8"),
  ]);
  return { where, values: Object.fromEntries(entries) };
}

function incomplete(where: string, said: string): AzureError {
  return new AzureError({ code: "SecretIncomplete", what: `use Secret ${where}`, said });
}
