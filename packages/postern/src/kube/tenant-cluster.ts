import { createHash } from "node:crypto";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import { type Clock, realClock } from "@postern/core/clock.ts";
import { keyProblem, readPem } from "@postern/core/pem.ts";
import { KubeClient } from "./client.ts";
import { type Connection, fromKubeconfigText } from "./credentials.ts";
import { KubeError } from "./errors.ts";
import { addressRules, guardedLookup, notAllowed, plainHost } from "./tenant-address.ts";

/** A kubeconfig that a tenant can write: a value of a Secret, and what the Secret is called. */
export interface TenantKubeconfig {
  /** In base64, as the API server gives it. */
  value: string;
  /** For messages: `in Secret namespace/name`. */
  source: string;
  /** How long an answer may be; enough for a token where not given. */
  answerBytes?: number;
  /** How long all of it may take. */
  totalMs?: number;
}

/** A server of a tenant may be slow, endless or not there, and a reconcile waits for it. */
export const tenantClusterMs = 10_000;
/** How long a kubeconfig that has kept a reconcile waiting is not tried again. */
const rememberedMs = 3 * 60_000;
const mostRemembered = 10_000;
/** Until when each of them is not tried, by what it says: one that was changed counts at once. */
const slow = new WeakMap<Connection, Map<string, number>>();
/** An answer is parsed on the event loop: 4 MB of nested JSON take more than a second, this much takes milliseconds. */
const tokenBytes = 65_536;
/** In base64 a third longer; what is longer still is not decoded. */
const longestValue = 131_072;

/**
 * Talk to a cluster by a kubeconfig that a tenant can write, and close the connection after that. The server is reached by
 * https only, with its certificate verified, and at no address that leads back to this machine or to Azure's metadata.
 */
export async function tenantCluster<T>(
  own: Connection,
  kubeconfig: TenantKubeconfig,
  use: (client: KubeClient) => Promise<T>,
  resolve?: LookupFunction,
  clock: Clock = realClock,
): Promise<T> {
  const { value, source, answerBytes = tokenBytes, totalMs = tenantClusterMs } = kubeconfig;
  const until = slow.get(own) ?? new Map<string, number>();
  slow.set(own, until);
  const key = createHash("sha256").update(value).digest("base64");
  if ((until.get(key) ?? 0) > clock.now())
    throw new KubeError(
      "Timeout",
      `the server of the kubeconfig ${source} is not asked · it did not answer in time a few minutes ago`,
    );
  const connection = await tenantConnection(own, kubeconfig, resolve);
  const client = new KubeClient(connection, {
    maxSockets: 2,
    requestTimeoutMs: totalMs,
    limits: { totalMs, answerBytes },
  });
  try {
    return await use(client);
  } catch (error) {
    // One that refuses, or whose API server is not up yet, says so at once and is asked again.
    if (error instanceof KubeError && error.code === "Timeout") {
      if (until.size >= mostRemembered) until.clear();
      until.set(key, clock.now() + rememberedMs);
    }
    throw error;
  } finally {
    client.close();
  }
}

async function tenantConnection(
  own: Connection,
  { value, source }: TenantKubeconfig,
  resolve: LookupFunction | undefined,
): Promise<Connection> {
  if (value.length > longestValue) throw unusable(source, "it is too long");
  const text = Buffer.from(value, "base64").toString("utf8");
  const connection = await fromKubeconfigText(text, source);
  const { server, insecure, ca } = connection;
  if (server.protocol !== "https:")
    throw notAllowed(`the address in the kubeconfig ${source} does not begin with https://`);
  if (server.username !== "" || server.password !== "")
    throw unusable(source, "its server address has a user or a password: remove it");
  // Whoever answers would get the credential, and could give any token in the name of the cluster.
  if (insecure)
    throw unusable(
      source,
      "it has insecure-skip-tls-verify: set certificate-authority-data instead",
    );
  const rules = addressRules(own.server);
  const host = plainHost(server);
  if (isIP(host) !== 0 && !rules.allows(host))
    throw notAllowed(`the kubeconfig ${source} names ${host}`);
  await checkMaterial(connection, ca);
  return { ...connection, lookup: guardedLookup(rules, resolve) };
}

/** Certificates and keys are read by the socket on the event loop, and a tenant chooses their size. */
async function checkMaterial(connection: Connection, ca: Connection["ca"]): Promise<void> {
  const { cert, key } = await connection.proof();
  for (const [what, material] of Object.entries({
    "certificate-authority": ca,
    "client-certificate": cert,
    "client-key": key,
  })) {
    if (material === undefined) continue;
    const read = readPem(material.toString());
    if ("problem" in read) throw unusable(connection.source, `its ${what}-data: ${read.problem}`);
    for (const block of read.blocks) {
      const problem = block.label.endsWith("PRIVATE KEY") ? keyProblem(block) : undefined;
      if (problem !== undefined) throw unusable(connection.source, problem);
    }
    if (read.blocks.length === 0)
      throw unusable(connection.source, `its ${what}-data is not base64 of PEM`);
  }
}

function unusable(source: string, why: string): KubeError {
  return new KubeError("UnreadableKubeconfig", `kubeconfig ${source} cannot be used · ${why}`);
}
