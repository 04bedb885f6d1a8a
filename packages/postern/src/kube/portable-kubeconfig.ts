import { fromKubeconfigText } from "./credentials.ts";
import { KubeError } from "./errors.ts";

/**
 * A new kubeconfig with what is needed of one that somebody else wrote: its server, authority and credential. Their text is
 * never passed on, because kubectl may read more out of it than we do: merge keys of YAML 1.1, programs, proxies, extensions.
 */
export async function portableKubeconfig(
  theirs: { text: string; source: string },
  options: { name: string; server?: string },
): Promise<string> {
  const { name } = options;
  const connection = await fromKubeconfigText(theirs.text, theirs.source);
  if (connection.server.protocol !== "https:" || connection.insecure)
    throw unusable(theirs.source, "the certificate of its server would not be verified");
  const { authorization, cert, key } = await connection.proof();
  const token = authorization?.match(/^Bearer (.*)$/s)?.[1];
  if (authorization !== undefined && token === undefined)
    throw unusable(theirs.source, "it has a password, which API servers no longer accept");
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

function base64(material: string | Buffer | undefined): string | undefined {
  return material === undefined ? undefined : Buffer.from(material).toString("base64");
}

function unusable(source: string, why: string): KubeError {
  return new KubeError("UnreadableKubeconfig", `kubeconfig ${source} cannot be used · ${why}`);
}
