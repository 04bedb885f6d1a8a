import type { Application, TrustedIssuer } from "@postern/azure-simulator/entra/application.ts";
import { service, serviceAccount as serviceAccountKind } from "@postern/core/kinds/core.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { route as routeKind } from "@postern/core/kinds/route.ts";
import { openPolicy } from "@postern/core/tenant-policy.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import {
  type ArmClients,
  createHostedArmClients,
  type HostedArmClients,
} from "postern/hosted/arm-clients.ts";
import { endpointFeature } from "postern/hosted/endpoint/feature.ts";
import { grantFeature } from "postern/hosted/grant/feature.ts";
import { identities } from "postern/hosted/identities.ts";
import { clusterAnnotation } from "postern/hosted/names.ts";
import { servicesFeature } from "postern/hosted/services/feature.ts";
import type { KubeClient } from "postern/kube/client.ts";
import type { MakeFeature, Runtime } from "postern/kube/runtime.ts";
import { beforeAll, expect, onTestFinished } from "vitest";
import type { AuditEntry, Cluster } from "../../setup/cluster.ts";
import { testOnReal } from "../../setup/differences.ts";
import {
  admissionPolicies,
  bindRole,
  createRole,
  installPolicies,
  mayDo,
  refusedForGood,
  serviceAccount,
  untilMay,
} from "../manifests.ts";
import { UsedPermissions } from "../unused-permissions.ts";
import { guestGroup, tenant } from "./azure.ts";
import {
  besideControllers,
  clientOf,
  fillByPages,
  lead,
  readOwnStatus,
  readOwnWrite,
  recordTwice,
} from "./beside-controllers.ts";
import { controlPlaneObject, hostedClusterObject } from "./objects.ts";
import { cloudProvider, managementSide } from "./whole-chain.ts";
import { describeHosted, type HostedWorld, type Thing } from "./world.ts";

const operator = { kind: "ServiceAccount", namespace: "postern", name: "postern-operator" };
const operatorUser = "system:serviceaccount:postern:postern-operator";
const controlPlaneUser = (name: string) =>
  `system:serviceaccount:clusters-${name}:control-plane-operator`;
const rbac = "rbac.authorization.k8s.io";
const bindingOf = (name: string) =>
  `/apis/${rbac}/v1/namespaces/clusters-${name}/rolebindings/postern-control-plane`;
const external = { type: "ExternalName", externalName: "example.com" };
const issuer = "https://kubernetes.default.svc";
const contributor =
  "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c";

const hyperShiftGroup = "hypershift.openshift.io";
/**
 * What no request shows. The API server itself asks for the permission to bind within the creation of a RoleBinding; OpenShift's asks for
 * the finalizers of an owner that blocks deletion and for the hostname of a Route, within the creation of the object.
 */
const notInTheAuditLog = {
  operator: [`bind clusterroles.${rbac} postern-control-plane`],
  management: [],
  topology: [
    `update hostedcontrolplanes/finalizers.${hyperShiftGroup}`,
    "create routes/custom-host.route.openshift.io",
    "update routes/custom-host.route.openshift.io",
  ],
  "control-plane": [`update hostedcontrolplanes/finalizers.${hyperShiftGroup}`],
  lease: [],
};

/** The dashboard shows that it may not read these: the operator of hosted clusters has nothing to do with them. */
const refusedToDashboard = [
  "list /apis/infrastructure.cluster.x-k8s.io/v1beta1/azureclusters?limit=500",
];

interface StartedWorld extends HostedWorld {
  runtimes: readonly Runtime[];
  client(): Promise<KubeClient>;
  /** What its process does beside the controllers; gives the events that the dashboard shows of an object. */
  beside(object: Thing): Promise<string[]>;
}

const isOf =
  (name: string) =>
  ({ user }: AuditEntry) =>
    user.username === name;

/** The API server asks bindings for the whole cluster first: what it allowed by another was allowed by no other. */
const isByRole =
  (role: string) =>
  ({ annotations }: AuditEntry) =>
    annotations?.["authorization.k8s.io/reason"]?.includes(`ClusterRole "${role}"`) ?? false;

describeHosted("the rights in Kubernetes", (startWorld) => {
  const used = new UsedPermissions();

  // It takes a quarter of a second of real time, in which a clock that is moved goes far.
  beforeAll(async () => void (await import("@azure/identity")));

  /** A world whose operator is a service account, under the admission policies, with the roles of these files. */
  async function start(
    roles: readonly string[],
    features: (armClients: ArmClients, world: () => HostedWorld) => readonly MakeFeature[],
  ): Promise<StartedWorld> {
    let token = "";
    let world: HostedWorld | undefined;
    const made = () => world as HostedWorld;
    const runtimes: Runtime[] = [];
    used.record(() => world?.cluster, {
      ...Object.fromEntries(roles.map((role) => [role, isOf(operatorUser)])),
      "control-plane": isByRole("postern-control-plane"),
    });
    world = await startWorld({
      features: (armClients) => features(armClients, made),
      simulator: { https: true },
      token: () => token,
      stopped: true,
      onRuntime: (runtime) => runtimes.push(runtime),
    });
    const { cluster } = world;
    onTestFinished(() => revoke(cluster));
    await installPolicies(cluster, admissionPolicies());
    token = await serviceAccount(cluster, operator.namespace, operator.name);
    for (const role of roles) await bindRole(cluster, role, operator);
    await untilMay(cluster, operatorUser, {
      group: "hypershift.openshift.io",
      resource: "hostedclusters",
      verb: "watch",
    });
    await cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
    await world.start();
    await world.run({ features: (armClients) => [cloudProvider(armClients)] });
    const beside = async (object: Thing) => {
      const client = await clientOf(cluster, token);
      await fillByPages(client, runtimes[0]);
      return besideControllers(made(), client, object);
    };
    return Object.assign(world, { beside, runtimes, client: () => clientOf(cluster, token) });
  }

  /** The identity of the cluster, which trusts the tokens of its control plane's service account. */
  async function identityOf({ cluster, azure }: HostedWorld, name: string): Promise<Application> {
    const { directory } = azure.simulator;
    const { body } = await cluster.request<Pick<TrustedIssuer, "keys">>(
      "GET",
      "/openid/v1/jwks",
      undefined,
      { accept: "application/jwk-set+json" },
    );
    directory.trustIssuer({ issuer, keys: body.keys });
    const audiences = ["api://AzureADTokenExchange"];
    const federated = [{ name: "management", issuer, subject: controlPlaneUser(name), audiences }];
    const application = directory.addApplication({ tenant, federated });
    const id = `${guestGroup}/providers/Microsoft.Authorization/roleAssignments/${crypto.randomUUID()}`;
    azure.simulator.change(id, {
      properties: { roleDefinitionId: contributor, principalId: application.objectId },
    });
    return application;
  }

  /** The endpoint feature with the identities of the control planes, as the operator has it. */
  function endpointByIdentity(world: () => HostedWorld): MakeFeature {
    return (parts) => {
      const { azure, clock } = world();
      const { url: resourceManager, httpsUrl: authorityHost = "", ca = "" } = azure.simulator;
      const cloud = customCloud({ resourceManager, authorityHost });
      const arm = new Arm({ cloud, credential: azure.operator, clock });
      const { credentialOf } = identities({ kube: parts.kube, entra: { cloud, clock, ca } });
      return endpointFeature({ armClients: createHostedArmClients(arm, credentialOf) })(parts);
    };
  }

  const now = (world: HostedWorld, name: string) => world.get("HostedCluster", "clusters", name);
  const untilAvailable = (world: HostedWorld, name: string) =>
    world.until(`${name} is not available`, async () => {
      const cluster = await now(world, name);
      return world.condition(cluster, "AzurePrivateLinkServiceAvailable") === "True AzureSuccess";
    });
  const untilDeleted = (world: HostedWorld, name: string) =>
    world.until(`${name} is not deleted`, async () => (await now(world, name)) === undefined);

  testOnReal(
    "no-rbac",
    "of postern-operator and postern-topology are enough for a HostedCluster from creation to deletion, with what the operator grants itself",
    async () => {
      const world = await start(["operator", "topology"], (armClients, made) => [
        grantFeature(),
        ...managementSide(armClients),
        servicesFeature(),
        endpointByIdentity(made),
      ]);
      const { cluster } = world;
      await createRole(cluster, "control-plane");
      const { appId: clientID } = await identityOf(world, "one");
      const azureAuthenticationConfig = {
        azureAuthenticationConfigType: "WorkloadIdentities",
        workloadIdentities: { controlPlaneOperator: { clientID } },
      };
      const hosted = await world.make(
        hostedClusterObject("clusters", "one", { azure: { azureAuthenticationConfig } }),
      );
      await untilAvailable(world, "one");
      const minted = await cluster.audit(
        ({ user, objectRef, responseStatus }) =>
          user.username === operatorUser &&
          objectRef?.subresource === "token" &&
          responseStatus?.code === 201,
      );
      expect(minted.map(({ objectRef }) => `${objectRef?.namespace}/${objectRef?.name}`)).toContain(
        "clusters-one/control-plane-operator",
      );
      for (const [verb, resource, subresource, name] of [
        ["get", "secrets", "", "another"],
        ["list", "secrets", "", ""],
        ["create", "serviceaccounts", "token", "default"],
        ["create", "pods", "", ""],
        ["create", "secrets", "", ""],
      ] as const)
        expect(
          await mayDo(cluster, operatorUser, {
            namespace: "clusters-one",
            verb,
            resource,
            subresource,
            name,
          }),
          `${verb} ${resource}/${subresource} ${name}`,
        ).toBe(false);

      const [route] = await world.list("Route", "clusters-one");
      const router = await world.get("Service", "clusters-one", "private-router");
      if (!route || !router) throw new Error("something is missing");
      const changed = { selector: { app: "mine" } };
      await world.patch({ ...router, kind: "Service" }, { spec: changed });
      await world.patch(route, { spec: { to: { name: "mine" } } });
      await world.until("they are not repaired", async () => {
        const service = await world.get("Service", "clusters-one", "private-router");
        const { spec } = (await world.get("Route", "clusters-one", route.metadata.name)) ?? route;
        return !JSON.stringify([service?.spec, spec]).includes('"mine"');
      });

      const client = await world.client();
      const metadata = { namespace: "clusters-one", name: "another" };
      await readOwnWrite(client, service, { metadata, spec: { ...external } });
      await readOwnWrite(client, serviceAccountKind, { metadata });
      await readOwnWrite(client, routeKind, {
        metadata,
        spec: { host: "a.example.com", to: { name: "a" } },
      });

      await world.remove(hosted);
      await untilDeleted(world, "one");
      expect(await refusedForGood(cluster, operatorUser)).toEqual([]);
    },
    120_000,
  );

  testOnReal("no-rbac", "that the operator grants itself are repaired", async () => {
    const world = await start(["operator"], () => [grantFeature()]);
    const { cluster } = world;
    await createRole(cluster, "control-plane");
    const hosted = hostedClusterObject("clusters", "granted");
    const labels = { "hypershift.openshift.io/hosted-control-plane": "true" };
    const annotations = { [clusterAnnotation]: "clusters/granted" };
    const metadata = { name: "clusters-granted", labels, annotations };
    await cluster.request("POST", "/api/v1/namespaces", { metadata });
    await world.make(hosted);
    await world.make(controlPlaneObject(hosted));
    await world.settled();
    const granted = async () => (await cluster.request("GET", bindingOf("granted"))).body;
    const wanted = {
      roleRef: { kind: "ClusterRole", name: "postern-control-plane" },
      subjects: [operator],
    };
    expect(await granted()).toMatchObject(wanted);

    const others = [operator, { kind: "Group", name: "system:authenticated", apiGroup: rbac }];
    await cluster.request("PATCH", bindingOf("granted"), { subjects: others });
    await world.advance(6 * 60_000);
    expect(await granted()).toMatchObject(wanted);

    await cluster.request("DELETE", bindingOf("granted"));
    await world.advance(6 * 60_000);
    expect(await granted()).toMatchObject(wanted);
    await world.mark();
    await world.advance(20 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
  });

  testOnReal(
    "no-rbac",
    "are granted in no namespace of a control plane that is not verified",
    async () => {
      const world = await start(["operator"], () => [grantFeature(), servicesFeature()]);
      const { cluster } = world;
      await createRole(cluster, "control-plane");
      const labels = { "hypershift.openshift.io/hosted-control-plane": "true" };
      for (const name of ["foreign", "verified"]) {
        const annotations = { [clusterAnnotation]: `clusters/${name}` };
        const metadata = { name: `clusters-${name}`, labels, annotations };
        await cluster.request("POST", "/api/v1/namespaces", { metadata });
      }
      const hosted = hostedClusterObject("clusters", "verified");
      const verified = controlPlaneObject(hosted);
      await world.make(hosted);
      await world.make(verified);
      await world.make({
        ...verified,
        metadata: { ...verified.metadata, namespace: "clusters-foreign" },
      });
      await world.settled();
      expect(await cluster.request("GET", bindingOf("verified"))).toMatchObject({ status: 200 });
      expect(await cluster.request("GET", bindingOf("foreign"))).toMatchObject({ status: 404 });
      const ignored = await world.get("HostedControlPlane", "clusters-foreign", "verified");
      expect(world.condition(ignored, "AzurePrivateLinkServiceAvailable")).toBe(
        "False ControlPlaneNotVerified",
      );
    },
  );

  testOnReal(
    "no-rbac",
    "of postern-management and postern-topology, and of postern-control-plane in one namespace, are enough for the two processes",
    async () => {
      const world = await start(["management", "topology"], (armClients) =>
        managementSide(armClients),
      );
      const { cluster } = world;
      const hosted = await world.make(hostedClusterObject("clusters", "two"));
      const namespace = "clusters-two";
      await world.until("there is no service account", async () => {
        const account = await world.get("ServiceAccount", namespace, "control-plane-operator");
        return account !== undefined;
      });
      const subject = { kind: "ServiceAccount", namespace, name: "control-plane-operator" };
      await bindRole(cluster, "control-plane", subject, namespace);
      const user = controlPlaneUser("two");
      const group = "hypershift.openshift.io";
      await untilMay(cluster, user, { namespace, group, resource: "nodepools", verb: "watch" });
      const token = await serviceAccount(cluster, namespace, "control-plane-operator");
      await world.run({ features: controlPlaneSide, token: () => token, namespace });
      await untilAvailable(world, "two");
      const own = await clientOf(cluster, token);
      await fillByPages(own, world.runtimes.at(-1), namespace);
      await lead(own, namespace, "postern-control-plane");
      const plane = await world.get("HostedControlPlane", namespace, "two");
      const published = await world.get("Service", namespace, "oauth-private-external");
      if (!plane || !published) throw new Error("something is missing");
      await recordTwice(own, plane);
      await readOwnStatus(own, hostedControlPlane, plane);
      await readOwnWrite(own, service, { metadata: { namespace, name: "a" }, spec: external });
      await world.patch({ ...published, kind: "Service" }, { spec: { externalName: "mine" } });
      await world.until("it is not repaired", async () => {
        const service = await world.get("Service", namespace, "oauth-private-external");
        return service?.spec.externalName !== "mine";
      });
      expect(await world.beside(hosted)).toContain("Tested");
      await world.remove(hosted);
      await untilDeleted(world, "two");
      expect(await refusedForGood(cluster, operatorUser)).toEqual(refusedToDashboard);
      expect(await refusedForGood(cluster, user)).toEqual([]);
      expect(
        await mayDo(cluster, user, { namespace: "clusters", verb: "get", resource: "secrets" }),
      ).toBe(false);
    },
    120_000,
  );

  testOnReal(
    "no-rbac",
    "of postern-operator alone are enough where HyperShift creates the control plane",
    async () => {
      const world = await start(["operator"], (armClients) => [
        grantFeature(),
        ...managementSide(armClients),
        ...controlPlaneSide(armClients),
      ]);
      const { cluster } = world;
      await createRole(cluster, "control-plane");
      await standIn(world, null);
      onTestFinished(() => standIn(world, "true"));
      const labels = { "hypershift.openshift.io/hosted-control-plane": "true" };
      const metadata = { name: "clusters-theirs", labels };
      await cluster.request("POST", "/api/v1/namespaces", { metadata });
      const hosted = await world.hostedCluster("theirs");
      await untilAvailable(world, "theirs");
      const azure = () => world.azure.ids("privatelinkservices");
      expect(azure()).not.toEqual([]);
      expect(await world.beside(hosted.cluster)).toContain("Tested");

      // As after a restored backup: the link object of an earlier control plane is replaced.
      const [earlier] = await world.list("AzurePrivateLinkService", hosted.namespace);
      const [owner] = earlier?.metadata.ownerReferences ?? [];
      if (!earlier || !owner) throw new Error("there is no link object with an owner");
      const ownerReferences = [{ ...owner, uid: crypto.randomUUID() }];
      await world.patch(earlier, { metadata: { ownerReferences } });
      await world.until("it is not replaced", async () => {
        const [link] = await world.list("AzurePrivateLinkService", hosted.namespace);
        return link !== undefined && link.metadata.uid !== earlier.metadata.uid;
      });

      await world.remove(hosted.controlPlane);
      for (const link of await world.list("AzurePrivateLinkService", hosted.namespace))
        await world.remove(link);
      await world.until("it is not deleted", async () => {
        const left = await world.get("HostedControlPlane", hosted.namespace, "theirs");
        return left === undefined && azure().length === 0;
      });
      expect(await refusedForGood(cluster, operatorUser)).toEqual(refusedToDashboard);
    },
    120_000,
  );

  testOnReal("no-rbac", "of postern-management lead to no Secret and to no token", async () => {
    const { cluster } = await startWorld({ features: () => [] });
    const token = await serviceAccount(cluster, operator.namespace, operator.name);
    await bindRole(cluster, "management", operator);
    await bindRole(cluster, "lease", operator, operator.namespace);
    await untilMay(cluster, operatorUser, { verb: "list", resource: "namespaces" });
    const within = await namespaceWithAccount(cluster);
    expect(await escalations(cluster)).toEqual([]);

    const type = "kubernetes.io/service-account-token";
    const annotations = { "kubernetes.io/service-account.name": "control-plane-operator" };
    const legacy = { type, metadata: { name: "legacy", annotations } };
    const pod = { metadata: { name: "a" }, spec: { containers: [] } };
    const everything = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
    for (const [method, path, sent] of [
      ["GET", "/api/v1/secrets"],
      ["GET", "/api/v1/secrets?watch=true"],
      ["GET", `${within}/secrets/admin-kubeconfig`],
      ["POST", `${within}/secrets`, legacy],
      ["POST", `${within}/serviceaccounts/control-plane-operator/token`, {}],
      ["POST", `${within}/pods`, pod],
      ["PATCH", `/apis/${rbac}/v1/clusterroles/postern-management`, { rules: everything }],
      ["POST", `/apis/${rbac}/v1/namespaces/clusters-three/rolebindings`, roleBinding("edit")],
      ["POST", `/apis/${rbac}/v1/clusterrolebindings`, roleBinding("cluster-admin")],
    ] as const) {
      const { status } = await cluster.request(method, path, sent, { token });
      expect([method, path, status]).toEqual([method, path, 403]);
    }
  });

  testOnReal("no-rbac", "of postern-lease are enough to lead, and for no other Lease", async () => {
    const { cluster } = await startWorld({ features: () => [] });
    used.record(() => cluster, { lease: isOf(operatorUser) });
    const token = await serviceAccount(cluster, operator.namespace, operator.name);
    await bindRole(cluster, "lease", operator, operator.namespace);
    const group = "coordination.k8s.io";
    const asked = { group, resource: "leases", namespace: operator.namespace, verb: "create" };
    await untilMay(cluster, operatorUser, asked);
    const leases = (namespace: string) => `/apis/${group}/v1/namespaces/${namespace}/leases`;
    const other = { metadata: { name: "another" } };
    await cluster.request("POST", leases("postern"), other);
    const client = await clientOf(cluster, token);
    for (const name of ["postern-operator", "postern-cluster-api"])
      await lead(client, operator.namespace, name);
    for (const [method, path] of [
      ["GET", `${leases("postern")}/another`],
      ["DELETE", `${leases("postern")}/another`],
      ["GET", leases("postern")],
      ["POST", leases("kube-system")],
    ] as const) {
      const sent = method === "POST" ? other : undefined;
      const { status } = await cluster.request(method, path, sent, { token });
      expect([method, path, status]).toEqual([method, path, 403]);
    }
  });

  testOnReal(
    "no-rbac",
    "of postern-topology lead no further than to what HyperShift would act on",
    async () => {
      const { cluster } = await startWorld({ features: () => [] });
      await serviceAccount(cluster, operator.namespace, operator.name);
      await bindRole(cluster, "management", operator);
      await bindRole(cluster, "topology", operator);
      await untilMay(cluster, operatorUser, { verb: "delete", resource: "namespaces" });
      await namespaceWithAccount(cluster);
      expect(await escalations(cluster)).toEqual([
        "create hostedcontrolplanes.hypershift.openshift.io",
        "patch hostedclusters.hypershift.openshift.io",
        "patch hostedcontrolplanes.hypershift.openshift.io",
      ]);
    },
  );

  testOnReal("no-rbac", "have nothing that none of these clusters needs", async () => {
    const roles = ["operator", "management", "topology", "control-plane", "lease"];
    const unused = Object.fromEntries(roles.map((role) => [role, used.unused(role)]));
    expect(unused).toEqual(notInTheAuditLog);
  });
});

/** What `--role control-plane` runs, where every tenant may publish every hostname. */
function controlPlaneSide(armClients: HostedArmClients): readonly MakeFeature[] {
  return [servicesFeature(), endpointFeature({ armClients, policy: openPolicy })];
}

/** Delete what the operator granted itself: the namespaces of one test are there for the next. */
async function revoke(cluster: Cluster): Promise<void> {
  const { body } = await cluster.request<{ items: { metadata: { namespace: string } }[] }>(
    "GET",
    `/apis/${rbac}/v1/rolebindings?fieldSelector=metadata.name%3Dpostern-control-plane`,
  );
  for (const { metadata } of body.items)
    await cluster.request("DELETE", bindingOf(metadata.namespace.replace("clusters-", "")));
}

/** Whether the kinds are Postern's stand-ins; HyperShift's own definition does not carry the label. */
async function standIn({ cluster }: HostedWorld, value: "true" | null): Promise<void> {
  const crd =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/hostedclusters.hypershift.openshift.io";
  await cluster.request("PATCH", crd, { metadata: { labels: { "postern.io/stand-in": value } } });
}

/** A control-plane namespace with the service account of its control plane. */
async function namespaceWithAccount(cluster: Cluster): Promise<string> {
  for (const name of ["clusters", "clusters-three"])
    await cluster.request("POST", "/api/v1/namespaces", { metadata: { name } });
  const within = "/api/v1/namespaces/clusters-three";
  const account = { metadata: { name: "control-plane-operator" } };
  await cluster.request("POST", `${within}/serviceaccounts`, account);
  return within;
}

/** What the operator may do, in any namespace or in all at once, that would lead to a Secret. */
async function escalations(cluster: Cluster): Promise<string[]> {
  const { body } = await cluster.request<{ items: { metadata: { name: string } }[] }>(
    "GET",
    "/api/v1/namespaces",
  );
  const namespaces = ["", ...body.items.map(({ metadata }) => metadata.name)];
  const allowed = new Set<string>();
  for (const namespace of namespaces)
    for (const [verb, resources] of Object.entries(waysToSecrets))
      for (const each of resources) {
        const [plural = "", subresource = ""] = each.split("/");
        const [resource = "", group = ""] = plural.split(/\.(.*)/);
        const asked = { namespace, verb, group, resource, subresource };
        if (await mayDo(cluster, operatorUser, asked)) allowed.add(`${verb} ${each}`);
      }
  return [...allowed];
}

/** Whatever would lead to a Secret, a token or more permissions, by verb. */
const workloads = [
  "pods",
  "pods/exec",
  "pods/attach",
  "pods/ephemeralcontainers",
  "replicationcontrollers",
  "deployments.apps",
  "daemonsets.apps",
  "statefulsets.apps",
  "replicasets.apps",
  "jobs.batch",
  "cronjobs.batch",
];
const roles = ["roles", "rolebindings", "clusterroles", "clusterrolebindings"].map(
  (each) => `${each}.${rbac}`,
);
/** HyperShift runs the images that they name, with the Secrets of the control plane. */
const hyperShift = ["hostedclusters", "hostedcontrolplanes", "nodepools"].map(
  (each) => `${each}.hypershift.openshift.io`,
);
const others = [
  ...hyperShift,
  "secrets",
  "nodes/proxy",
  "certificatesigningrequests.certificates.k8s.io",
  "validatingadmissionpolicies.admissionregistration.k8s.io",
  "validatingadmissionpolicybindings.admissionregistration.k8s.io",
  "mutatingwebhookconfigurations.admissionregistration.k8s.io",
  "customresourcedefinitions.apiextensions.k8s.io",
  "apiservices.apiregistration.k8s.io",
];
const waysToSecrets: Record<string, readonly string[]> = {
  get: ["secrets", "nodes/proxy", "pods/exec", "pods/attach"],
  list: ["secrets"],
  watch: ["secrets"],
  create: [...others, ...workloads, ...roles, "serviceaccounts/token"],
  update: [...others, ...workloads, ...roles],
  patch: [...others, ...workloads, ...roles],
  delete: ["secrets", ...roles],
  bind: roles,
  escalate: roles,
  impersonate: ["users", "groups", "serviceaccounts", "userextras.authentication.k8s.io"],
};

function roleBinding(name: string): object {
  const roleRef = { apiGroup: rbac, kind: "ClusterRole", name };
  return { metadata: { name: "escalated" }, roleRef, subjects: [operator] };
}
