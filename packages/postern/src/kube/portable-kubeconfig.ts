import { createPrivateKey, X509Certificate } from "node:crypto";
import { keyProblem, readPem } from "@postern/core/pem.ts";
import { fromKubeconfigText, type Proof } from "./credentials.ts";
import { KubeError } from "./errors.ts";

/**
 * A new kubeconfig with what is needed of one that somebody else wrote: its server, authority and credential. One that could
 * not be used is rejected. Their text is never passed on, because kubectl may read more out of it than we do: merge keys of YAML 1.1, programs, proxies, extensions.
 */
export async function portableKubeconfig(
  source: { text: string; source: string },
  options: { name: string; server?: string },
): Promise<string> {
  const { name } = options;
  const connection = await fromKubeconfigText(source.text, source.source);
  if (connection.server.protocol !== "https:" || connection.insecure)
    throw unusable(source.source, "the certificate of its server would not be verified");
  const proof = await connection.proof();
  const problem = materialProblem(connection.ca, proof);
  if (problem !== undefined) throw unusable(source.source, problem);
  const { authorization, cert, key } = proof;
  const token = authorization?.match(/^Bearer (.*)$/s)?.[1];
  if (authorization !== undefined && token === undefined)
    throw unusable(source.source, "it has a password, which API servers no longer accept");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [
      {
        name,
        cluster: {
          server: options.server ?? connection.server.href,
          "certificate-authority-data": base64(connection.ca),
          "tls-server-name": connection.servername,
        },
      },
    ],
    users: [
      {
        name,
        user: { token, "client-certificate-data": base64(cert), "client-key-data": base64(key) },
      },
    ],
  };
  // JSON is YAML too, and every parser reads the same out of it.
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** Why the authority or the credential of a kubeconfig cannot be used. */
function materialProblem(
  ca: string | Buffer | undefined,
  { authorization, cert, key }: Proof,
): string | undefined {
  if (ca !== undefined && certificatesIn(ca).length === 0)
    return "certificate-authority-data is not a certificate in PEM";
  if (authorization === undefined && cert === undefined && key === undefined)
    return "it has neither a token nor a client certificate";
  if ((cert === undefined) !== (key === undefined))
    return "a client certificate needs its key, and a key its certificate";
  if (cert === undefined || key === undefined) return undefined;
  const [certificate] = certificatesIn(cert);
  if (certificate === undefined) return "client-certificate-data is not a certificate in PEM";
  const keys = readPem(String(key));
  const [block, ...others] =
    "problem" in keys ? [] : keys.blocks.filter(({ label }) => label.endsWith("PRIVATE KEY"));
  if (block === undefined || others.length > 0) return "client-key-data is not one key in PEM";
  const problem = keyProblem(block);
  if (problem !== undefined) return problem;
  return certificate.checkPrivateKey(createPrivateKey(block.text))
    ? undefined
    : "client-key-data is the key of another certificate";
}

/** The certificates of a text in PEM; none where one of them cannot be read. */
function certificatesIn(material: string | Buffer): X509Certificate[] {
  const read = readPem(String(material));
  if ("problem" in read) return [];
  const blocks = read.blocks.filter(({ label }) => label === "CERTIFICATE");
  try {
    return blocks.map(({ text }) => new X509Certificate(text));
  } catch {
    return [];
  }
}

function base64(material: string | Buffer | undefined): string | undefined {
  return material === undefined ? undefined : Buffer.from(material).toString("base64");
}

function unusable(source: string, why: string): KubeError {
  return new KubeError("UnreadableKubeconfig", `kubeconfig ${source} cannot be used · ${why}`);
}
