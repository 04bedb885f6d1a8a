import { type KubeClient, parseBody } from "./client.ts";
import { KubeError } from "./errors.ts";

/** A service account, and whom its token is to convince. */
export interface TokenRequest {
  namespace: string;
  name: string;
  audience: string;
}

/** Long enough for a clock that is wrong by minutes; it is used at once and never kept. */
const seconds = 3600;

/** Those of an API server have some 1000 characters. */
const longestToken = 16_384;

/** A new token of a service account, by the subresource that the kubelet uses for those in pods. */
export async function serviceAccountToken(
  client: KubeClient,
  { namespace, name, audience }: TokenRequest,
  signal?: AbortSignal,
): Promise<string> {
  const path = `${accountsIn(namespace)}/${encodeURIComponent(name)}/token`;
  const body = JSON.stringify({
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { audiences: [audience], expirationSeconds: seconds },
  });
  const text = await client.request("POST", path, { body, signal });
  const { status } = parseBody<{ status?: { token?: unknown } }>(text);
  const token = status?.token;
  if (typeof token === "string" && token !== "" && token.length <= longestToken) return token;
  throw new KubeError("UnreadableAnswer", `POST ${path} failed · the answer holds no token`);
}

/** Make a service account. That it is there already is as good. */
export async function makeServiceAccount(
  client: KubeClient,
  { namespace, name }: Pick<TokenRequest, "namespace" | "name">,
  signal?: AbortSignal,
): Promise<void> {
  const body = JSON.stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
  try {
    await client.request("POST", accountsIn(namespace), { body, signal });
  } catch (error) {
    if (!(error instanceof KubeError && error.code === "AlreadyExists")) throw error;
  }
}

/** The service account that this client is; undefined for anybody else. */
export async function ownServiceAccount(
  client: KubeClient,
  signal?: AbortSignal,
): Promise<Pick<TokenRequest, "namespace" | "name"> | undefined> {
  const body = JSON.stringify({
    apiVersion: "authentication.k8s.io/v1",
    kind: "SelfSubjectReview",
  });
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const text = await client.request("POST", path, { body, signal });
  const { status } = parseBody<{ status?: { userInfo?: { username?: unknown } } }>(text);
  const user = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(String(status?.userInfo?.username));
  return user ? { namespace: user[1] ?? "", name: user[2] ?? "" } : undefined;
}

function accountsIn(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts`;
}
