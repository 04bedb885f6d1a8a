import type { Health } from "@postern/core/health.ts";
import { healthFor } from "../health/times.ts";
import { pictureOf } from "../picture.ts";
import { type Finding, findings, type WorldCheck } from "./check.ts";

const results: Record<Health, Finding["result"]> = {
  Healthy: "ok",
  Progressing: "ok",
  Degraded: "warning",
  Unavailable: "failed",
  Unknown: "not checked",
};

/** Every cluster's health, with its worst cause and the remedy: the same as on the dashboard and in the tree. */
export const clusterHealthCheck: WorldCheck = {
  name: "cluster health",
  run(world) {
    const { clusters, observedAt } = pictureOf(world);
    return findings(
      clusterHealthCheck.name,
      clusters.map(({ key, health, causes: [cause] }) => ({
        about: key,
        result: results[health],
        found:
          cause === undefined
            ? `${health}.`
            : `${healthFor({ health, since: cause.since }, observedAt)}: ${cause.message}`,
        ...(cause?.remedy !== undefined && { remedy: cause.remedy }),
      })),
    );
  },
};
