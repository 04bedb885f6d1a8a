import { guidFrom } from "@postern/azure-simulator/state/guid.ts";
import { clusterAnnotation, linkFinalizer } from "postern/hosted/names.ts";
import type { Action } from "./attack.ts";
import { victimLinkId } from "./attack.ts";
import {
  blueDomain,
  clientIds,
  evilDomain,
  groups,
  legacyID,
  legacyLinkId,
  location,
  networkIn,
  ownAppsZoneId,
  spareSubnet,
  subnetIn,
  subscriptions,
} from "./azure.ts";
import { own } from "./observe.ts";
import {
  clusterID,
  type HostedShape,
  hosted,
  hostedClusterObject,
  hostedSpec,
  workloadObjects,
} from "./victim.ts";
import type { Thing } from "./world.ts";

/** The stages of the victim's life, by name. */
export const stage = {
  before: 0,
  provisioning: 1,
  available: 2,
  changed: 3,
  deleting: 4,
  deleted: 5,
};

/** A hosted cluster that the attacker pays for itself. */
export const ownShape: HostedShape = {
  clusterID: guidFrom("attacker"),
  group: groups.evil,
  identity: clientIds.evil,
  baseDomain: evilDomain,
  privateZone: ownAppsZoneId,
};

const within = (object: Thing, metadata: object): Thing => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});

const controllerReference = (name: string, uid: string) => ({
  apiVersion: "hypershift.openshift.io/v1beta1",
  kind: "HostedControlPlane",
  name,
  uid,
  controller: true,
});

/** An AzurePrivateLinkService as the attacker writes it. */
export function linkObject(
  namespace: string,
  name: string,
  spec: object = {},
  metadata: object = {},
): Thing {
  return {
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "AzurePrivateLinkService",
    metadata: { namespace, name, ...metadata },
    spec: {
      loadBalancerIP: "$victimAddress",
      subscriptionID: subscriptions.evil,
      resourceGroupName: "evil",
      location: "westeurope",
      guestSubnetID: subnetIn(groups.evil),
      guestVNetID: networkIn(groups.evil),
      ...spec,
    },
  };
}

const create = (at: number, seconds: number, object: Thing): Action => ({
  stage: at,
  seconds,
  verb: "create",
  object,
});
const remove = (at: number, seconds: number, object: Thing): Action => ({
  stage: at,
  seconds,
  verb: "delete",
  object,
});
const status = (at: number, seconds: number, object: Thing, value: object): Action => ({
  stage: at,
  seconds,
  verb: "change status",
  object: { ...object, status: value },
});

const cluster = (key: string) => ({ annotations: { [clusterAnnotation]: key } });

const exposed = { loadBalancerIP: "$databaseAddress" };

/** The attacker's own hosted cluster, which it creates first and which becomes available. */
export const healthyCluster = create(
  stage.before,
  0,
  hostedClusterObject(own.namespace, own.name, ownShape),
);

/** A HostedCluster of the attacker that asks for nothing: it only has to exist. */
const idle = hostedClusterObject("evil", "idle", { ...ownShape, topology: "Public" });

const forged = linkObject(
  "evil",
  "forged",
  {},
  { ...cluster("evil/gone"), finalizers: [linkFinalizer] },
);
const noted = linkObject(
  "evil",
  "noted",
  {},
  {
    finalizers: [linkFinalizer],
    annotations: {
      [clusterAnnotation]: "evil/gone",
      "postern.io/nat-subnet-id": `${networkIn(groups.management)}/subnets/${spareSubnet}`,
    },
  },
);

/** A cluster that the attacker puts into the group of another, with an identity that names the Secret of that one. */
function thief(group: string, victim: "two" | "mc", home: string): Thing[] {
  return workloadObjects("evil", "thief", group, "evil").map((object) => {
    if (object.kind !== "AzureClusterIdentity") return object;
    const clientSecret = { namespace: home, name: victim };
    const spec = object.spec as object;
    return { ...object, spec: { ...spec, clientID: clientIds[victim], clientSecret } };
  });
}
const thiefOfTwo = thief(groups.two, "two", "blue-capi");
const thiefOfManagement = thief(groups.mc, "mc", "org-mc");

/** Set the status that lets the operator work on a cluster of Cluster API. */
export function readied(at: number, seconds: number, objects: readonly Thing[]): Action[] {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  return objects.flatMap((each) => {
    if (each.kind === "AzureCluster") {
      const condition = { type: "LoadBalancersReady", status: "True", lastTransitionTime };
      return [status(at, seconds, each, { conditions: [condition] })];
    }
    return each.kind === "Cluster" ? [status(at, seconds, each, { phase: "Provisioned" })] : [];
  });
}

const change = (at: number, seconds: number, object: Thing): Action => ({
  stage: at,
  seconds,
  verb: "change",
  object,
});

/** An object in the namespace of the attacker's own control plane. */
const inOwn = (kind: string, name: string, rest: object = {}, metadata: object = {}): Thing => ({
  apiVersion: kind === "Service" ? "v1" : "hypershift.openshift.io/v1beta1",
  kind,
  metadata: { namespace: own.controlPlane, name, ...metadata },
  ...rest,
});
const ownService = inOwn("Service", "private-router");
const ownControlPlane = inOwn("HostedControlPlane", own.name);
const ownLink = inOwn("AzurePrivateLinkService", "private-router");

/** The attacker's own hosted cluster in another form. */
const ownCluster = (shape: HostedShape) =>
  hostedClusterObject(own.namespace, own.name, { ...ownShape, ...shape });

const bluePlace = { guestVNetID: networkIn(groups.blue), baseDomain: blueDomain };
const blueIn = (type: string, name: string) =>
  `${groups.blue}/providers/Microsoft.Network/${type}/${name}`;
const blueStatus = {
  privateLinkServiceID: victimLinkId,
  privateEndpointID: blueIn("privateEndpoints", "private-router-pe"),
  privateDNSZoneID: blueIn("privateDnsZones", "on-e.hypershift.local"),
  baseDomainDNSZoneID: blueIn("privateDnsZones", blueDomain),
  dnsZoneName: "on-e.hypershift.local",
};

/** The same change again and again: the operator takes it back. */
const requeue = (seconds: readonly number[], act: (seconds: number) => Action) => seconds.map(act);
const late = [60, 62, 64, 66, 68];

const www = workloadObjects("evil", "www", groups.evil, "evil");

/** The attacks of the review, each under its name. */
export const attacks: Readonly<Record<string, readonly Action[]>> = {
  "a bare AzurePrivateLinkService exposes the load balancer of another namespace": [
    create(stage.before, 0, idle),
    create(stage.available, 0, linkObject("evil", "bare", exposed, cluster("evil/idle"))),
  ],
  "a bare AzurePrivateLinkService names the HostedCluster of another namespace": [
    create(stage.available, 0, linkObject("evil", "bare", exposed, cluster("blue/on-e"))),
  ],
  "a bare AzurePrivateLinkService that is older than the cluster takes its zone away": [
    create(
      stage.before,
      0,
      linkObject(
        "evil",
        "private-router",
        { guestVNetID: networkIn(groups.blue), baseDomain: "blue.example.com" },
        cluster("evil/x"),
      ),
    ),
  ],
  "a HostedCluster takes over kube-system": [
    create(stage.before, 0, hostedClusterObject("kube", "system", ownShape)),
  ],
  "a HostedCluster enters the control plane namespace of another cluster": [
    create(
      stage.available,
      60,
      hostedClusterObject("blue-on", "e", { ...ownShape, identity: clientIds.blue }),
    ),
  ],
  "a HostedCluster occupies the control plane namespace before its cluster comes": [
    create(stage.before, 0, hostedClusterObject("blue-on", "e", ownShape)),
  ],
  "an AzureClusterIdentity acts with the Secret of another namespace": [
    ...thiefOfTwo.map((each) => create(stage.available, 60, each)),
    ...readied(stage.available, 60, thiefOfTwo),
  ],
  "an AzureClusterIdentity acts with the Secret of the management cluster": [
    ...thiefOfManagement.map((each) => create(stage.available, 60, each)),
    ...readied(stage.available, 60, thiefOfManagement),
  ],
  "a forged status gets the untagged link service of another cluster deleted": [
    create(stage.available, 10, forged),
    status(stage.available, 10, forged, { privateLinkServiceID: legacyLinkId }),
    remove(stage.available, 20, forged),
  ],
  "a forged status gets the link service of another cluster deleted": [
    create(stage.available, 60, forged),
    status(stage.available, 60, forged, { privateLinkServiceID: victimLinkId }),
    remove(stage.available, 70, forged),
  ],
  "a forged annotation gets a subnet deleted that the operator did not create": [
    create(stage.available, 10, noted),
    remove(stage.available, 20, noted),
  ],
  "a HostedCluster claims the hostname of another cluster": [
    create(
      stage.available,
      60,
      hostedClusterObject("evil", "x", { ...ownShape, apiHostname: "api-on-e.blue.example.com" }),
    ),
  ],
  "a HostedCluster claims a hostname of the management cluster": [
    create(
      stage.before,
      0,
      hostedClusterObject("evil", "x", { ...ownShape, apiHostname: "console.mgmt.example.com" }),
    ),
  ],
  "a cluster of Cluster API takes a reserved name in the base zone": [
    ...www.map((each) => create(stage.available, 0, each)),
    ...readied(stage.available, 0, www),
  ],
};

/** A control plane that no HostedCluster has, and the Service of its router with an address of the victim. */
const fake: Thing = {
  apiVersion: "hypershift.openshift.io/v1beta1",
  kind: "HostedControlPlane",
  metadata: { namespace: "evil", name: "fake", ...cluster("evil/idle") },
  spec: hostedSpec("fake", ownShape),
};
const fakeService: Thing = {
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    namespace: "evil",
    name: "private-router",
    annotations: { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" },
    ownerReferences: [controllerReference("fake", "$fakeControlPlaneUid")],
  },
  spec: { type: "LoadBalancer", ports: [{ port: 443 }] },
};

const namesake = workloadObjects("evil", "two", groups.evil, "evil");
const borrowed = workloadObjects("evil", "three", groups.evil, "evil", {
  link: "two-api-privatelink",
});

/** A cluster of Cluster API that acts by the identity that the platform team shares between tenants. */
function byShared(network: object): Thing[] {
  return workloadObjects("evil", "three", groups.three, "evil").map((object) => {
    if (object.kind !== "AzureCluster") return object;
    const { networkSpec, ...spec } = object.spec as { networkSpec: object };
    const identityRef = { kind: "AzureClusterIdentity", name: "shared", namespace: "org-mc" };
    return {
      ...object,
      spec: { ...spec, identityRef, networkSpec: { ...networkSpec, ...network } },
    };
  });
}

/** Create a cluster of Cluster API, and let the operator work on it. */
const started = (at: number, seconds: number, objects: readonly Thing[]): Action[] => [
  ...objects.map((each) => create(at, seconds, each)),
  ...readied(at, seconds, objects),
];

const endpointTo = (id: string, more: object = {}) => ({
  subnets: [
    {
      name: "nodes",
      role: "node",
      privateEndpoints: [
        {
          name: "spy",
          location,
          privateLinkServiceConnections: [{ privateLinkServiceID: id }],
          ...more,
        },
      ],
    },
  ],
});
const linkOfTwo = `${groups.two}/providers/Microsoft.Network/privateLinkServices/two-api-privatelink`;
const groupOfTwo = groups.two.split("/").at(-1);

/** Attacks by an identity that has rights in the groups of both tenants. */
export const sharedIdentityAttacks: typeof attacks = {
  "a private endpoint connects to the API server of another namespace": started(
    stage.available,
    60,
    byShared(endpointTo(linkOfTwo)),
  ),
  "a private endpoint waits for the link service of another namespace": started(
    stage.before,
    0,
    byShared(endpointTo(linkOfTwo, { manualApproval: true })),
  ),
  "a cluster puts itself into the network of another namespace by its resource group": started(
    stage.before,
    0,
    byShared({ vnet: { name: "vnet", resourceGroup: groupOfTwo } }),
  ),
  "a cluster puts itself into the network of another namespace by its id": started(
    stage.available,
    60,
    byShared({ vnet: { name: "vnet", id: networkIn(groups.two) } }),
  ),
  "a private endpoint takes an address in the network of another namespace": started(
    stage.available,
    60,
    byShared({
      vnet: { name: "vnet", resourceGroup: groupOfTwo },
      ...endpointTo(
        `${groups.mc}/providers/Microsoft.Network/privateLinkServices/mc-gateway-privatelink`,
      ),
    }),
  ),
  "an id that cannot be read hides the resource group of another namespace's network": started(
    stage.before,
    0,
    byShared({
      vnet: { name: "vnet", id: `${groups.three}/nowhere`, resourceGroup: groupOfTwo },
    }),
  ),
};

/** Attacks that the review does not list. */
export const furtherAttacks: typeof attacks = {
  "a HostedCluster takes the clusterID of another that is yet to be created": [
    create(stage.before, 0, hostedClusterObject("evil", "x", { ...ownShape, clusterID })),
  ],
  "a HostedCluster takes the clusterID of another that is available": [
    create(stage.available, 60, hostedClusterObject("evil", "x", { ...ownShape, clusterID })),
  ],
  "a forged Service in its own control plane namespace exposes another load balancer": [
    create(stage.before, 0, hostedClusterObject("evil", "x", ownShape)),
    ...requeue(late, (seconds) =>
      status(stage.available, seconds, ownService, {
        loadBalancer: { ingress: [{ ip: "$databaseAddress", ipMode: "VIP" }] },
      }),
    ),
  ],
  "a bare AzurePrivateLinkService waits for the load balancer of a cluster before it exists": [
    create(stage.before, 0, idle),
    create(stage.before, 0, linkObject("evil", "bare", {}, cluster("evil/idle"))),
  ],
  "a control plane without a HostedCluster and a forged Service expose another load balancer": [
    create(stage.before, 0, idle),
    create(stage.available, 0, fake),
    create(stage.available, 0, fakeService),
    status(stage.available, 0, fakeService, {
      loadBalancer: { ingress: [{ ip: "$databaseAddress", ipMode: "VIP" }] },
    }),
  ],
  "a cluster of Cluster API has the name of another that is yet to be created": [
    ...namesake.map((each) => create(stage.before, 0, each)),
    ...readied(stage.before, 0, namesake),
  ],
  "a cluster of Cluster API has the name of another that is available": [
    ...namesake.map((each) => create(stage.available, 40, each)),
    ...readied(stage.available, 40, namesake),
  ],
  "a link has the name of the link of another that is yet to be created": [
    ...borrowed.map((each) => create(stage.before, 0, each)),
    ...readied(stage.before, 0, borrowed),
  ],
  "a link has the name of the link of another that is available": [
    ...borrowed.map((each) => create(stage.available, 40, each)),
    ...readied(stage.available, 40, borrowed),
  ],
};

/** Attacks by a tenant with a hosted cluster that works, on what is its own. */
export const attacksFromWithin: typeof attacks = {
  "its link names the load balancer of another": [
    healthyCluster,
    ...requeue(late, (s) =>
      change(stage.available, s, { ...ownLink, spec: { loadBalancerIP: "$databaseAddress" } }),
    ),
  ],
  "its link is replaced by one for the load balancer of another": [
    healthyCluster,
    change(stage.available, 60, within(ownLink, { finalizers: [] })),
    remove(stage.available, 60, ownLink),
    create(
      stage.available,
      60,
      linkObject(own.controlPlane, "private-router", exposed, {
        ...cluster("evil/x"),
        ownerReferences: [controllerReference("x", "$ownControlPlaneUid")],
      }),
    ),
  ],
  "its Service has the address of another and a class that no cloud provider serves": [
    healthyCluster,
    change(stage.available, 40, ownCluster({ paused: true })),
    change(stage.available, 45, within(ownService, { finalizers: [] })),
    remove(stage.available, 45, ownService),
    create(stage.available, 45, {
      ...within(ownService, {
        annotations: { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" },
        labels: { "postern.io/made-by": "topology" },
        ownerReferences: [controllerReference(own.name, "$ownControlPlaneUid")],
      }),
      spec: {
        type: "LoadBalancer",
        loadBalancerClass: "evil.example.com/none",
        ports: [{ name: "https", port: 443, targetPort: "https" }],
      },
    }),
    status(stage.available, 45, ownService, {
      loadBalancer: { ingress: [{ ip: "$databaseAddress", ipMode: "VIP" }] },
    }),
    change(stage.available, 50, { ...ownCluster({}), spec: { pausedUntil: null } }),
  ],
  "it takes the clusterID of a link service without an owner": [
    create(stage.before, 0, ownCluster({ clusterID: legacyID })),
    status(stage.available, 40, ownLink, { privateLinkServiceID: legacyLinkId }),
    remove(stage.available, 60, ownCluster({})),
  ],
  "its link is another's by its annotation": [
    healthyCluster,
    change(stage.available, 60, within(ownLink, cluster("blue/on-e"))),
    remove(stage.changed, 0, ownLink),
  ],
  "its control plane is another's by its annotation": [
    healthyCluster,
    change(stage.available, 60, within(ownControlPlane, cluster("blue/on-e"))),
    change(stage.available, 60, within(ownLink, cluster("blue/on-e"))),
    remove(stage.changed, 0, ownControlPlane),
  ],
  "the status of its link names everything of another, and it is deleted": [
    healthyCluster,
    status(stage.available, 60, ownLink, blueStatus),
    remove(stage.available, 60, ownCluster({})),
  ],
  "the status of its link names the link service without an owner, and it is deleted": [
    healthyCluster,
    status(stage.available, 60, ownLink, {
      privateLinkServiceID: legacyLinkId,
      privateEndpointID: blueIn("privateEndpoints", "legacy"),
    }),
    remove(stage.available, 60, ownCluster({})),
  ],
  "its clusterID and its status name the link service of another, and it is deleted": [
    create(stage.before, 0, ownCluster({ clusterID })),
    status(stage.available, 60, ownLink, blueStatus),
    remove(stage.available, 70, ownCluster({ clusterID })),
  ],
  "it takes the clusterID of another later, with a status that names the link service of that": [
    create(stage.available, 40, ownCluster({ clusterID })),
    status(stage.available, 60, ownLink, blueStatus),
    remove(stage.available, 70, ownCluster({ clusterID })),
  ],
  "an older cluster of its own is in the network and base domain of another": [
    create(
      stage.before,
      0,
      ownCluster({
        network: networkIn(groups.blue),
        baseDomain: blueDomain,
        hostDomain: evilDomain,
      }),
    ),
  ],
  "its older link is put into the network and base domain of another": [
    healthyCluster,
    ...requeue([34, 36, 38, 39], (s) => change(stage.before, s, { ...ownLink, spec: bluePlace })),
    status(stage.before, 39, ownLink, blueStatus),
  ],
  "its cluster is paused, and its control plane changed into the identity of another": [
    healthyCluster,
    change(stage.available, 50, ownCluster({ paused: true })),
    change(stage.available, 60, {
      ...ownControlPlane,
      spec: hostedSpec("x", { ...ownShape, identity: clientIds.blue }),
    }),
  ],
  "its cluster changes its hostnames into those of another": [
    healthyCluster,
    change(stage.available, 60, ownCluster({ apiHostname: "api-on-e.blue.example.com" })),
  ],
  "its cluster is paused, and its control plane takes the hostnames of another": [
    healthyCluster,
    change(stage.available, 50, ownCluster({ paused: true })),
    change(stage.available, 60, {
      ...ownControlPlane,
      spec: hostedSpec("x", { ...ownShape, apiHostname: "api-on-e.blue.example.com" }),
    }),
  ],
  "a second control plane beside its own stands in for that of another": [
    healthyCluster,
    create(
      stage.before,
      35,
      inOwn(
        "HostedControlPlane",
        hosted.name,
        { spec: hostedSpec(hosted.name, { ...ownShape, identity: clientIds.blue }) },
        cluster("blue/on-e"),
      ),
    ),
    create(
      stage.before,
      35,
      linkObject(own.controlPlane, "oauth-openshift", bluePlace, {
        ...cluster("blue/on-e"),
        ownerReferences: [controllerReference(hosted.name, "$fakeOwnControlPlaneUid")],
      }),
    ),
  ],
  "its cluster has the infraID of another": [
    create(stage.before, 0, ownCluster({ infraID: "on-e-infra" })),
    remove(stage.available, 60, ownCluster({})),
  ],
  "its cluster takes its addresses out of the subnet of another's NAT": [
    create(stage.available, 40, ownCluster({ natSubnet: "$natSubnet" })),
    remove(stage.available, 80, ownCluster({})),
  ],
  "its cluster writes into the zones of another": [
    healthyCluster,
    change(
      stage.available,
      50,
      within(ownCluster({}), {
        annotations: {
          "postern.io/private-dns": "existing",
          "postern.io/base-domain-dns-zone-id": blueIn("privateDnsZones", blueDomain),
          "postern.io/private-dns-virtual-network-ids": networkIn(groups.blue),
        },
      }),
    ),
    remove(stage.changed, 0, ownCluster({})),
  ],
};

/** What the attacker may do for itself, beside which nothing of the victim changes either. */
export const harmless: Readonly<Record<string, readonly Action[]>> = {
  "a hosted cluster of its own": [
    create(stage.before, 0, hostedClusterObject("evil", "x", ownShape)),
  ],
  "a hosted cluster of its own that is deleted": [
    create(stage.provisioning, 0, hostedClusterObject("evil", "x", ownShape)),
    remove(stage.changed, 0, hostedClusterObject("evil", "x", ownShape)),
  ],
  "a cluster of Cluster API of its own": [
    ...workloadObjects("evil", "three", groups.evil, "evil").map((each) =>
      create(stage.before, 0, each),
    ),
    ...readied(stage.before, 0, workloadObjects("evil", "three", groups.evil, "evil")),
  ],
};
