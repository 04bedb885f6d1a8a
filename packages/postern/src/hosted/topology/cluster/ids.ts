import { createHash } from "node:crypto";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";

/**
 * The numbers of a cluster that HyperShift would fill in; the same for one uid, however often they are asked for. A cluster
 * whose control plane has numbers gets those back: applying a file without them removes them.
 */
export function numbersOf(
  { metadata }: HostedCluster,
  controlPlane?: HostedControlPlane,
): { clusterID: string; infraID: string } {
  const digest = createHash("sha256").update(`postern cluster ${metadata.uid}`).digest();
  const hex = digest.toString("hex");
  // Version 8 is for UUIDs made by a rule of one's own (RFC 9562).
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  const clusterID = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(18, 20)}`,
    hex.slice(20, 32),
  ].join("-");
  // Names in Azure are made from it, some of them short.
  const infraID = `${metadata.name.slice(0, 21).replace(/[-.]+$/, "")}-${hex.slice(32, 37)}`;
  const known = controlPlane?.spec;
  return { clusterID: known?.clusterID || clusterID, infraID: known?.infraID || infraID };
}
