import { Arm } from "../../../src/azure/arm.ts";
import { customCloud } from "../../../src/azure/clouds.ts";
import { KubeClient } from "../../../src/kube/client.ts";
import { fromKubeconfig } from "../../../src/kube/credentials.ts";
import { makeLog } from "../../../src/kube/log.ts";
import { Runtime } from "../../../src/kube/runtime.ts";
import { cloudProviderFeature } from "../../../src/local/cloud-provider/controller.ts";
import { fastClock } from "../../../src/local/fast-clock.ts";
import { parseResourceId } from "../../../src/model/resource-id.ts";

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
  arm: (pass) => arm.for(pass),
  managementGroup: parseResourceId(given.managementGroup),
  subnetId: given.subnetId,
  location: given.location,
  machines: given.machines.map((id) => parseResourceId(id)),
});
await new Runtime({ client, log: makeLog(), clock, features: [feature] }).run(
  new AbortController().signal,
);
