import type { TrustedIssuer } from "@postern/azure-simulator/entra/application.ts";
import { isExplained } from "@postern/core/failure.ts";
import { startKubernetes } from "@postern/kubernetes-embedded/server.ts";
import { KubeClient, parseBody } from "postern/kube/client.ts";
import { type Connection, fromKubeconfig, fromKubeconfigText } from "postern/kube/credentials.ts";
import { KubeError } from "postern/kube/errors.ts";
import { type DataFolder, stateFiles } from "./data-folder.ts";
import { type Kubeconfig, readKubeconfig } from "./kubeconfig.ts";
import { inOurWords, LocalError } from "./local-error.ts";

/** The Kubernetes API of local mode: the embedded one, or a real cluster's. */
export interface KubernetesApi {
  connection: Connection;
  config: Kubeconfig;
  /** Who signs the tokens of its service accounts, and by which keys. */
  issuer: TrustedIssuer;
  close(): Promise<void>;
}

/** Open the cluster of a kubeconfig. One that does not answer is said to at once. */
export async function realCluster(file: string, signal: AbortSignal): Promise<KubernetesApi> {
  const connection = await fromKubeconfig(file);
  const client = new KubeClient(connection, { requestTimeoutMs: 10_000 });
  try {
    await client.request("GET", "/version", { signal });
    const issuer = await issuerOf(client, signal);
    return { connection, config: readKubeconfig(file), issuer, close: async () => undefined };
  } catch (error) {
    if (!isExplained(error)) throw error;
    throw new LocalError(
      "ClusterUnreachable",
      `the cluster of ${file} cannot be used · ${error.explain().message} · to use the built-in Kubernetes API, omit --kubeconfig`,
      { cause: error },
    );
  } finally {
    client.close();
  }
}

/** What an API server says of itself to those who have to believe its tokens. */
async function issuerOf(client: KubeClient, signal: AbortSignal): Promise<TrustedIssuer> {
  try {
    const about = await client.request("GET", "/.well-known/openid-configuration", { signal });
    const { issuer } = parseBody<{ issuer: string }>(about);
    const accept = "application/jwk-set+json";
    const keys = await client.request("GET", "/openid/v1/jwks", { signal, accept });
    return { issuer, ...parseBody<Pick<TrustedIssuer, "keys">>(keys) };
  } catch (error) {
    if (!(error instanceof KubeError && error.status > 0)) throw error;
    // Without its keys any token in its name is believed: this is for trying.
    return { issuer: "https://kubernetes.default.svc", keys: [] };
  }
}

/** Start the API server that comes with Postern; one that was begun before goes on. */
export async function embeddedCluster(
  options: { folder: DataFolder; port: number },
  signal: AbortSignal,
): Promise<KubernetesApi> {
  const { folder, port } = options;
  const file = folder.file(stateFiles.kubernetes);
  const kubernetes = await startKubernetes({
    port,
    ...(folder.persistent && { data: { file } }),
  }).catch((error: unknown) => {
    throw inOurWords(error, "Kubernetes", file);
  });
  let client: KubeClient | undefined;
  try {
    const connection = await fromKubeconfigText(kubernetes.kubeconfig, "the embedded API server");
    client = new KubeClient(connection);
    return {
      connection,
      config: JSON.parse(kubernetes.kubeconfig) as Kubeconfig,
      issuer: await issuerOf(client, signal),
      close: () => kubernetes.stop(),
    };
  } catch (error) {
    await kubernetes.stop();
    throw error;
  } finally {
    client?.close();
  }
}
