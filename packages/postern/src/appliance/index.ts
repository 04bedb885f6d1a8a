// biome-ignore-all lint/performance/noBarrelFile: this is the entry of the package postern/appliance

export type { Clock } from "@postern/core/clock.ts";
export { type Cloud, cloudNamed, customCloud } from "../azure/clouds.ts";
export { AzureError } from "../azure/errors.ts";
export type { TokenSource } from "../azure/tokens.ts";
export { externalVXLANPort, internalVXLANPort } from "./choose-pool.ts";
export {
  type ApplianceContext,
  type ApplianceLog,
  type ApplianceOptions,
  applianceContext,
  type CredentialFor,
  type CredentialPlace,
} from "./context.ts";
export { type DefaultCredentialOptions, defaultCredential } from "./credential.ts";
export {
  type Deregistration,
  deregisterFromBackendPool,
  drainInBackendPool,
} from "./deregister.ts";
export { type DiscoverOptions, discoverGWLBBackendPool } from "./discover.ts";
export { ApplianceError } from "./errors.ts";
export type { GWLBConfig, HealthProbe, Tunnel } from "./gwlb-config.ts";
export {
  type HandOver,
  type HandOverOptions,
  type HealthOptions,
  type HealthServer,
  startHealthServer,
} from "./health.ts";
export type { HealthSource } from "./health-check.ts";
export {
  type IMDSInterface,
  type IMDSMetadata,
  queryIMDS,
  type ScaleSetOfMachine,
} from "./imds.ts";
export type { IMDSClient, IMDSRequest } from "./imds-client.ts";
export { type IngressTargets, writeIngressDevice } from "./ingress-device.ts";
export type { ApplianceCode } from "./known-codes.ts";
export {
  type ApplianceHealth,
  type Applied,
  type ApplyOptions,
  apply,
  type CleanupOptions,
  cleanup,
} from "./lifecycle.ts";
export { type MetricsCollector, setMetricsCollector } from "./metrics.ts";
export { agentMetrics } from "./metrics-text.ts";
export type { JoinBy } from "./plan-join.ts";
export type { ProbeCertificate } from "./probe-server.ts";
export {
  isRegisteredWithBackendPool,
  type RegisterOptions,
  type Registration,
  registerWithBackendPool,
} from "./register.ts";
export { type EndingEvent, watchScheduledEvents } from "./scheduled-events.ts";
export { type Left, type StayOptions, stayInBackendPool } from "./stay.ts";
export {
  findVXLANTunnelInterface,
  type LocalInterface,
  type TunnelInterface,
} from "./tunnel.ts";
export { type LinkOptions, makeTunnelLinks, type TunnelLinks } from "./tunnel-links.ts";
export { type WatchOptions, watchRegistration } from "./watch.ts";
