import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "@postern/core/clock.ts";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import { packageVersion } from "@postern/core/process/package-version.ts";
import { withLock } from "postern/install/live/lock.ts";
import { install, installationOf, settingsBefore } from "postern/install/run-install.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfigText } from "postern/kube/credentials.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { parse, stringify } from "yaml";
import { configurationOf, configured } from "../../scripts/generate-chart.ts";
import { ManualClock } from "../manual-clock.ts";
import { type Cluster, clusterAt, describeOnCluster } from "../setup/cluster.ts";
import { type Plane, startPlane } from "../setup/plane.ts";
import { azureClusterObject } from "../system/cluster-api/objects.ts";
import {
  managementGroup,
  managementSubscription,
  startAzure,
  tenant,
} from "../system/hosted/azure.ts";
import { hostedClusterObject } from "../system/hosted/objects.ts";
import { linkSpec } from "../system/kinds/link-spec-rows.ts";
import { runPostern, runPosternBy } from "./run-postern.ts";

const root = join(import.meta.dirname, "../..");
const values = join(root, "deploy/values");
const id = (last: number) => `00000000-0000-4000-8000-00000000000${last}`;
const hostedFlags = [
  ...["--image", "registry.example.com/postern:v1"],
  ...["--azure-pls-managed-identity-client-id", id(2)],
  ...["--azure-pls-subscription-id", id(1), "--azure-pls-resource-group", "management"],
];
const link = "azureprivatelinkservices.hypershift.openshift.io";
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

interface Deployment extends KubeObject {
  spec: {
    replicas: number;
    template: { metadata: object; spec: { containers: object[] } };
  };
}

describeOnCluster("postern install", () => {
  let plane: Plane;
  let cluster: Cluster;
  beforeAll(async () => {
    // Its policies and roles are those of a whole cluster, so it has one of its own.
    plane = await startPlane();
    cluster = clusterAt(plane.address);
  }, 120_000);
  afterAll(() => plane?.stop());

  const postern = (command: string, ...args: string[]) =>
    runPostern(command, "--kubeconfig", cluster.kubeconfig, ...args);
  const get = async <T = KubeObject>(path: string) => {
    const { status, body } = await cluster.request<T>("GET", path);
    return status === 200 ? body : undefined;
  };
  const deployments = async (namespace: string) =>
    (await get<{ items: Deployment[] }>(`/apis/apps/v1/namespaces/${namespace}/deployments`))
      ?.items ?? [];
  const noWait = "--no-wait-until-available";

  /** A cluster has one installation: what is in the usual namespace makes room, and so does this one at the end of the test. */
  const moveTo = async (namespace: string) => {
    await postern("uninstall");
    onTestFinished(async () => {
      await postern("uninstall", "-n", namespace);
    });
  };

  /** Does what the controllers of a cluster would: says that all pods run. */
  const runPods = async (namespace: string) => {
    const all = await deployments(namespace);
    expect(all).not.toEqual([]);
    for (const { metadata, spec } of all) {
      const { replicas } = spec;
      const status = {
        observedGeneration: metadata.generation,
        replicas,
        updatedReplicas: replicas,
        readyReplicas: replicas,
        availableReplicas: replicas,
      };
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${metadata.name}/status`;
      await cluster.request(
        "PATCH",
        path,
        { status },
        { contentType: "application/merge-patch+json" },
      );
    }
  };

  /** A kind of another project, which Postern only writes. */
  const serveKind = async (group: string, kind: string) => {
    const plural = `${kind.toLowerCase()}s`;
    const schema = {
      openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    };
    await cluster.request("POST", crds, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        names: { kind, plural, singular: kind.toLowerCase() },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    await expect
      .poll(async () => JSON.stringify(await get(`/apis/${group}/v1`)), { timeout: 25_000 })
      .toContain(kind);
  };

  beforeEach(async () => {
    for (const namespace of ["clusters-one", "clusters-two", "org-mc"])
      await cluster.request("POST", "/api/v1/namespaces", {
        metadata: { name: namespace, labels: { "postern.io/secrets": "allowed" } },
      });
  });

  test("installs, waits until the pods are available, and changes nothing the second time", async () => {
    const installing = postern("install", ...hostedFlags);
    await expect
      .poll(async () => (await deployments("postern")).length, { timeout: 25_000 })
      .toBe(1);
    await runPods("postern");
    const { code, out, err } = await installing;
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(out).toContain("+ Deployment postern/postern-operator");
    expect(out).toContain("created Deployment postern/postern-operator");
    expect(out).toContain("2 of 2 pods are available");
    expect(out).toMatch(/Postern \S+ is available in namespace postern\./);

    const again = await postern("install", ...hostedFlags);
    expect(again.err).toBe("");
    expect(again.out).toContain("No changes.");
    expect(again.out).not.toMatch(/^(created|updated|deleted)/m);
  });

  test("says what does not run where the pods do not become available, and leaves all of it installed", async () => {
    const namespace = "slow";
    await moveTo(namespace);
    const { code, err } = await postern(
      "install",
      "-n",
      namespace,
      ...hostedFlags,
      "--timeout",
      "1ms",
    );
    expect(code).toBe(1);
    expect(err).toMatch(
      /Deployment slow\/postern-operator is not available after .* [Ii]t has no pods yet\. /,
    );
    expect(await deployments(namespace)).toHaveLength(1);
  });

  test("every violation of the flags is in one message, with exit code 64, and nothing is created", async () => {
    const { code, err } = await postern(
      "install",
      ...["-n", "never", "--azure-private-creds", "/none", "--azure-private-secret", "a"],
      ...["--azure-pls-managed-identity-client-id", "me", "--registry-overrides", "a"],
    );
    expect(code).toBe(64);
    expect(err.trim().split("\n")).toHaveLength(1);
    for (const part of [
      "--azure-private-creds and --azure-private-secret are mutually exclusive",
      "--azure-private-creds: cannot read /none",
      "--registry-overrides must be SOURCE=DESTINATION, not 'a'",
      "--image is missing and must be the repository of an image",
      "--azure-pls-managed-identity-client-id must be an id",
      "--azure-pls-managed-identity-client-id and --azure-private-secret are mutually exclusive",
      "--azure-pls-managed-identity-client-id needs --azure-pls-subscription-id",
      "hosted control planes need --azure-pls-resource-group",
    ])
      expect(err).toContain(part);
    expect(await get("/api/v1/namespaces/never")).toBeUndefined();
  });

  test.each(["0000", "my-subscription", `${id(1)}0`, `/subscriptions/${id(1)}`])(
    "the subscription id %s is rejected before anything is written",
    async (wrong) => {
      const flags = [...hostedFlags, "--azure-pls-subscription-id", wrong];
      const { code, err } = await postern("install", "-n", "never", ...flags);
      expect(code).toBe(64);
      expect(err).toContain(
        "--azure-pls-subscription-id must be an id such as 00000000-0000-4000-8000-000000000000",
      );
      expect(await get("/api/v1/namespaces/never")).toBeUndefined();
    },
  );

  test("what asks for a kind that the cluster does not serve is rejected before anything is applied, and installed once it does", async () => {
    const namespace = "monitored";
    await moveTo(namespace);
    const file = join(await temporaryFolder(), "values.yaml");
    const monitors = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } };
    await writeFile(file, stringify({ metrics: monitors }));
    const flags = ["-n", namespace, ...hostedFlags, "-f", file, noWait];
    const refused = await postern("install", ...flags);
    expect(refused.code).toBe(1);
    for (const kind of ["ServiceMonitor", "PrometheusRule"])
      expect(refused.err).toContain(`the cluster does not serve the kind ${kind}: install what`);
    expect(await get(`/api/v1/namespaces/${namespace}`)).toBeUndefined();

    const group = "monitoring.coreos.com";
    for (const kind of ["ServiceMonitor", "PrometheusRule"]) await serveKind(group, kind);
    const installed = await postern("install", ...flags);
    expect(installed.err).toBe("");
    expect(installed.out).toContain(`created ServiceMonitor ${namespace}/postern-operator`);
    const rules = `/apis/${group}/v1/namespaces/${namespace}/prometheusrules`;
    expect(await get(`${rules}/postern`)).toMatchObject({ spec: { groups: [{}] } });
    expect((await postern("install", ...flags)).out).toContain("No changes.");

    const off = { serviceMonitor: { enabled: false }, prometheusRule: { enabled: false } };
    await writeFile(file, stringify({ metrics: off }));
    expect((await postern("install", ...flags)).out).toContain(
      `deleted PrometheusRule ${namespace}/postern`,
    );
  });

  test("a typo in a file of values is named with what may be meant, and nothing is written", async () => {
    const file = join(await temporaryFolder(), "values.yaml");
    await writeFile(file, stringify({ azure: { subscriptoinId: id(1) }, replica: 3 }));
    const { code, err } = await postern("install", "-n", "never", ...hostedFlags, "-f", file);
    expect(code).toBe(64);
    expect(err).toContain("2 settings are invalid");
    expect(err).toContain("azure.subscriptoinId is not a setting");
    expect(err).toContain("replica is not a setting: did you mean replicas?");
    expect(await get("/api/v1/namespaces/never")).toBeUndefined();
  });

  test.each<[string, string[], string]>([
    ["without permissions", [], "Microsoft.Authorization/permissions/read"],
    [
      "that may only read",
      ["Microsoft.Authorization/permissions/read", "Microsoft.Network/*/read"],
      "Microsoft.Network/privateLinkServices/write",
    ],
  ])(
    "an identity %s is told which action it lacks on which scope, before anything is applied",
    async (_, actions, lacked) => {
      const { simulator } = await startAzure({ https: true });
      const secrets = [{ value: "hush" }];
      const application = simulator.directory.addApplication({ tenant, secrets });
      const authorization = `${managementGroup}/providers/Microsoft.Authorization`;
      const definition = `${authorization}/roleDefinitions/${crypto.randomUUID()}`;
      simulator.change(definition, {
        properties: {
          roleName: "limited",
          assignableScopes: [managementGroup],
          permissions: [{ actions, notActions: [] }],
        },
      });
      simulator.change(`${authorization}/roleAssignments/${crypto.randomUUID()}`, {
        properties: { roleDefinitionId: definition, principalId: application.objectId },
      });
      const ca = join(await temporaryFolder(), "ca.pem");
      await writeFile(ca, simulator.ca ?? "");
      const { out } = await runPosternBy(
        {
          NODE_EXTRA_CA_CERTS: ca,
          AZURE_RESOURCE_MANAGER_ENDPOINT: simulator.url,
          AZURE_AUTHORITY_HOST: simulator.httpsUrl ?? "",
          AZURE_TENANT_ID: tenant,
          AZURE_CLIENT_ID: application.appId,
          AZURE_CLIENT_SECRET: "hush",
        },
        ...["install", "--kubeconfig", cluster.kubeconfig, "-n", "never", ...hostedFlags],
        ...["--azure-pls-subscription-id", managementSubscription, "--dry-run"],
      );
      const line = out.split("\n").find((each) => each.includes("Azure permissions"));
      expect(line).toContain(lacked);
      expect(line).toContain(managementGroup);
      expect(line).toContain(
        `postern permissions management --format az --scope ${managementGroup}`,
      );
      expect(out.indexOf(line ?? "")).toBeLessThan(out.indexOf("+ Namespace never"));
    },
  );

  test("an upgrade keeps settings, shows what it changes, and deletes what is not needed any more", async () => {
    const installed = await postern("install", "-f", join(values, "split-roles.yaml"), noWait);
    expect(installed.err).toBe("");
    expect(await deployments("clusters-one")).toHaveLength(1);
    const file = join(await temporaryFolder(), "together.yaml");
    await writeFile(file, stringify({ splitRoles: false, hosted: { controlPlanes: [] } }));
    const dry = await postern("upgrade", "-f", file, "--dry-run");
    expect(dry.out).toContain("- Deployment clusters-one/postern-control-plane");
    expect(await deployments("clusters-one")).toHaveLength(1);
    const { code, out, err } = await postern("upgrade", "-f", file, noWait);
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(out).toContain(
      'spec.template.spec.containers[0].args[1]: "--role=management" → "--role=all"',
    );
    expect(out).toContain("deleted Deployment clusters-one/postern-control-plane");
    expect(await deployments("clusters-one")).toEqual([]);
    expect(
      await get("/apis/rbac.authorization.k8s.io/v1/clusterroles/postern-management"),
    ).toBeUndefined();
    const [operator] = await deployments("postern");
    expect(JSON.stringify(operator)).toContain("--management-cluster-name=mc");
  });

  test("-o json prints what is changed and deleted, and nothing else", async () => {
    const json = async (command: string, ...args: string[]) => {
      const { code, out, err } = await postern(command, ...args, "-o", "json");
      expect({ code, err }).toEqual({ code: 0, err: "" });
      return JSON.parse(out);
    };
    await postern("uninstall");
    const object = "Deployment postern/postern-operator";
    const created = expect.arrayContaining([{ do: "create", object }]);
    const warnings = [expect.stringContaining("Azure was not checked")];
    expect(await json("install", ...hostedFlags, "--dry-run")).toMatchObject({
      namespace: "postern",
      version: packageVersion(),
      dryRun: true,
      changes: created,
      warnings,
    });
    const installed = await json("install", ...hostedFlags, noWait);
    expect(installed).toMatchObject({ dryRun: false, changes: created });
    expect(await json("upgrade", noWait)).toMatchObject({ dryRun: false, changes: [] });
    expect(await json("upgrade", "--azure-tags", "team=blue", noWait)).toMatchObject({
      changes: [
        {
          do: "update",
          object,
          differences: expect.arrayContaining([expect.stringContaining("team=blue")]),
        },
      ],
    });
    expect(await json("uninstall")).toEqual({
      namespace: "postern",
      deleted: expect.arrayContaining([object]),
      kept: expect.arrayContaining(["Namespace postern", link]),
      remaining: [],
    });
    const rendered = await json("install", "render", ...hostedFlags);
    expect(rendered).toMatchObject({ apiVersion: "v1", kind: "List" });
    expect(rendered.items.map(({ kind }: KubeObject) => kind)).toContain("Deployment");
  });

  test.each(["--azure-private-creds", "--azure-private-secret"])(
    "the Secret of a credential file stays while pods use it, through an upgrade and after %s, and an uninstall deletes it",
    async (flag) => {
      const secret = "/api/v1/namespaces/postern/secrets/postern-azure-credentials";
      const file = join(await temporaryFolder(), "credentials");
      const ids = { subscriptionId: id(1), tenantId: id(2), clientId: id(3), clientSecret: "hush" };
      await writeFile(file, JSON.stringify(ids));
      const flags = ["--image", "registry.example.com/postern:v1", noWait];
      const group = ["--azure-pls-resource-group", "management"];
      await postern("install", ...flags, ...group, "--azure-private-creds", file);
      const made = await get(secret);
      expect(made).toBeDefined();
      if (flag === "--azure-private-secret")
        await postern("install", ...flags, ...group, flag, "postern-azure-credentials");
      const { err, out } = await postern(
        "upgrade",
        "--image",
        "registry.example.com/postern:v2",
        noWait,
      );
      expect(err).toBe("");
      expect(out).not.toContain("Secret");
      expect(JSON.stringify(await deployments("postern"))).toContain(
        '"secretName":"postern-azure-credentials"',
      );
      expect(await get(secret)).toEqual(made);
      const removed = await postern("uninstall");
      expect(removed.out).toContain("deleted Secret postern/postern-azure-credentials");
      expect(await get(secret)).toBeUndefined();
    },
  );

  test("beside an installation in another namespace nothing is installed, and an uninstall leaves what that one has", async () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const subjects = async () =>
      (await get<KubeObject & { subjects: object }>(`${rbac}/clusterrolebindings/postern-operator`))
        ?.subjects;
    await moveTo("other");
    await postern("install", "-n", "other", ...hostedFlags, noWait);
    // As an earlier version did it: the bindings of the first one were given to the second.
    const record = await get<{ data: object }>(
      "/api/v1/namespaces/other/configmaps/postern-install",
    );
    expect((await postern("uninstall", "-n", "other")).err).toBe("");
    await postern("install", ...hostedFlags, noWait);
    const before = await subjects();
    expect(before).toMatchObject([{ namespace: "postern" }]);

    const second = await postern(
      "install",
      "-n",
      "other",
      ...hostedFlags,
      noWait,
      "--force-conflicts",
    );
    expect(second.code).toBe(1);
    expect(second.err).toContain(
      "nothing was changed. Postern is installed in namespace postern: give -n postern, or uninstall it there first",
    );
    expect(await subjects()).toEqual(before);
    expect(await deployments("other")).toEqual([]);

    await cluster.request("POST", "/api/v1/namespaces/other/configmaps", {
      metadata: { name: "postern-install" },
      data: record?.data,
    });
    const removed = await postern("uninstall", "-n", "other");
    expect(removed.err).toBe("");
    expect(removed.out).toContain(
      "Everything outside namespace other is kept: it belongs to Postern in namespace postern.",
    );
    expect(await subjects()).toEqual(before);
    expect(await get(`${rbac}/clusterroles/postern-operator`)).toBeDefined();
    expect(await deployments("postern")).toHaveLength(1);
    expect(await get("/api/v1/namespaces/other/configmaps/postern-install")).toBeUndefined();

    // Bindings that somebody left behind do not keep Postern from being installed.
    await cluster.request("DELETE", "/api/v1/namespaces/postern/serviceaccounts/postern-operator");
    expect((await postern("install", "-n", "other", ...hostedFlags, noWait)).err).toBe("");
  });

  test("without an installation an upgrade says so", async () => {
    const { code, err } = await postern("upgrade", "-n", "clusters-one");
    expect(code).toBe(64);
    expect(err).toContain("no installation by postern install was found in namespace clusters-one");
  });

  test("a kind of a newer version is not downgraded, and one of another project is left alone", async () => {
    const merge = { contentType: "application/merge-patch+json" };
    await postern("install", ...hostedFlags, noWait);
    await cluster.request(
      "PATCH",
      `${crds}/${link}`,
      { metadata: { annotations: { "postern.io/version": "99.0.0" } } },
      merge,
    );
    const newer = await postern("install", ...hostedFlags, noWait);
    expect(newer.out).toContain(
      `= CustomResourceDefinition ${link}: unchanged, it is of version 99.0.0, and never downgraded`,
    );

    await cluster.request(
      "PATCH",
      `${crds}/${link}`,
      { metadata: { labels: { "app.kubernetes.io/part-of": null } } },
      merge,
    );
    const before = await get(`${crds}/${link}`);
    const other = await postern("install", ...hostedFlags, noWait);
    expect(other.out).toContain(
      `= CustomResourceDefinition ${link}: unchanged, it belongs to another project`,
    );
    expect((await get(`${crds}/${link}`))?.metadata.resourceVersion).toBe(
      before?.metadata.resourceVersion,
    );
    await cluster.request(
      "PATCH",
      `${crds}/${link}`,
      {
        metadata: {
          labels: { "app.kubernetes.io/part-of": "postern" },
          annotations: { "postern.io/version": "0.0.1" },
        },
      },
      merge,
    );
    // The test itself manages these fields now.
    const upgraded = await postern("install", ...hostedFlags, noWait, "--force-conflicts");
    expect(upgraded.out).toContain(`updated CustomResourceDefinition ${link}`);
  });

  test("does not act in HyperShift's place where HyperShift's kinds are installed, and changes nothing", async () => {
    const name = "nodepools.hypershift.openshift.io";
    const schema = { openAPIV3Schema: { type: "object" } };
    const names = {
      kind: "NodePool",
      listKind: "NodePoolList",
      plural: "nodepools",
      singular: "nodepool",
    };
    const versions = [{ name: "v1beta1", served: true, storage: true, schema }];
    const spec = { group: "hypershift.openshift.io", scope: "Namespaced", names, versions };
    await cluster.request("POST", crds, { metadata: { name }, spec });
    onTestFinished(async () => void (await cluster.request("DELETE", `${crds}/${name}`)));
    await postern("uninstall");
    const { code, err } = await postern(
      "install",
      "-n",
      "elsewhere",
      ...hostedFlags,
      "--replace-hypershift",
      noWait,
    );
    expect(code).toBe(1);
    expect(err).toContain(
      `nothing was changed. CustomResourceDefinition ${name} is installed by another project`,
    );
    expect(await get("/api/v1/namespaces/elsewhere")).toBeUndefined();
  });

  test("of two installs at once the second one says who runs the first, and changes nothing", async () => {
    await postern("install", ...hostedFlags, noWait);
    const lease = "/apis/coordination.k8s.io/v1/namespaces/postern/leases";
    const renewTime = new Date().toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: "anna@laptop_12ab34cd", leaseDurationSeconds: 3600, renewTime };
    await cluster.request("POST", lease, { metadata: { name: "postern-install" }, spec });
    const second = await postern("install", ...hostedFlags, "--split-roles", noWait);
    expect(second.code).toBe(1);
    expect(second.err).toContain(
      "namespace postern is in use by another install, upgrade or uninstall. anna@laptop runs it",
    );
    expect(JSON.stringify(await deployments("postern"))).toContain("--role=all");
    const expired = { ...spec, renewTime: "2020-01-01T00:00:00.000000Z" };
    await cluster.request(
      "PATCH",
      `${lease}/postern-install`,
      { spec: expired },
      { contentType: "application/merge-patch+json" },
    );
    const third = await postern("install", ...hostedFlags, noWait);
    expect(third.err).toBe("");
    expect(await get(`${lease}/postern-install`)).toBeUndefined();
  });

  test("of two installs that run at once each changes everything or nothing", async () => {
    await postern("uninstall");
    const both = await Promise.all([
      postern("install", ...hostedFlags, noWait),
      postern("install", ...hostedFlags, "--split-roles", noWait),
    ]);
    const [together, apart] = both.map(({ code }) => code === 0);
    for (const { err } of both.filter(({ code }) => code !== 0))
      expect(err).toMatch(/is in use by another install|has ended in namespace postern meanwhile/);
    expect(together || apart).toBe(true);
    // Where both succeeded, one began after the other had ended.
    const roles = JSON.stringify(await deployments("postern")).match(/--role=[a-z-]+/g);
    if (together !== apart) expect(roles).toEqual([together ? "--role=all" : "--role=management"]);
    const flags = roles?.[0] === "--role=all" ? [] : ["--split-roles"];
    const again = await postern("install", ...hostedFlags, ...flags, noWait);
    expect(again.out).toContain("No changes.");
    for (const role of ["operator", "management"]) {
      const bound = await get(`/apis/rbac.authorization.k8s.io/v1/clusterroles/postern-${role}`);
      expect(bound !== undefined, role).toBe((role === "operator") === (flags.length === 0));
    }
  });

  describe("a command that another one overtakes", () => {
    /** A client whose next write of a Lease waits. */
    class Waiting extends KubeClient {
      gate: Promise<void> | undefined;
      override async create<T extends KubeObject>(kind: Kind, object: T, signal?: AbortSignal) {
        await this.gate;
        return await super.create(kind, object, signal);
      }
    }
    const connect = async () => {
      const text = await readFile(cluster.kubeconfig, "utf8");
      const kube = new Waiting(await fromKubeconfigText(text, cluster.kubeconfig));
      onTestFinished(() => kube.close());
      return kube;
    };
    const flags = {
      namespace: "postern",
      image: "registry.example.com/postern:v1",
      azurePlsManagedIdentityClientId: id(2),
      azurePlsSubscriptionId: id(1),
      azurePlsResourceGroup: "management",
    };
    const lease = "/apis/coordination.k8s.io/v1/namespaces/postern/leases/postern-install";

    test("changes nothing, because what it has shown is out of date", async () => {
      await postern("install", ...hostedFlags, noWait);
      const kube = await connect();
      const version = packageVersion();
      const record = await settingsBefore(kube, "postern", new AbortController().signal);
      const installation = await installationOf({ ...flags, splitRoles: true }, version, record);
      const [planned, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      kube.gate = gate.promise;
      const overtaken = install(
        installation,
        {
          namespace: "postern",
          version,
          waitUntilAvailable: false,
          waitUntilCrdsEstablished: true,
          timeoutMs: 1_000,
        },
        {
          kube,
          clock: realClock,
          signal: new AbortController().signal,
          print: () => planned.resolve(),
        },
      );
      const failed = expect(overtaken).rejects.toThrow(
        "another install, upgrade or uninstall has ended in namespace postern meanwhile",
      );
      await planned.promise;
      expect((await postern("upgrade", "--azure-tags", "team=blue", noWait)).err).toBe("");
      gate.resolve();
      await failed;
      const text = JSON.stringify(await deployments("postern"));
      expect(text).toContain("--role=all");
      expect(text).toContain("--azure-tags=team=blue");
      expect(await get(lease)).toBeUndefined();
    });

    test("keeps its lock for as long as it works, ends when it loses it, and leaves that of the other", async () => {
      const kube = await connect();
      onTestFinished(async () => void (await cluster.request("DELETE", lease)));
      const clock = new ManualClock(Date.now());
      const { signal } = new AbortController();
      const spec = async () =>
        (await get<{ spec: { holderIdentity: string; renewTime: string } }>(lease))?.spec;
      const begun = Promise.withResolvers<void>();
      const work = withLock(kube, "postern", { clock, signal }, async (lost) => {
        begun.resolve();
        await new Promise((_, reject) => {
          lost.addEventListener("abort", () => reject(lost.reason), { once: true });
        });
      });
      const failed = expect(work).rejects.toThrow(
        "another install, upgrade or uninstall took the lock over",
      );
      await begun.promise;
      const first = await spec();
      await clock.move(100_000);
      await expect.poll(async () => (await spec())?.renewTime).not.toBe(first?.renewTime);
      await expect(withLock(kube, "postern", { clock, signal }, async () => {})).rejects.toThrow(
        "namespace postern is in use by another install",
      );
      const taken = { holderIdentity: "anna@laptop_12ab34cd" };
      await cluster.request(
        "PATCH",
        lease,
        { spec: taken },
        { contentType: "application/merge-patch+json" },
      );
      await clock.move(100_000);
      await failed;
      expect(await spec()).toMatchObject(taken);
    });
  });

  test("permissions that are missing are named before anything is written, or where it stopped; a second run completes it", async () => {
    await postern("install", ...hostedFlags, noWait);
    await postern("uninstall");
    const rules = (deployments: boolean) => [
      { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list"] },
      {
        apiGroups: [
          "",
          "apiextensions.k8s.io",
          "rbac.authorization.k8s.io",
          "admissionregistration.k8s.io",
          "policy",
          "networking.k8s.io",
          "coordination.k8s.io",
          "hypershift.openshift.io",
          "route.openshift.io",
          "events.k8s.io",
          ...(deployments ? ["apps"] : []),
        ],
        resources: ["*"],
        verbs: ["*"],
      },
    ];
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const role = { metadata: { name: "installer" }, rules: rules(false) };
    await cluster.request("POST", `${rbac}/clusterroles`, role);
    await cluster.request("POST", `${rbac}/clusterrolebindings`, {
      metadata: { name: "installer" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "installer" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }],
    });
    const kubeconfig = join(await temporaryFolder(), "config");
    const admin = await readFile(cluster.kubeconfig, "utf8");
    await writeFile(kubeconfig, admin.replaceAll(cluster.tokens.admin, cluster.tokens.alice));
    const alice = (...args: string[]) =>
      runPostern("install", "--kubeconfig", kubeconfig, ...hostedFlags, noWait, ...args);

    const refused = await alice();
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(
      /nothing was changed\. Deployment postern\/postern-operator: .*deployments.*forbidden/,
    );
    expect(
      await get("/apis/rbac.authorization.k8s.io/v1/clusterroles/postern-operator"),
    ).toBeUndefined();

    await moveTo("new");
    // In a namespace that does not exist yet nothing can be tried before.
    const halfway = await alice("-n", "new");
    expect(halfway.code).toBe(1);
    expect(halfway.err).toMatch(
      /Deployment new\/postern-operator cannot be written after \d+ of \d+ objects\. .*forbidden.*\. Then run the same command again/,
    );
    await cluster.request(
      "PATCH",
      `${rbac}/clusterroles/installer`,
      { rules: rules(true) },
      { contentType: "application/merge-patch+json" },
    );
    await expect.poll(async () => (await alice("-n", "new")).err, { timeout: 25_000 }).toBe("");
    expect(await deployments("new")).toHaveLength(1);
  });

  test("uninstall lists what stays in Azure and refuses while clusters exist, until it is forced", async () => {
    await postern("install", ...hostedFlags, noWait);
    const links =
      "/apis/hypershift.openshift.io/v1beta1/namespaces/clusters-one/azureprivatelinkservices";
    const group = `/subscriptions/${id(1)}/resourceGroups/management/providers/Microsoft.Network`;
    const made = await cluster.request("POST", links, {
      apiVersion: "hypershift.openshift.io/v1beta1",
      kind: "AzurePrivateLinkService",
      metadata: { name: "private-router" },
      spec: linkSpec({}),
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const status = { privateLinkServiceID: `${group}/privateLinkServices/pls-one` };
    await cluster.request(
      "PATCH",
      `${links}/private-router/status`,
      { status },
      { contentType: "application/merge-patch+json" },
    );
    onTestFinished(async () => void (await cluster.request("DELETE", `${links}/private-router`)));

    const refused = await postern("uninstall");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(
      "nothing was deleted. 1 cluster exists: AzurePrivateLinkService clusters-one/private-router",
    );
    expect(refused.out).toContain(`${group}/privateLinkServices/pls-one`);
    expect(await deployments("postern")).toHaveLength(1);

    const forced = await postern("uninstall", "--force");
    expect(forced.err).toBe("");
    expect(await deployments("postern")).toEqual([]);
    expect(await get(`${crds}/${link}`)).toBeDefined();
    expect(await get("/api/v1/namespaces/postern")).toBeDefined();
    expect(forced.out).toContain(
      `These are kept, because deleting them would delete everything in them: Namespace postern, ${link}.`,
    );
    const again = await postern("uninstall");
    expect(again.code).toBe(64);
  });

  test("uninstall counts clusters of Cluster API and hosted clusters without a link, and names what they have in Azure", async () => {
    for (const kind of [
      "infrastructure.cluster.x-k8s.io_azureclusters",
      "cluster.x-k8s.io_clusters",
    ]) {
      const text = await readFile(join(root, `manifests/crds/${kind}.yaml`), "utf8");
      await cluster.request("POST", crds, parse(text));
    }
    const flags = [
      "--replace-hypershift",
      "--private-platform",
      "Azure",
      "-f",
      join(values, "cluster-api.yaml"),
    ];
    const installed = await postern("install", ...hostedFlags, ...flags, noWait);
    expect(installed.err).toBe("");
    const group = `/subscriptions/${id(1)}/resourceGroups/wc/providers/Microsoft.Network`;
    const make = async (path: string, object: object) => {
      await expect
        .poll(async () => {
          const { status, body } = await cluster.request("POST", path, object);
          return status === 409 ? 201 : status === 201 ? status : JSON.stringify(body);
        })
        .toBe(201);
      const { metadata } = object as KubeObject;
      onTestFinished(async () => {
        const merge = { contentType: "application/merge-patch+json" };
        const at = `${path}/${metadata.name}`;
        await cluster.request("PATCH", at, { metadata: { finalizers: null } }, merge);
        await cluster.request("DELETE", at);
      });
    };
    const network = {
      apiServerLB: {
        type: "Internal",
        privateLinks: [
          {
            name: "wc-link",
            natIPConfigurations: [{ allocationMethod: "Dynamic", subnet: "nat" }],
            lbFrontendIPConfigNames: ["frontend"],
          },
        ],
      },
      subnets: [
        {
          name: "nat",
          role: "node",
          privateEndpoints: [
            {
              name: "to-mc",
              privateLinkServiceConnections: [
                { privateLinkServiceID: `${group}/privateLinkServices/mc` },
              ],
            },
          ],
        },
      ],
    };
    const azureCluster = azureClusterObject("org-mc", "wc", {
      subscriptionID: id(1),
      networkSpec: network,
    });
    await make("/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/org-mc/azureclusters", {
      ...azureCluster,
      metadata: {
        ...azureCluster.metadata,
        finalizers: ["dns-operator-azure.giantswarm.io/azurecluster"],
      },
    });
    const hosted = hostedClusterObject("clusters-one", "solo", {});
    await make("/apis/hypershift.openshift.io/v1beta1/namespaces/clusters-one/hostedclusters", {
      ...hosted,
      metadata: { ...hosted.metadata, finalizers: ["hypershift.openshift.io/finalizer"] },
    });
    const refused = await postern("uninstall");
    expect(refused.err).toContain(
      "nothing was deleted. 2 clusters exist: HostedCluster clusters-one/solo, AzureCluster org-mc/wc",
    );
    for (const line of [
      `${group}/privateLinkServices/wc-link (AzureCluster org-mc/wc)`,
      `${group}/privateEndpoints/to-mc (AzureCluster org-mc/wc)`,
      "DNS zone wc.example.com (AzureCluster org-mc/wc)",
      "privateDnsZones/solo.hypershift.local (HostedCluster clusters-one/solo)",
    ])
      expect(refused.out).toContain(line);
    expect((await postern("uninstall", "--force")).err).toBe("");
  });

  describe.each(["hosted", "cluster-api", "both", "split-roles", "openshift"])("%s", (name) => {
    test("is accepted by the API server, and the pods of every Deployment by Pod Security restricted, which refuses others", async () => {
      for (const kind of ["ServiceMonitor", "PodMonitor", "PrometheusRule"])
        await serveKind("monitoring.coreos.com", kind);
      const file = join(values, `${name}.yaml`);
      const { err, code } = await postern("install", "-n", "postern", "-f", file, noWait);
      expect(err).toBe("");
      expect(code).toBe(0);
      const desired = configured(configurationOf(name)).filter(({ kind }) => kind === "Deployment");
      const all = (await get<{ items: Deployment[] }>("/apis/apps/v1/deployments"))?.items ?? [];
      expect(all.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual(
        desired.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).toSorted(),
      );
      for (const { metadata, spec } of all) {
        // The namespaces of control planes are not Postern's: here they are as strict as its own.
        const namespace = `/api/v1/namespaces/${metadata.namespace}`;
        const enforce = { "pod-security.kubernetes.io/enforce": "restricted" };
        const merge = { contentType: "application/merge-patch+json" };
        await cluster.request("PATCH", namespace, { metadata: { labels: enforce } }, merge);
        const [container] = spec.template.spec.containers;
        const dryRun = (containers: object[]) =>
          cluster.request("POST", `${namespace}/pods?dryRun=All`, {
            metadata: { ...spec.template.metadata, name: metadata.name },
            spec: { ...spec.template.spec, containers },
          });
        const { status, body } = await dryRun([container as object]);
        expect(status, JSON.stringify(body)).toBe(201);
        const capabilities = { add: ["SYS_ADMIN"] };
        const mighty = {
          ...container,
          securityContext: { allowPrivilegeEscalation: true, capabilities },
        };
        const refused = await dryRun([mighty]);
        expect(refused.status).toBe(403);
        expect(JSON.stringify(refused.body)).toContain('violates PodSecurity \\"restricted:latest');
      }
    });
  });

  test("the ClusterServiceVersion of the bundle is valid by the schema that OLM publishes", async (context) => {
    const crd = publishedSchema("operators.coreos.com_clusterserviceversions.yaml");
    if ("missing" in crd) return context.skip(crd.missing);
    const { status } = await cluster.request("POST", crds, parse(crd.text));
    expect([201, 409]).toContain(status);
    const file = join(root, "deploy/olm/manifests/postern.clusterserviceversion.yaml");
    const csv = parse(await readFile(file, "utf8"));
    const path =
      "/apis/operators.coreos.com/v1alpha1/namespaces/default/clusterserviceversions?dryRun=All&fieldValidation=Strict";
    const ask = (object: object) => cluster.request<{ message?: string }>("POST", path, object);
    await expect.poll(async () => (await ask(csv)).body.message ?? "accepted").toBe("accepted");
    const { spec } = csv;
    for (const wrong of [
      { ...spec, installModes: [{ type: "Everywhere", supported: true }] },
      { ...spec, instalModes: [] },
      { ...spec, displayName: undefined },
    ])
      expect((await ask({ ...csv, spec: wrong })).status).not.toBe(201);
  });

  test("whoever may view, edit or administer a namespace may look at its links, and write none", async () => {
    await postern("install", "-n", "postern", ...hostedFlags, noWait);
    const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    type Role = KubeObject & {
      rules: { resources: string[]; verbs: string[] }[];
      aggregationRule: { clusterRoleSelectors: { matchLabels: Record<string, string> }[] };
    };
    const selected = async (labels: Record<string, string>) => {
      const selector = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
      const query = encodeURIComponent(selector.join(","));
      return (await get<{ items: Role[] }>(`${roles}?labelSelector=${query}`))?.items ?? [];
    };
    for (const role of ["view", "edit", "admin"]) {
      const found = await get<Role>(`${roles}/${role}`);
      // What the controller for aggregation, which is not here, puts into the role.
      const parts = await Promise.all(
        (found?.aggregationRule.clusterRoleSelectors ?? []).map(({ matchLabels }) =>
          selected(matchLabels),
        ),
      );
      const ours = parts.flat().filter(({ metadata }) => metadata.name.startsWith("postern-"));
      expect([...new Set(ours.map(({ metadata }) => metadata.name))]).toEqual(["postern-view"]);
      for (const { resources, verbs } of ours.flatMap(({ rules }) => rules)) {
        expect(resources).toEqual(["azureprivatelinkservices"]);
        expect(verbs).toEqual(["get", "list", "watch"]);
      }
    }
    // OpenShift's own role, by the label that its documentation names.
    const reader = { "rbac.authorization.k8s.io/aggregate-to-cluster-reader": "true" };
    expect((await selected(reader)).map(({ metadata }) => metadata.name)).toEqual(["postern-view"]);
  });
});

/** A file of github.com/operator-framework/api, as Go's proxy has it; it is no part of this repository. */
function publishedSchema(name: string): { text: string } | { missing: string } {
  const module = "github.com/operator-framework/api@v0.42.0";
  const sum = "h1:rkc5V3zW8RxZMjePAe12jdL7Co/hwsYo1pLnkkhuR7s=";
  const { status, stdout, error } = spawnSync("go", ["mod", "download", "-json", module], {
    cwd: tmpdir(),
    encoding: "utf8",
  });
  if (error || status !== 0) return { missing: `${module} cannot be downloaded by go` };
  const { Dir: folder, Sum: found } = JSON.parse(stdout) as { Dir: string; Sum: string };
  if (found !== sum) throw new Error(`${module} has the hash ${found}, and not ${sum}`);
  return { text: readFileSync(join(folder, "crds", name), "utf8") };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "postern-install-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
