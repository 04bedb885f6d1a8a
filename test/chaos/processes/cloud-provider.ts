import { parseResourceId } from "@postern/core/resource-id.ts";
import { cloudProviderFeature } from "@postern/local/cloud-provider/feature.ts";
import { fastClock } from "@postern/local/fast-clock.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { makeLog } from "postern/kube/log.ts";
import { Runtime } from "postern/kube/runtime.ts";

/** What a storm gives the stand-in for the cloud provider, which is a part of the world and not of Postern. */
export interface GivenCloudProvider {
  kubeconfig: string;
  resourceManager: string;
  token: string;
  managementGroup: string;
  subnetId: string;
  location: string;
  machines: string[];
  speed: number;
}

const given = JSON.parse(process.argv[2] ?? "") as GivenCloudProvider;
const clock = fastClock(given.speed);
const userAgent = "cloud-provider";
const client = new KubeClient(await fromKubeconfig(given.kubeconfig), { userAgent });
const arm = new Arm({
  cloud: customCloud({ resourceManager: given.resourceManager }),
  credential: { identity: "cloud-provider", token: async () => given.token },
  clock,
  userAgent,
});
const feature = cloudProviderFeature({
  arm: (reconcile) => arm.for(reconcile),
  managementGroup: parseResourceId(given.managementGroup),
  subnetId: given.subnetId,
  location: given.location,
  machines: given.machines.map((id) => parseResourceId(id)),
});
await new Runtime({ client, log: makeLog(), clock, features: [feature] }).run(
  new AbortController().signal,
);
