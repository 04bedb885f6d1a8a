import { type KubeClient, parseBody } from "../client.ts";

/** Who a token belongs to, as the API server says. */
export interface User {
  username: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

/** Ask the API server whose token this is; undefined for a token of nobody. */
export async function reviewToken(
  client: KubeClient,
  token: string,
  signal: AbortSignal,
): Promise<User | undefined> {
  const { status } = await post<{ status?: { authenticated?: unknown; user?: User } }>(
    client,
    "authentication.k8s.io/v1/tokenreviews",
    { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } },
    signal,
  );
  const user = status?.user;
  return status?.authenticated === true && typeof user?.username === "string" ? user : undefined;
}

/** Ask the API server whether a user may read a path that is no resource. */
export async function mayRead(
  client: KubeClient,
  { username, uid, groups, extra }: User,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { status } = await post<{ status?: { allowed?: unknown; denied?: unknown } }>(
    client,
    "authorization.k8s.io/v1/subjectaccessreviews",
    {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user: username, uid, groups, extra, nonResourceAttributes: { path, verb: "get" } },
    },
    signal,
  );
  return status?.allowed === true && status.denied !== true;
}

async function post<T>(
  client: KubeClient,
  path: string,
  body: object,
  signal: AbortSignal,
): Promise<T> {
  return parseBody<T>(
    await client.request("POST", `/apis/${path}`, { body: JSON.stringify(body), signal }),
  );
}
