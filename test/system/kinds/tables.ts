import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { accessChangeRows } from "./access-change-rows.ts";
import { accessRows } from "./access-rows.ts";
import { azureClusterNetworkRows } from "./azure-cluster-network-rows.ts";
import { azureClusterRows } from "./azure-cluster-rows.ts";
import { capiRows } from "./capi-rows.ts";
import { hostedRows } from "./hosted-rows.ts";
import { identityRows } from "./identity-rows.ts";
import { linkSpecRows } from "./link-spec-rows.ts";
import { linkStatusRows } from "./link-status-rows.ts";
import { nodePoolRows } from "./node-pool-rows.ts";
import { privateLinkRows } from "./private-link-rows.ts";
import type { Row } from "./row.ts";
import { serviceRows } from "./service-rows.ts";

/** All rows, by what they are about. */
export const tables: Readonly<Record<string, Row[]>> = {
  "the spec of an AzurePrivateLinkService": linkSpecRows,
  "the status of an AzurePrivateLinkService": linkStatusRows,
  "a HostedCluster": hostedRows(hostedCluster),
  "the access to a HostedCluster": accessRows(hostedCluster),
  "a change of the access to a HostedCluster": accessChangeRows(hostedCluster),
  "what a HostedCluster publishes": serviceRows,
  "a HostedControlPlane": hostedRows(hostedControlPlane),
  "the access to a HostedControlPlane": accessRows(hostedControlPlane),
  "a change of the access to a HostedControlPlane": accessChangeRows(hostedControlPlane),
  "a NodePool": nodePoolRows,
  "an AzureCluster": azureClusterRows,
  "the network of an AzureCluster": azureClusterNetworkRows,
  "the private links of an AzureCluster": privateLinkRows,
  "an AzureClusterIdentity": identityRows,
  "what else Cluster API has": capiRows,
};
