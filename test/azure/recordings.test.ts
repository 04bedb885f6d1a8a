import { readdirSync } from "node:fs";
import { Arm, type ArmClient } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { AzureError } from "postern/azure/errors.ts";
import { type ArmResource, type ResourceGateway, resourceGateway } from "postern/azure/gateway.ts";
import { apiVersions } from "postern/azure/gateways/api-versions.ts";
import { backendPools } from "postern/azure/gateways/backend-pools.ts";
import { loadBalancers } from "postern/azure/gateways/load-balancers.ts";
import { networkInterfaces } from "postern/azure/gateways/network-interfaces.ts";
import { privateDnsZones, virtualNetworkLinks } from "postern/azure/gateways/private-dns.ts";
import { privateEndpoints } from "postern/azure/gateways/private-endpoints.ts";
import { privateLinkServices } from "postern/azure/gateways/private-link-services.ts";
import { resourceGroups } from "postern/azure/gateways/resource-groups.ts";
import { scaleSetInstances } from "postern/azure/gateways/scale-set-instances.ts";
import { subnets } from "postern/azure/gateways/subnets.ts";
import { virtualMachines } from "postern/azure/gateways/virtual-machines.ts";
import { virtualNetworks } from "postern/azure/gateways/virtual-networks.ts";
import { describePath } from "postern/azure/request-path.ts";
import { staticToken } from "postern/azure/tokens.ts";
import { expect, onTestFinished, test } from "vitest";
import { describeWithData } from "../setup/needs.ts";
import { caller } from "./fake-arm.ts";
import { HurriedClock } from "./hurried-clock.ts";
import { type Interaction, readRecording, replay } from "./replay.ts";

/** The gateway to each type in the recordings; those at the end are not ours, and only the bystanders. */
const gateways: Record<string, (arm: ArmClient) => ResourceGateway<ArmResource>> = {
  resourcegroups: resourceGroups,
  loadbalancers: loadBalancers,
  "loadbalancers/backendaddresspools": backendPools,
  networkinterfaces: networkInterfaces,
  virtualnetworks: virtualNetworks,
  "virtualnetworks/subnets": subnets,
  privatelinkservices: privateLinkServices,
  privateendpoints: privateEndpoints,
  privatednszones: privateDnsZones,
  "privatednszones/virtualnetworklinks": virtualNetworkLinks,
  virtualmachines: virtualMachines,
  "virtualmachinescalesets/virtualmachines": scaleSetInstances,
  publicipaddresses: bystander(
    apiVersions.network,
    "providers/Microsoft.Network/publicIPAddresses",
  ),
  "privateendpoints/privatednszonegroups": bystander(apiVersions.network, "privateDnsZoneGroups"),
  virtualmachinescalesets: bystander(
    apiVersions.compute,
    "providers/Microsoft.Compute/virtualMachineScaleSets",
  ),
};

function bystander(apiVersion: string, collection: string) {
  return (arm: ArmClient) => resourceGateway<ArmResource>(arm, { apiVersion, collection });
}

describeWithData("arm-recordings", "recorded ARM traffic", (folder) => {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => name.replace(".yaml", ""));

  test.each(names)("%s: every answer is understood", async (name) => {
    const interactions = readRecording(folder, name);
    const { url, strange, answered } = await replay(interactions);
    const clock = new HurriedClock();
    const cloud = customCloud({ resourceManager: url });
    const made = new Arm({ cloud, credential: staticToken("t"), clock });
    onTestFinished(() => made.close());
    const arm = made.for(caller());
    const story: string[] = [];
    let last = "";
    for (const interaction of interactions) {
      const { pathname: path } = new URL(interaction.request.url);
      // An operation belongs to the write before it; without an address the resource itself is looked at.
      const looks = path === last && story.at(-1)?.endsWith(": running");
      if (isOperation(path) || looks) {
        clock.reconcile(600_000);
        const { state } = (await arm.check(last)) ?? { state: "forgotten" };
        story.push(`  then ${state}`);
      } else {
        if (interaction.request.method !== "GET") last = path;
        story.push(await tell(arm, path, interaction));
      }
    }
    expect(strange).toEqual([]);
    expect(answered()).toBe(interactions.length);
    await expect(`${story.join("\n")}\n`).toMatchFileSnapshot(`./recorded/${name}.txt`);
  });

  test.each([
    [
      "loadbalancerclient",
      "loadBalancers/testResource",
      "sku.name",
      "properties.frontendIPConfigurations.0.properties.publicIPAddress.id",
    ],
    [
      "backendaddresspoolclient",
      "backendAddressPools/testResource",
      "etag",
      "properties.loadBalancerBackendAddresses",
    ],
    [
      "virtualnetworkclient",
      "virtualNetworks/testResource",
      "etag",
      "properties.addressSpace.addressPrefixes.0",
    ],
    [
      "subnetclient",
      "subnets/testResource",
      "properties.addressPrefix",
      "properties.privateLinkServiceNetworkPolicies",
      "properties.privateEndpointNetworkPolicies",
    ],
    [
      "interfaceclient",
      "networkInterfaces/testResource",
      "properties.enableIPForwarding",
      "properties.ipConfigurations.0.properties.privateIPAddress",
      "properties.ipConfigurations.0.properties.subnet.id",
    ],
    [
      "privatelinkserviceclient",
      "privateLinkServices/testResource",
      "properties.alias",
      "properties.loadBalancerFrontendIpConfigurations.0.id",
      "properties.ipConfigurations.0.properties.subnet.id",
      "properties.privateEndpointConnections",
      "properties.networkInterfaces.0.id",
      "properties.fqdns",
      "properties.enableProxyProtocol",
    ],
    [
      "privateendpointclient",
      "privateEndpoints/testResource",
      "properties.privateLinkServiceConnections.0.properties.privateLinkServiceId",
      "properties.privateLinkServiceConnections.0.properties.privateLinkServiceConnectionState.status",
      "properties.manualPrivateLinkServiceConnections",
      "properties.customNetworkInterfaceName",
      "properties.subnet.id",
      "properties.customDnsConfigs",
      "properties.networkInterfaces.0.id",
    ],
    [
      "privatezoneclient",
      "privateDnsZones/aks-cit-privatednszone-uttest.privatelink.global.azmk8s.io",
      "properties.numberOfRecordSets",
      "properties.maxNumberOfRecordSets",
      "properties.numberOfVirtualNetworkLinks",
    ],
    [
      "virtualnetworklinkclient",
      "virtualNetworkLinks/testResource",
      "properties.virtualNetwork.id",
      "properties.registrationEnabled",
      "properties.virtualNetworkLinkState",
    ],
    [
      "virtualmachineclient",
      "virtualMachines/testResource",
      "properties.vmId",
      "properties.networkProfile.networkInterfaces.0.id",
    ],
    [
      "virtualmachinescalesetvmclient",
      "virtualMachines/0",
      "instanceId",
      "properties.vmId",
      "properties.networkProfile.networkInterfaces.0.id",
    ],
  ])("%s: what we read of %s is spelled as Azure spells it", (name, end, ...wanted) => {
    const { response } = readRecording(folder, name).find(
      ({ request, response: { code } }) =>
        request.method === "GET" && code === 200 && new URL(request.url).pathname.endsWith(end),
    ) ?? { response: { body: undefined } };
    const body: unknown = JSON.parse(response.body ?? "null");
    for (const path of wanted) {
      const value = path.split(".").reduce<unknown>((at, key) => Object(at)[key], body);
      expect(value, path).toBeDefined();
    }
  });
});

/** Ask for what was recorded, and say in a line what came of it. */
async function tell(arm: ArmClient, path: string, { request }: Interaction): Promise<string> {
  const { resource, thing } = describePath(path);
  const type = resource.split("/").slice(1).join("/").toLowerCase();
  const words = thing.split("/");
  const whole = words.length % 2 === 0;
  const gateway = gateways[type]?.(arm);
  if (gateway === undefined) return tellPlain(arm, path, request.url, thing);
  const ask = async (): Promise<string> => {
    const ifMatch = request.headers?.["If-Match"]?.[0];
    if (request.method === "PUT") {
      const body = JSON.parse(request.body ?? "") as ArmResource;
      const write = await gateway.put(path, body, { ifMatch });
      return write.state;
    }
    if (request.method === "DELETE") return (await gateway.remove(path)).state;
    if (!whole) return `${(await gateway.list(path.slice(0, scopeEnd(path, type)))).length} found`;
    return (await gateway.get(path)) === undefined ? "absent" : "found";
  };
  return `${request.method} ${thing}: ${await ask().catch(codeOf)}`;
}

/** What is no resource of a gateway: an instance view, or a list with a filter. */
async function tellPlain(
  arm: ArmClient,
  path: string,
  url: string,
  thing: string,
): Promise<string> {
  const query = Object.fromEntries(new URL(url).searchParams);
  const asked = arm.request("GET", path, { query }).then(({ status }) => String(status));
  return `GET ${thing}: ${await asked.catch(codeOf)}`;
}

function codeOf(error: unknown): string {
  return error instanceof AzureError ? `${error.status} ${error.code}` : String(error);
}

function isOperation(path: string): boolean {
  return /\/(operations|operationresults|privateDnsOperationStatuses)\/[^/]+$/i.test(path);
}

/** Where the scope of a list ends and its collection begins. */
function scopeEnd(path: string, type: string): number {
  return type.includes("/") ? path.lastIndexOf("/") : path.indexOf("/providers/");
}
