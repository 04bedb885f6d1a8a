// biome-ignore-all lint/performance/noBarrelFile: this is the entry of the package
export { type Clock, realClock } from "@postern/core/clock.ts";
export { type Kubernetes, type KubernetesOptions, startKubernetes } from "./server.ts";
