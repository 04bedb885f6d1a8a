import { guidFrom } from "@postern/azure-simulator/state/guid.ts";
import { natSubnetAnnotation } from "postern/hosted/link/nat/recorded-subnet.ts";
import { clusterAnnotation, endpointFinalizer, linkFinalizer } from "postern/hosted/names.ts";
import { fc } from "../setup/random.ts";
import { type Action, victimLinkId } from "./attack.ts";
import { healthyCluster, linkObject, ownShape, readied, stage } from "./attacks.ts";
import {
  appsZoneId,
  clientIds,
  groups,
  legacyID,
  legacyLinkId,
  networkIn,
  spareSubnet,
  subnetIn,
  subscriptions,
} from "./azure.ts";
import { constant, own, writable } from "./observe.ts";
import {
  beforeSeconds,
  clusterID,
  hostedClusterObject,
  hostedSpec,
  stages,
  workloadObjects,
} from "./victim.ts";
import type { Thing } from "./world.ts";

const { record, constantFrom, option, oneof, integer, subarray, array, boolean } = fc;

/** The attacker's own id of a cluster. */
const ownID = constant(guidFrom("attacker"));

const someGroup = constantFrom(groups.evil, groups.blue, groups.two, groups.management, groups.mc);
const someIdentity = constantFrom(clientIds.evil, clientIds.blue, clientIds.two, clientIds.mc);
const someDomain = constantFrom(
  "evil.example.com",
  "blue.example.com",
  "example.com",
  "example.net",
  "on-e.hypershift.local",
);
const someHost = constantFrom(
  "api.evil.example.com",
  "api-on-e.blue.example.com",
  "oauth-on-e.blue.example.com",
  "console.mgmt.example.com",
);
const someSubscriptions = subarray(Object.values(subscriptions), { maxLength: 2 });
const someAddress = constantFrom("$victimAddress", "$databaseAddress", "10.7.0.200", "10.7.0.9");
const someLink = constantFrom(victimLinkId, legacyLinkId);
const somePublisher = constantFrom("blue/on-e", "blue/on-e", "evil/x", "blue-on/e", "none");
const someSubnet = constantFrom(
  "$natSubnet",
  `${networkIn(groups.management)}/subnets/${spareSubnet}`,
  subnetIn(groups.management),
);

const namespace = constantFrom(...writable);
const hostedName = constantFrom("x", "e", "system", "on-e", "public");
const workloadName = constantFrom("three", "two", "mc", "www", "on-e");

const absent = { nil: undefined } as const;

/** An object with a few of these fields. With all of them at once hardly anything would get past the first check. */
function few<T extends object>(
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
  maxLength: number,
): fc.Arbitrary<Partial<T>> {
  const entries = Object.entries<fc.Arbitrary<unknown>>(fields).map(([key, value]) =>
    value.map((each) => [key, each] as const),
  );
  return fc
    .uniqueArray(oneof(...entries), { maxLength, selector: ([key]) => key })
    .map((all) => Object.fromEntries(all) as Partial<T>);
}

const someOwner = oneof(
  ...(["$victimControlPlaneUid", "$ownControlPlaneUid", "$unknownUid"] as const).map((uid) =>
    constantFrom("on-e", "x").map((name) => ({
      apiVersion: "hypershift.openshift.io/v1beta1",
      kind: "HostedControlPlane",
      name,
      uid,
      controller: true,
    })),
  ),
  constantFrom("$victimClusterUid", "$victimLinkUid").map((uid) => ({
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "HostedCluster",
    name: "on-e",
    uid,
  })),
);

const someAnnotations = record({
  publisher: option(somePublisher, { nil: undefined, freq: 6 }),
  others: few(
    {
      "postern.io/nat-subnet-id": someSubnet,
      [natSubnetAnnotation("private-router")]: someSubnet,
      "postern.io/foreign-endpoints": constantFrom("disconnect", "refuse"),
      "postern.io/abandon-guest-resources": constantFrom("true"),
      "postern.io/private-dns": constantFrom("managed", "existing", "none"),
      "postern.io/base-domain-dns-zone-id": constantFrom(
        `${groups.blue}/providers/Microsoft.Network/privateDnsZones/blue.example.com`,
        appsZoneId,
      ),
      "postern.io/private-dns-virtual-network-ids": constantFrom(networkIn(groups.blue)),
      "azure.giantswarm.io/azure-cluster-identity": constantFrom("two", "mc"),
      "azure.giantswarm.io/azure-cluster-identity-namespace": constantFrom("blue-capi", "org-mc"),
      "azure-private-endpoint-operator.giantswarm.io/private-link-apiserver-ip": someAddress,
    },
    2,
  ),
}).map(
  ({ publisher, others }): Record<string, string> => ({
    ...(others as Record<string, string>),
    ...(publisher && { [clusterAnnotation]: publisher }),
  }),
);

const someMetadata = record({
  annotations: someAnnotations,
  others: few(
    {
      labels: few(
        {
          "postern.io/made-by": constantFrom("topology"),
          "hypershift.openshift.io/hosted-control-plane": constantFrom("blue-on-e", "true"),
          "cluster.x-k8s.io/cluster-name": constantFrom("two", "mc"),
        },
        2,
      ),
      ownerReferences: array(someOwner, { minLength: 1, maxLength: 1 }),
      finalizers: subarray([linkFinalizer, endpointFinalizer, "evil.example.com/never"], {
        minLength: 1,
      }),
    },
    2,
  ),
}).map(({ annotations, others }) => ({ annotations, ...others }));

const within = (object: Thing, metadata: object): Thing => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});

const someShape = few(
  {
    clusterID: constantFrom(ownID, clusterID, legacyID),
    infraID: constantFrom("evil-infra", "on-e-infra", "spare"),
    group: someGroup,
    identity: someIdentity,
    baseDomain: someDomain,
    apiHostname: someHost,
    network: constantFrom(networkIn(groups.blue), networkIn(groups.evil)),
    allowed: someSubscriptions,
    topology: constantFrom("Private", "Public"),
    hostDomain: constantFrom("evil.example.com"),
    natSubnet: someSubnet,
    paused: boolean(),
  },
  3,
).map((shape) => ({ clusterID: ownID, group: groups.evil, identity: clientIds.evil, ...shape }));

const hostedCluster = record({
  at: namespace,
  name: hostedName,
  shape: someShape,
  metadata: someMetadata,
}).map(({ at, name, shape, metadata }) =>
  within(hostedClusterObject(at, name, shape), { ...metadata, ownerReferences: undefined }),
);

const controlPlane = record({
  at: namespace,
  name: hostedName,
  shape: someShape,
  metadata: someMetadata,
}).map(({ at, name, shape, metadata }) =>
  within(
    {
      apiVersion: "hypershift.openshift.io/v1beta1",
      kind: "HostedControlPlane",
      metadata: { namespace: at, name },
      spec: hostedSpec(name, shape),
    },
    metadata,
  ),
);

const link = record({
  at: namespace,
  name: constantFrom("private-router", "oauth-openshift", "bare"),
  metadata: someMetadata,
  spec: few(
    {
      loadBalancerIP: someAddress,
      resourceGroupName: constantFrom("evil", "blue", "management"),
      subscriptionID: constantFrom(...Object.values(subscriptions)),
      guestSubnetID: someGroup.map(subnetIn),
      guestVNetID: someGroup.map(networkIn),
      natSubnetID: constantFrom(
        `${networkIn(groups.management)}/subnets/${spareSubnet}`,
        subnetIn(groups.management),
      ),
      additionalAllowedSubscriptions: someSubscriptions,
      baseDomain: someDomain,
    },
    3,
  ),
}).map(({ at, name, spec, metadata }) => linkObject(at, name, spec, metadata));

const linkStatus = record(
  {
    privateLinkServiceID: someLink,
    privateEndpointID: constantFrom(
      `${groups.blue}/providers/Microsoft.Network/privateEndpoints/private-router-pe`,
      `${groups.blue}/providers/Microsoft.Network/privateEndpoints/legacy`,
    ),
    privateDNSZoneID: constantFrom(
      `${groups.blue}/providers/Microsoft.Network/privateDnsZones/on-e.hypershift.local`,
    ),
    baseDomainDNSZoneID: constantFrom(
      `${groups.blue}/providers/Microsoft.Network/privateDnsZones/blue.example.com`,
      appsZoneId,
    ),
    dnsZoneName: constantFrom("on-e.hypershift.local", "blue.example.com"),
  },
  { requiredKeys: [] },
);

const service = record({
  // Where the cloud provider serves Services it would fight for their status.
  at: constantFrom("evil", "blue-on", "kube"),
  name: constantFrom("private-router", "oauth-openshift", "kube-apiserver"),
  internal: boolean(),
  address: option(someAddress, absent),
  metadata: someMetadata,
}).map(
  ({ at, name, internal, address, metadata }): Thing => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      namespace: at,
      name,
      ...metadata,
      annotations: {
        ...metadata.annotations,
        ...(internal && { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" }),
      },
    },
    spec: {
      type: "LoadBalancer",
      ports: [{ port: 443 }],
      ...(address && { loadBalancerIP: address }),
    },
  }),
);

const nodePool = record({
  at: namespace,
  clusterName: hostedName,
  subnetID: someGroup.map(subnetIn),
}).map(
  ({ at, clusterName, subnetID }): Thing => ({
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "NodePool",
    metadata: { namespace: at, name: clusterName },
    spec: { clusterName, platform: { type: "Azure", azure: { subnetID } } },
  }),
);

const account = record({ at: namespace, metadata: someMetadata }).map(({ at, metadata }) =>
  within(
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { namespace: at, name: "control-plane-operator" },
    },
    metadata,
  ),
);

const secret = record({
  at: namespace,
  name: constantFrom("admin-kubeconfig", "service-network-admin-kubeconfig", "two", "evil", "mc"),
  kubeconfig: constantFrom("", "{}", "a: [", "clusters: nothing"),
  clientSecret: constantFrom("secret-of-evil", "guessed"),
}).map(
  ({ at, name, kubeconfig, clientSecret }): Thing => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: at, name },
    stringData: { kubeconfig, clientSecret },
  }),
);

const clusterIdentity = record({
  at: namespace,
  name: constantFrom("evil", "two", "mc"),
  clientID: someIdentity,
  from: constantFrom("evil", "blue-capi", "org-mc"),
  secret: constantFrom("evil", "two", "mc"),
}).map(({ at, name, clientID, from, secret: of }): Thing => {
  const [, identity] = workloadObjects(at, name, groups.evil, "evil");
  const { spec, metadata, ...rest } = identity as Thing;
  return {
    ...rest,
    metadata: { ...metadata, name },
    spec: { ...(spec as object), clientID, clientSecret: { namespace: from, name: of } },
  } as Thing;
});

const azureCluster = record({
  at: namespace,
  name: workloadName,
  group: someGroup,
  link: option(constantFrom("two-api-privatelink", "mc-gateway-privatelink"), absent),
  allowed: someSubscriptions,
  identity: constantFrom("evil", "two", "mc"),
  from: option(constantFrom("blue-capi", "org-mc"), absent),
  metadata: someMetadata,
}).map(({ at, name, group, link: named, allowed, identity, from, metadata }): Thing => {
  const over = { allowed, ...(named && { link: named }) };
  const found = workloadObjects(at, name, group, "evil", over).find(
    ({ kind }) => kind === "AzureCluster",
  ) as Thing;
  const identityRef = {
    kind: "AzureClusterIdentity",
    name: identity,
    ...(from && { namespace: from }),
  };
  return within({ ...found, spec: { ...(found.spec as object), identityRef } }, metadata);
});

const capiCluster = record({ at: namespace, name: workloadName, metadata: someMetadata }).map(
  ({ at, name, metadata }) => within(objectOf(at, name, "Cluster"), metadata),
);
const kubeadm = record({ at: namespace, name: workloadName, metadata: someMetadata }).map(
  ({ at, name, metadata }) => within(objectOf(at, name, "KubeadmControlPlane"), metadata),
);

function objectOf(at: string, name: string, wanted: string): Thing {
  return workloadObjects(at, name, groups.evil, "evil").find(
    ({ kind }) => kind === wanted,
  ) as Thing;
}

const route = record({ at: namespace, host: someHost, metadata: someMetadata }).map(
  ({ at, host, metadata }) =>
    within(
      {
        apiVersion: "route.openshift.io/v1",
        kind: "Route",
        metadata: { namespace: at, name: "kube-apiserver-private" },
        spec: { host, to: { kind: "Service", name: "kube-apiserver", weight: 100 } },
      },
      metadata,
    ),
);

const lastTransitionTime = "2026-01-01T00:00:00Z";
const ready = (type: string) => ({
  type,
  status: "True",
  reason: "Ready",
  message: "",
  lastTransitionTime,
});

/** What may be written into the status of a kind. */
const statuses: Record<string, fc.Arbitrary<object>> = {
  AzurePrivateLinkService: linkStatus,
  Service: someAddress.map((ip) => ({ loadBalancer: { ingress: [{ ip, ipMode: "VIP" }] } })),
  AzureCluster: subarray(["LoadBalancersReady", "GSPrivateLinksReady", "GSDNSZoneReady"], {
    minLength: 1,
  }).map((types) => ({ conditions: types.map(ready) })),
  Cluster: constantFrom({ phase: "Provisioned" }),
  HostedControlPlane: constantFrom({ kubeConfig: { name: "two", key: "kubeconfig" } }),
  HostedCluster: constantFrom({
    conditions: [ready("TopologyApplied"), ready("AzurePrivateLinkServiceAvailable")],
  }),
};

const hostedKinds = [hostedCluster, controlPlane, link, service, nodePool, account, secret, route];
const clusterApiKinds = [clusterIdentity, azureCluster, capiCluster, kubeadm, secret];

const someStage = constantFrom(...Object.values(stage));
const someSeconds = constantFrom(0, 1, 3, 7, 15, 40);

/** Something that the attacker does with one object: create it, and later perhaps change it, its status, or delete it. */
const story = (kinds: fc.Arbitrary<Thing>[]) =>
  record({
    object: oneof(...kinds),
    stage: someStage,
    seconds: someSeconds,
    status: boolean(),
    later: option(
      record({
        verb: constantFrom("change", "change status", "delete" as const),
        stages: integer({ min: 0, max: 2 }),
        seconds: someSeconds,
      }),
      absent,
    ),
  }).chain(({ object, later, ...first }) => {
    const found = statuses[object.kind];
    const another = oneof(...kinds).filter(({ kind }) => kind === object.kind);
    return record({
      status: first.status && found ? found : constantFrom(undefined),
      changed: later?.verb === "change" ? another : constantFrom(undefined),
      changedStatus: later?.verb === "change status" && found ? found : constantFrom(undefined),
    }).map(({ status, changed, changedStatus }): Action[] => {
      const at = { stage: first.stage, seconds: first.seconds };
      const actions: Action[] = [{ ...at, verb: "create", object }];
      if (status) actions.push({ ...at, verb: "change status", object: bare(object, { status }) });
      if (later === undefined) return actions;
      const then = {
        stage: Math.min(first.stage + later.stages, stages.length - 1),
        seconds: later.stages === 0 ? Math.max(first.seconds + 1, later.seconds) : later.seconds,
      };
      if (changed) {
        const { name, namespace: home } = object.metadata;
        const metadata = { ...changed.metadata, name, namespace: home ?? "" };
        actions.push({ ...then, verb: "change", object: { ...changed, metadata } });
      }
      if (changedStatus)
        actions.push({
          ...then,
          verb: "change status",
          object: bare(object, { status: changedStatus }),
        });
      if (later.verb === "delete")
        actions.push({ ...then, verb: "delete", object: bare(object, {}) });
      return actions;
    });
  });

function bare(
  { apiVersion, kind, metadata: { name, namespace: home } }: Thing,
  rest: object,
): Thing {
  return { apiVersion, kind, metadata: { name, namespace: home ?? "" }, ...rest };
}

/** A whole cluster of Cluster API, so that the operator works on it, with some things of the victim in it. */
const workload = record({
  at: namespace,
  name: workloadName,
  over: few(
    {
      group: constantFrom(groups.two, groups.mc),
      link: constantFrom("two-api-privatelink", "mc-gateway-privatelink"),
      allowed: someSubscriptions,
    },
    2,
  ),
  clientID: someIdentity,
  secret: option(
    record({ namespace: constantFrom("blue-capi", "org-mc"), name: constantFrom("two", "mc") }),
    absent,
  ),
  reference: option(
    record({ namespace: constantFrom("blue-capi", "org-mc"), name: constantFrom("two", "mc") }),
    absent,
  ),
  annotations: someAnnotations,
  stage: someStage,
  seconds: someSeconds,
  deleted: option(integer({ min: 0, max: 2 }), absent),
}).map(({ at, name, over, clientID, secret: from, reference, annotations, deleted, ...when }) => {
  const { group = groups.evil, ...rest } = over;
  const objects = workloadObjects(at, name, group, "evil", rest).map((object): Thing => {
    const spec = object.spec as Record<string, unknown>;
    if (object.kind === "AzureClusterIdentity")
      return { ...object, spec: { ...spec, clientID, ...(from && { clientSecret: from }) } };
    if (object.kind !== "AzureCluster") return object;
    const identityRef = reference && { kind: "AzureClusterIdentity", ...reference };
    const metadata = { ...object.metadata, annotations };
    return { ...object, metadata, spec: { ...spec, ...(identityRef && { identityRef }) } };
  });
  const create = objects.map((object): Action => ({ ...when, verb: "create", object }));
  const later = { ...when, stage: Math.min(when.stage + (deleted ?? 0), stages.length - 1) };
  const remove = ["Cluster", "AzureCluster"].map((kind): Action => {
    const found = objects.find((each) => each.kind === kind) as Thing;
    return { ...later, seconds: later.seconds + 1, verb: "delete", object: bare(found, {}) };
  });
  return [...create, ...readied(when.stage, when.seconds, objects), ...(deleted ? remove : [])];
});

/** What the attacker does with something of its own cluster that works: change it, its status, or delete it. */
const fromWithin = record({
  object: oneof(
    record({ shape: someShape, metadata: someMetadata }).map(({ shape, metadata }) => ({
      ...within(hostedClusterObject(own.namespace, own.name, { ...ownShape, ...shape }), metadata),
    })),
    record({ shape: someShape, metadata: someMetadata }).map(({ shape, metadata }) =>
      within(
        {
          apiVersion: "hypershift.openshift.io/v1beta1",
          kind: "HostedControlPlane",
          metadata: { namespace: own.controlPlane, name: own.name },
          spec: hostedSpec(own.name, { ...ownShape, ...shape }),
        },
        metadata,
      ),
    ),
    ...[link, service, route, account].map((each) => (each as fc.Arbitrary<Thing>).map(inOwn)),
  ),
  verb: constantFrom("change", "change", "change status", "delete", "replace" as const),
  stage: someStage,
  seconds: someSeconds,
  requeue: integer({ min: 0, max: 3 }),
}).chain(({ object, verb, stage: at, seconds: first, requeue }) => {
  const found = statuses[object.kind] ?? constantFrom(undefined);
  return (found as fc.Arbitrary<object | undefined>).map((status): Action[] => {
    // Before the victim comes, the attacker's own cluster has to become available.
    const seconds = at === stage.before ? Math.max(first, beforeSeconds - 5) : first;
    const free = {
      ...bare(object, {}),
      metadata: { ...bare(object, {}).metadata, finalizers: [] },
    };
    const remove: Action = { stage: at, seconds, verb: "delete", object: bare(object, {}) };
    if (verb === "delete") return [remove];
    if (verb === "replace")
      return [
        { stage: at, seconds, verb: "change", object: free },
        remove,
        { stage: at, seconds, verb: "create", object },
        ...(status === undefined
          ? []
          : [
              {
                stage: at,
                seconds,
                verb: "change status" as const,
                object: bare(object, { status }),
              },
            ]),
      ];
    if (verb === "change status" && status === undefined) return [];
    const changed = verb === "change" ? object : bare(object, { status });
    // The operator takes some changes back.
    return Array.from({ length: requeue + 1 }, (_, n) => ({
      stage: at,
      seconds: seconds + n * 2,
      verb,
      object: changed,
    }));
  });
});

function inOwn(object: Thing): Thing {
  const name = object.kind === "AzurePrivateLinkService" ? "private-router" : object.metadata.name;
  return { ...object, metadata: { ...object.metadata, namespace: own.controlPlane, name } };
}

/** A random attack: some objects, each with its story, in the attacker's own namespaces. */
export function someAttack(family: "hosted" | "cluster-api"): fc.Arbitrary<readonly Action[]> {
  const kinds = (family === "hosted" ? hostedKinds : clusterApiKinds) as fc.Arbitrary<Thing>[];
  if (family === "cluster-api")
    return array(oneof(workload, story(kinds)), { minLength: 1, maxLength: 5 }).map((all) =>
      all.flat(),
    );
  const alone = array(story(kinds), { minLength: 1, maxLength: 5 });
  const beside = array(oneof(fromWithin, story(kinds)), { minLength: 1, maxLength: 5 });
  return oneof(
    alone.map((all) => all.flat()),
    beside.map((all) => [healthyCluster, ...all.flat()]),
    beside.map((all) => [healthyCluster, ...all.flat()]),
  );
}

/** How many attacks each of the two files tries; thousands by hand. */
export const randomRuns = Number(process.env.POSTERN_ATTACKS);
