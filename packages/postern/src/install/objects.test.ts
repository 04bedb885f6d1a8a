import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "@postern/core/kind.ts";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { settingsFrom } from "./install-settings.ts";
import { objectsOf } from "./objects.ts";

const values = join(import.meta.dirname, "../../../../deploy/values");
const configurations = ["hosted", "cluster-api", "both", "split-roles", "openshift", "olm"];
const release = { namespace: "postern", version: "1.2.3" };

const given = (name: string): Record<string, object> =>
  parse(readFileSync(join(values, `${name}.yaml`), "utf8"));

const rendered = (name: string, over: Record<string, object> = {}): Rendered[] =>
  objectsOf(settingsFrom({ ...given(name), ...over }), release) as unknown as Rendered[];

/** An object of any kind, as far as these tests read it. */
interface Rendered extends KubeObject {
  roleRef: { kind: string; name: string };
  subjects: { namespace: string; name: string }[];
  data: Record<string, string>;
  spec: {
    replicas: number;
    template: {
      metadata: { labels: Record<string, string>; annotations: Record<string, string> };
      spec: { securityContext: { runAsUser?: number }; containers: Container[] };
    };
  };
}

interface Container {
  image: string;
  args: string[];
  env: { name: string; value: string }[];
  volumeMounts: object[];
}

const ofKind = (objects: Rendered[], kind: string) => objects.filter((each) => each.kind === kind);
const podOf = (deployment: Rendered | undefined) => {
  const { metadata, spec } = deployment?.spec.template ?? {};
  const [container] = spec?.containers ?? [];
  if (!metadata || !spec || !container) throw new Error("no pod");
  return { ...metadata, ...spec, container };
};
const argsOf = (deployment: Rendered | undefined) => podOf(deployment).container.args;
const envOf = (deployment: Rendered | undefined): Record<string, string> =>
  Object.fromEntries(podOf(deployment).container.env.map(({ name, value }) => [name, value]));
const rolesBoundIn = (objects: Rendered[]) =>
  ofKind(objects, "ClusterRoleBinding").map(({ roleRef, subjects }) => [
    roleRef.name,
    `${subjects[0]?.namespace}:${subjects[0]?.name}`,
  ]);

describe.each(configurations)("the configuration %s", (name) => {
  const objects = rendered(name);

  test("has each object once, and each in a namespace or none", () => {
    const keys = objects.map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`,
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("runs pods that Pod Security restricted accepts, with a read-only root and probes", () => {
    for (const deployment of ofKind(objects, "Deployment")) {
      const { securityContext, containers } = deployment.spec.template.spec;
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: "RuntimeDefault" },
      });
      expect(containers[0]).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        livenessProbe: { httpGet: { path: "/healthz", port: "health" } },
        readinessProbe: { httpGet: { path: "/readyz", port: "health" } },
      });
      expect(argsOf(deployment)).toContain("--listen=0.0.0.0:8081");
      expect(deployment.spec.replicas).toBe(2);
    }
  });

  test("binds no role that reads Secrets for the whole cluster", () => {
    const bound = rolesBoundIn(objects).map(([role]) => role);
    expect(bound).not.toContain("postern-control-plane");
    expect(bound).not.toContain("postern-cluster-api-secrets");
  });

  test("has every ClusterRole that it binds, and every ServiceAccount that it binds them to", () => {
    const roles = new Set(ofKind(objects, "ClusterRole").map(({ metadata }) => metadata.name));
    const accounts = new Set(
      ofKind(objects, "ServiceAccount").map(
        ({ metadata }) => `${metadata.namespace}:${metadata.name}`,
      ),
    );
    for (const { roleRef, subjects } of [
      ...ofKind(objects, "ClusterRoleBinding"),
      ...ofKind(objects, "RoleBinding"),
    ]) {
      if (roleRef.kind === "ClusterRole") expect(roles).toContain(roleRef.name);
      for (const { namespace, name: account } of subjects)
        expect(accounts).toContain(`${namespace}:${account}`);
    }
  });

  test("its policies know each of its ServiceAccounts, and no other of Postern", () => {
    const accounts = ofKind(objects, "ServiceAccount")
      .map(({ metadata }) => `system:serviceaccount:${metadata.namespace}:${metadata.name}`)
      .sort();
    const own = /'(system:serviceaccount:[^']+:postern-[^']+)'/g;
    const policies = ofKind(objects, "ValidatingAdmissionPolicy")
      .map((policy) => JSON.stringify(policy))
      .filter((text) => text.includes("postern-operator'"));
    expect(policies.length).toBeGreaterThan(4);
    for (const policy of policies)
      expect([...new Set(Array.from(policy.matchAll(own), ([, user]) => user))].sort()).toEqual(
        accounts,
      );
  });
});

test("hosted control planes alone are served by one process with the role all", () => {
  const objects = rendered("hosted");
  const [deployment, ...others] = ofKind(objects, "Deployment");
  expect(others).toEqual([]);
  expect(argsOf(deployment)).toContain("--role=all");
  expect(rolesBoundIn(objects)).toEqual([
    ["postern-token-review", "postern:postern-operator"],
    ["postern-operator", "postern:postern-operator"],
  ]);
  expect(ofKind(objects, "CustomResourceDefinition").map(({ metadata }) => metadata.name)).toEqual([
    "azureprivatelinkservices.hypershift.openshift.io",
  ]);
});

test("Cluster API alone gets no permission for hosted control planes, and no kind", () => {
  const objects = rendered("cluster-api");
  expect(rolesBoundIn(objects)).toEqual([
    ["postern-token-review", "postern:postern-operator"],
    ["postern-cluster-api", "postern:postern-operator"],
  ]);
  expect(ofKind(objects, "CustomResourceDefinition")).toEqual([]);
  expect(argsOf(ofKind(objects, "Deployment")[0])).toEqual(
    expect.arrayContaining([
      "--role=cluster-api",
      "--management-cluster-name=mc",
      "--management-cluster-namespace=org-mc",
      "--azure-cluster-gates=GSPrivateLinksReady,GSDNSZoneReady,",
      "--base-domain=example.com",
      "--base-domain-resource-group=dns",
    ]),
  );
});

test("in HyperShift's place it brings HyperShift's kinds and may create control planes", () => {
  const objects = rendered("both");
  expect(rolesBoundIn(objects).map(([role]) => role)).toEqual([
    "postern-token-review",
    "postern-operator",
    "postern-topology",
    "postern-cluster-api",
  ]);
  expect(ofKind(objects, "CustomResourceDefinition")).toHaveLength(5);
  const [policy] = ofKind(objects, "ConfigMap");
  expect(JSON.parse(policy?.data["tenant-policy.yaml"] ?? "")).toEqual(given("both").tenantPolicy);
});

test("split roles give each process a ServiceAccount, a role and an identity of its own", () => {
  const objects = rendered("split-roles");
  expect(rolesBoundIn(objects)).toEqual([
    ["postern-token-review", "postern:postern-operator"],
    ["postern-management", "postern:postern-operator"],
    ["postern-cluster-api", "postern:postern-cluster-api"],
  ]);
  const [reviewers] = ofKind(objects, "ClusterRoleBinding");
  expect(reviewers?.subjects.map(({ namespace, name }) => `${namespace}:${name}`)).toEqual(
    ofKind(objects, "ServiceAccount").map(
      ({ metadata }) => `${metadata.namespace}:${metadata.name}`,
    ),
  );
  const roles = ofKind(objects, "Deployment").map((each) => argsOf(each)[1]);
  expect(roles).toEqual([
    "--role=management",
    "--role=cluster-api",
    "--role=control-plane",
    "--role=control-plane",
  ]);
  const clients = ofKind(objects, "ServiceAccount").map(({ metadata }) =>
    metadata.annotations?.["azure.workload.identity/client-id"]?.at(-1),
  );
  expect(clients).toEqual(["2", "2", "3", "4"]);
});

test("on OpenShift no user is fixed, and the restricted-v2 constraint is asked for", () => {
  const [deployment] = ofKind(rendered("openshift"), "Deployment");
  const { annotations, securityContext, container } = podOf(deployment);
  expect(securityContext).not.toHaveProperty("runAsUser");
  expect(securityContext).not.toHaveProperty("fsGroup");
  expect(annotations["openshift.io/required-scc"]).toBe("restricted-v2");
  expect(container.image).toBe(`mirror.example.com:5000/postern@sha256:${"0".repeat(64)}`);
  const [elsewhere] = ofKind(rendered("hosted"), "Deployment");
  expect(podOf(elsewhere).securityContext.runAsUser).toBe(65_532);
});

test("a workload identity is set on the ServiceAccount, by the pod's label and in the environment, without a volume", () => {
  const objects = rendered("hosted");
  const [deployment] = ofKind(objects, "Deployment");
  expect(podOf(deployment).labels["azure.workload.identity/use"]).toBe("true");
  expect(envOf(deployment)).toMatchObject({
    AZURE_PLS_CLIENT_ID: "00000000-0000-4000-8000-000000000002",
    AZURE_SUBSCRIPTION_ID: "00000000-0000-4000-8000-000000000001",
    AZURE_RESOURCE_GROUP: "management",
  });
  expect(JSON.stringify(deployment)).not.toContain("azure-credentials");
});

test("a projected token takes the place of the webhook, and needs the identity and its tenant", () => {
  const [deployment] = ofKind(rendered("olm"), "Deployment");
  const { labels, container } = podOf(deployment);
  expect(labels).not.toHaveProperty("azure.workload.identity/use");
  const file = "/var/run/secrets/postern/azure/token";
  expect(envOf(deployment)).toMatchObject({
    AZURE_CLIENT_ID: "00000000-0000-4000-8000-000000000002",
    AZURE_TENANT_ID: "00000000-0000-4000-8000-000000000003",
    AZURE_FEDERATED_TOKEN_FILE: file,
  });
  expect(container.volumeMounts).toContainEqual({
    name: "azure-token",
    mountPath: "/var/run/secrets/postern/azure",
    readOnly: true,
  });
  expect(() =>
    rendered("hosted", { azure: { ...given("hosted").azure, projectedToken: true } }),
  ).toThrow("azure.projectedToken needs azure.clientId and azure.tenantId");
});

test("a credential file is mounted read-only where HyperShift has it, without the pod's label", () => {
  const [deployment] = ofKind(rendered("both"), "Deployment");
  const { labels, container } = podOf(deployment);
  expect(labels).not.toHaveProperty("azure.workload.identity/use");
  expect(envOf(deployment)).toMatchObject({
    AZURE_CREDENTIALS_FILE: "/etc/azure-provider/credentials",
  });
  expect(envOf(deployment)).not.toHaveProperty("AZURE_PLS_CLIENT_ID");
  expect(container.volumeMounts).toContainEqual({
    name: "azure-credentials",
    mountPath: "/etc/azure-provider",
    readOnly: true,
  });
});

test("the namespace default can be opened to the operator", () => {
  const reserved = (objects: Rendered[]) =>
    JSON.stringify(
      objects.find(({ metadata }) => metadata.name === "postern-operator-reserved-namespaces"),
    );
  expect(reserved(rendered("hosted"))).toContain("|default)$");
  const opened = rendered("hosted", { admission: { reserveDefaultNamespace: false } });
  expect(reserved(opened)).toContain("(kube-.*|openshift|openshift-.*)$");
});

test("every monitor leaves the namespace that a metric names as it is", () => {
  const metrics = (given: object) => ({ metrics: given });
  const token = { name: "token", key: "token" };
  for (const over of [
    metrics({ serviceMonitor: { enabled: true } }),
    metrics({ podMonitor: { enabled: true, tokenSecret: token } }),
  ]) {
    const monitors = rendered("split-roles", over).filter(({ kind = "" }) =>
      kind.endsWith("Monitor"),
    ) as unknown as { spec: Record<string, { honorLabels?: boolean }[]> }[];
    expect(monitors.length).toBeGreaterThan(2);
    for (const { spec } of monitors)
      expect((spec.endpoints ?? spec.podMetricsEndpoints)?.[0]?.honorLabels).toBe(true);
  }
});
