// biome-ignore-all lint/performance/noBarrelFile: this is the entry of the package
export { type Clock, realClock } from "@postern/core/clock.ts";
export type { FaultRule } from "./control/fault-rule.ts";
export { ManualClock } from "./control/manual-clock.ts";
export type { LogEntry } from "./control/request-log.ts";
export type { Application } from "./entra/application.ts";
export { type Simulator, type SimulatorOptions, startSimulator } from "./simulator.ts";
export type { Seed } from "./state/seed-entry.ts";
export { readSeed } from "./state/seed-file.ts";
export type { Snapshot } from "./state/snapshot.ts";
