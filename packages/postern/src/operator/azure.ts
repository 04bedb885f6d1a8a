import { readFileSync } from "node:fs";
import { type Clock, wait } from "@postern/core/clock.ts";
import { isExplained } from "@postern/core/failure.ts";
import { Counter, Gauge, Histogram, type Registry } from "@prometheus-io/client";
import { Arm, type ArmRequest } from "../azure/arm.ts";
import { Budgets } from "../azure/budget.ts";
import { type Cloud, cloudNamed, customCloud } from "../azure/clouds.ts";
import { credentialFromEnvironment } from "../azure/credential.ts";
import { DriftInterval } from "../azure/drift-interval.ts";
import type { EntraOptions } from "../azure/entra.ts";
import { AzureError } from "../azure/errors.ts";
import type { Limits } from "../azure/limits.ts";
import type { TokenSource } from "../azure/tokens.ts";
import type { Check } from "../kube/health.ts";
import type { Log } from "../kube/log.ts";
import { boundedLabel } from "../kube/metrics.ts";
import { showCertificates } from "./azure-metrics.ts";

/** Azure as the operator has it: the ARM client and the checks of the health page. */
export interface OperatorAzure {
  arm: Arm;
  /** Where identities get their tokens. */
  cloud: Cloud;
  /** The credential of the environment. */
  credential: TokenSource;
  /** The authority that signed the certificate of this Entra, where it is not one of the public ones. */
  ca: string | undefined;
  /** To be called with the certificate of each identity that signs in by one: its expiry is a metric. */
  onCertificate: NonNullable<EntraOptions["onCertificate"]>;
  checks: Check[];
  /** How often drift is checked. */
  drift: DriftInterval;
  /** An ARM client for another cloud, for clusters with a credential of their own. */
  armClientFor(cloud: Cloud): Arm;
  /** Forget earlier reads of Azure, when this process becomes the leader. */
  forgetReads(): void;
  close(): void;
}

const askEveryMs = 60_000;
const askAgainMs = 10_000;

/**
 * Create the ARM client from the environment. A missing or broken credential does not end the process:
 * the health page says which one was tried and what is missing, and it is tried again.
 */
export function azureFromEnvironment(
  env: NodeJS.ProcessEnv,
  options: {
    log: Log;
    registry: Registry;
    clock: Clock;
    version: string;
    /** Azure's limits, where they are not the usual ones. */
    limits?: Partial<Limits> | undefined;
    /** The share of the idle read budget that drift checks use. */
    driftShare?: number | undefined;
    onRequest?: (request: ArmRequest) => void;
  },
): OperatorAzure {
  const { log, clock, version } = options;
  const { AZURE_AUTHORITY_HOST: authority } = env;
  // The endpoint can be given where the cloud's name is not enough: Azure Stack, or a simulator.
  const known = env.AZURE_RESOURCE_MANAGER_ENDPOINT
    ? customCloud({ resourceManager: env.AZURE_RESOURCE_MANAGER_ENDPOINT })
    : cloudNamed(env.AZURE_CLOUD_NAME);
  const cloud = authority ? { ...known, authorityHost: authority.replace(/\/+$/, "") } : known;
  const ca = env.AZURE_CA_FILE ? readCa(env.AZURE_CA_FILE) : undefined;
  const onCertificate = showCertificates(options.registry, clock);
  const entra = { cloud, clock, onCertificate, ...(ca !== undefined && { ca }) };
  const credential = lateCredential(() =>
    credentialFromEnvironment(env, entra).then(({ tokens }) => tokens),
  );
  const count = countRequests(options.registry);
  const { limits, driftShare } = options;
  const drift = new DriftInterval({ limits, share: driftShare });
  const onRequest = (request: ArmRequest) => {
    count(request);
    if (request.priority === "drift" && request.verb === "GET") drift.read();
    options.onRequest?.(request);
  };
  const shared = { log, clock, onRequest, userAgent: `postern/${version}` };
  const newBudgets = () => new Budgets({ limits, driftShare, clock });
  const arm = new Arm({ cloud, credential, ...shared, budgets: newBudgets() });
  const armClients = [arm];
  const signal = new AbortController().signal;
  const caller = { priority: "drift", signal, mayWrite: () => false, id: "readyz" } as const;
  return {
    arm,
    cloud,
    credential,
    ca,
    onCertificate,
    drift,
    armClientFor(other) {
      // No subscription is in two clouds.
      const budgets = newBudgets();
      const armClient = new Arm({ cloud: other, credential: noneIn(other), ...shared, budgets });
      armClients.push(armClient);
      return armClient;
    },
    forgetReads: () => {
      for (const armClient of armClients) armClient.forgetReads();
    },
    close: () => {
      for (const armClient of armClients) armClient.close();
    },
    checks: [
      cachedCheck("azure-token", clock, async () => {
        await credential.token();
        return "obtained";
      }),
      // This page of Resource Manager belongs to no subscription, so asking costs nobody's budget.
      cachedCheck("azure-resource-manager", clock, async () => {
        await arm
          .for(caller)
          .request("GET", "/metadata/endpoints", { query: { "api-version": "2022-09-01" } });
        return new URL(cloud.resourceManager).host;
      }),
    ],
  };
}

/** The certificate authority of an Entra that is not one of Microsoft's. */
function readCa(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new AzureError({ code: "CredentialUnreadable", what: `read ${file}`, cause });
  }
}

/** The credential of the environment is worth nothing in another cloud, and is not shown there. */
function noneIn({ name }: Cloud): TokenSource {
  const what = `act in ${name} by the credential of the environment`;
  return {
    identity: "none",
    token: () => Promise.reject(new AzureError({ code: "CredentialMissing", what })),
  };
}

/** A credential that is looked for when it is first needed, and again when it was not found. */
export function lateCredential(find: () => Promise<TokenSource>): TokenSource {
  let finding: Promise<TokenSource> | undefined;
  let found: TokenSource | undefined;
  return {
    // Where a control plane has the same identity as the operator, Azure counts their requests together.
    get identity() {
      return found?.identity.toLowerCase() ?? "operator";
    },
    async token(signal, refused) {
      finding ??= find().catch((error: unknown) => {
        finding = undefined;
        throw error;
      });
      found = await finding;
      return found.token(signal, refused);
    },
  };
}

/** A check whose answer is kept for a while: probes come every few seconds. */
function cachedCheck(name: string, clock: Clock, ask: () => Promise<string>): Check {
  let last: { ok: boolean; note?: string } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<{ ok: boolean; note?: string }> | undefined;
  const askOnce = async () => {
    last = await ask().then(
      (note) => ({ ok: true, note }),
      (error: unknown) => ({
        ok: false,
        note: isExplained(error) ? error.explain().message : "an unexpected error",
      }),
    );
    askedAt = clock.now();
    asking = undefined;
    return last;
  };
  return {
    name,
    async check() {
      const freshMs = last?.ok ? askEveryMs : askAgainMs;
      if (last && clock.now() - askedAt < freshMs) return last;
      asking ??= askOnce();
      // A probe gives up after a second: it hears the last answer rather than none.
      return (
        last ??
        Promise.race([asking, wait(clock, 800).then(() => ({ ok: false, note: "no answer yet" }))])
      );
    },
  };
}

/** Count requests to Azure Resource Manager. */
export function countRequests(registry: Registry): (request: ArmRequest) => void {
  const registers = [registry];
  const requests = new Counter({
    name: "postern_azure_requests_total",
    help: "Requests to Azure Resource Manager",
    labelNames: ["resource", "verb", "code"],
    registers,
  });
  const seconds = new Histogram({
    name: "postern_azure_request_seconds",
    help: "How long Azure Resource Manager took to answer",
    labelNames: ["resource", "verb"],
    registers,
  });
  const throttled = new Counter({
    name: "postern_azure_throttled_total",
    help: "Requests that Azure Resource Manager refused as too many",
    labelNames: ["subscription"],
    registers,
  });
  const remaining = new Gauge({
    name: "postern_azure_remaining_requests",
    help: "What Azure said was left of the budget, last",
    labelNames: ["subscription", "verb"],
    registers,
  });
  const resourceLabel = boundedLabel(200);
  const subscriptionLabel = boundedLabel(1_000);
  return (one) => {
    const resource = resourceLabel(one.resource);
    requests.inc({ resource, verb: one.verb, code: one.code });
    seconds.observe({ resource, verb: one.verb }, one.seconds);
    if (!one.throttled && one.remaining === undefined) return;
    const subscription = subscriptionLabel(one.subscription);
    if (one.throttled) throttled.inc({ subscription });
    if (one.remaining !== undefined) remaining.set({ subscription, verb: one.verb }, one.remaining);
  };
}
