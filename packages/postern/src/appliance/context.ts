import { type Clock, realClock } from "@postern/core/clock.ts";
import { Arm } from "../azure/arm.ts";
import { type Cloud, cloudNamed } from "../azure/clouds.ts";
import { managedIdentity } from "../azure/managed-identity.ts";
import type { TokenSource } from "../azure/tokens.ts";
import { type IMDSClient, imdsClient } from "./imds-client.ts";
import { type MetricsCollector, metricsCollector } from "./metrics.ts";

/** The part of a log that is used here. */
export interface ApplianceLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Where a credential is used. */
export interface CredentialPlace {
  cloud: Cloud;
  /** Where the metadata service answers. */
  imdsHost: string;
  clock: Clock;
  /** Call it with the status of each answer of the metadata service that is not 200, or `none`. */
  failed(status: string): void;
}

/** A credential for the cloud that the metadata service names. */
export type CredentialFor = (place: CredentialPlace) => TokenSource;

/** How an agent is set up. Nothing is required on a machine in Azure with one identity. */
export interface ApplianceOptions {
  /** Where the metadata service answers: `http://169.254.169.254`. */
  imdsHost?: string | undefined;
  /** The cloud; the one that the metadata service names if not given. */
  cloud?: Cloud | undefined;
  /** Which user-assigned identity; the machine's own or only one if not given. */
  clientId?: string | undefined;
  /** Another source of tokens than the machine's identity; see `defaultCredential`. */
  credential?: TokenSource | CredentialFor | undefined;
  /** Ends everything that is under way. */
  signal?: AbortSignal | undefined;
  clock?: Clock | undefined;
  /** From 0 to below 1, for the pauses between tries. */
  random?: (() => number) | undefined;
  log?: ApplianceLog | undefined;
  /** Counts what happens, in place of the one of `setMetricsCollector`. */
  metrics?: MetricsCollector | undefined;
  userAgent?: string | undefined;
}

/** What every function of the agent works with; the `ctx` of the first parameter. */
export interface ApplianceContext {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly random: () => number;
  readonly log: ApplianceLog;
  readonly metrics: MetricsCollector;
  readonly imds: IMDSClient;
  /** The ARM client for the cloud that the metadata service names. Created once. */
  azure(environment: string): Arm;
  /** The same with another signal. */
  until(signal: AbortSignal): ApplianceContext;
  /** Close the connections. */
  close(): void;
}

const silent: ApplianceLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
};

/** Set an agent up. It asks nothing yet. */
export function applianceContext(options: ApplianceOptions = {}): ApplianceContext {
  const { clock = realClock, random = Math.random, log = silent, userAgent } = options;
  const host = options.imdsHost ?? "http://169.254.169.254";
  const metrics = () => options.metrics ?? metricsCollector();
  const failed = (status: string) => metrics().imdsFailed(status);
  const imds = imdsClient({ host, clock, random, failed });
  let arm: Arm | undefined;

  const azure = (environment: string): Arm => {
    if (arm !== undefined) return arm;
    const cloud = options.cloud ?? cloudNamed(environment);
    const { clientId } = options;
    const { credential: given = managedIdentity({ cloud, clientId, host, clock, failed }) } =
      options;
    const credential =
      typeof given === "function" ? given({ cloud, imdsHost: host, clock, failed }) : given;
    arm = new Arm({ cloud, credential, clock, log, userAgent: userAgent ?? "postern-agent" });
    return arm;
  };
  const withSignal = (signal: AbortSignal): ApplianceContext => ({
    clock,
    signal,
    random,
    log,
    get metrics() {
      return metrics();
    },
    imds,
    azure,
    until: withSignal,
    close: () => arm?.close(),
  });
  return withSignal(options.signal ?? new AbortController().signal);
}
