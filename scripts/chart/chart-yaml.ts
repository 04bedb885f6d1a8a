// Writes Chart.yaml with what Artifact Hub reads: https://artifacthub.io/docs/topics/annotations/helm/

import { definitions } from "@postern/core/definitions.ts";
import { oldestKubernetes } from "postern/kube/oldest-kubernetes.ts";
import { stringify } from "yaml";

/** What changed, by Artifact Hub's kinds. */
export interface ChartChange {
  kind: "added" | "changed" | "fixed" | "removed" | "security";
  description: string;
}

/** What a chart is made for; a release knows more than the repository. */
export interface ChartOptions {
  version: string;
  /** The image with its digest. */
  image?: string;
  changes?: readonly ChartChange[];
}

/** An object of each kind that the chart brings, for people who read about it. */
export const crdExamples = [
  {
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "AzurePrivateLinkService",
    metadata: { name: "private-router", namespace: "clusters-one" },
    spec: {
      loadBalancerIP: "10.0.0.4",
      subscriptionID: "00000000-0000-4000-8000-000000000001",
      resourceGroupName: "one",
      location: "westeurope",
      guestSubnetID:
        "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/one/providers/Microsoft.Network/virtualNetworks/one/subnets/workers",
      guestVNetID:
        "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/one/providers/Microsoft.Network/virtualNetworks/one",
      baseDomain: "one.example.com",
    },
  },
];

const firstChange: ChartChange = {
  kind: "added",
  description: "The chart: hosted control planes, Cluster API, or both.",
};

/** Chart.yaml. There is no `signKey`, which is of PGP: a release is signed by a key of cosign. */
export function chartYaml({ version, image, changes = [firstChange] }: ChartOptions): string {
  const own = definitions.filter(({ standIn }) => !standIn);
  const annotations = {
    "artifacthub.io/license": "Apache-2.0",
    "artifacthub.io/category": "networking",
    "artifacthub.io/operator": "true",
    "artifacthub.io/operatorCapabilities": "Seamless Upgrades",
    "artifacthub.io/prerelease": String(/^0\.|-/.test(version)),
    "artifacthub.io/containsSecurityUpdates": String(
      changes.some(({ kind }) => kind === "security"),
    ),
    "artifacthub.io/crds": stringify(
      own.map(({ kind, version: served, plural, group, description }) => ({
        kind,
        version: served,
        name: `${plural}.${group}`,
        displayName: kind,
        description,
      })),
    ),
    "artifacthub.io/crdsExamples": stringify(crdExamples, { lineWidth: 0 }),
    "artifacthub.io/links": stringify([
      { name: "Azure Private Link", url: "https://learn.microsoft.com/azure/private-link/" },
    ]),
    ...(image !== undefined && {
      "artifacthub.io/images": stringify([{ name: "operator", image, platforms }]),
    }),
    "artifacthub.io/changes": stringify(changes, { lineWidth: 0 }),
  };
  const chart = {
    apiVersion: "v2",
    name: "postern",
    type: "application",
    description: "Private connectivity for Kubernetes control planes on Azure",
    version,
    appVersion: version,
    // ValidatingAdmissionPolicies are stable since then.
    kubeVersion: `>=${oldestKubernetes}-0`,
    keywords: ["azure", "private-link", "hypershift", "cluster-api", "dns"],
    annotations,
  };
  return stringify(chart, { lineWidth: 0 });
}

const platforms = ["linux/amd64", "linux/arm64"];
