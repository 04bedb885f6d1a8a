import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeObject } from "@postern/core/kind.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { subscriptionVariables } from "../../scripts/chart/olm-bundle.ts";
import {
  configurationOf,
  configurations,
  configured,
  outOfStep,
} from "../../scripts/generate-chart.ts";
import { findOrBuildHelm, findOrBuildKubectl } from "../setup/binaries.ts";
import { describeWhere } from "../setup/needs.ts";
import { runPostern } from "./run-postern.ts";

const root = join(import.meta.dirname, "../..");
const chart = join(root, "charts/postern");
const tell = (line: string) => void process.stderr.write(`${line}\n`);
const [helm, kubectl] = [await findOrBuildHelm(tell), await findOrBuildKubectl(tell)];
const missing = [helm, kubectl].flatMap((each) => ("missing" in each ? [each.missing] : []))[0];

const objectsIn = (text: string): KubeObject[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null);

/** By kind, namespace and name: the order of objects differs from form to form. */
function byName(objects: readonly KubeObject[]): Record<string, KubeObject> {
  const named = objects.map((object): [string, KubeObject] => {
    const { namespace = "", name } = object.metadata;
    return [`${object.kind} ${namespace}/${name}`, object];
  });
  expect(new Set(named.map(([name]) => name)).size).toBe(named.length);
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Rbac extends KubeObject {
  rules?: object[];
  roleRef?: { kind: string; name: string };
  subjects?: { name: string }[];
}

interface Bound {
  account: string;
  cluster: boolean;
  rules: object[] | undefined;
}

/** What ServiceAccounts may do by their bindings, and the names of these roles and bindings. */
function boundRules(objects: readonly KubeObject[]) {
  const names = new Set<string>();
  const rules: Bound[] = [];
  for (const { metadata, kind, roleRef, subjects = [] } of objects as Rbac[]) {
    if (roleRef === undefined) continue;
    names.add(metadata.name).add(roleRef.name);
    const role = (objects as Rbac[]).find(
      (each) => each.kind === roleRef.kind && each.metadata.name === roleRef.name,
    );
    for (const { name } of subjects)
      rules.push({ account: name, cluster: kind === "ClusterRoleBinding", rules: role?.rules });
  }
  return { names, rules: sorted(rules) };
}

function sorted(rules: Bound[]): Bound[] {
  return rules.sort((a, b) => Number(a.cluster) - Number(b.cluster));
}

/** What OLM does with the bundle and a Subscription in namespace postern, after the file that is applied before. */
function installedByOlm(): { objects: KubeObject[]; rules: Bound[] } {
  const folder = join(root, "deploy/olm");
  const read = (file: string) => objectsIn(readFileSync(join(folder, file), "utf8"));
  const manifests = globSync("manifests/*.yaml", { cwd: folder }).flatMap(read);
  const csv = manifests.find(({ kind }) => kind === "ClusterServiceVersion") as KubeObject & {
    spec: {
      install: {
        spec: Record<
          "permissions" | "clusterPermissions",
          { serviceAccountName: string; rules: object[] }[]
        > & { deployments: { name: string; label: Record<string, string>; spec: object }[] };
      };
    };
  };
  const { deployments, permissions, clusterPermissions } = csv.spec.install.spec;
  const withValues = (spec: object): object =>
    JSON.parse(
      JSON.stringify(spec).replace(
        /\$\(([A-Z]+)\)/g,
        (_, name) => subscriptionVariables[name] ?? "",
      ),
      (key, value) =>
        key === "env"
          ? value.filter(({ name }: { name: string }) => !(name in subscriptionVariables))
          : value,
    );
  const namespaced = manifests
    .filter((object) => object !== csv)
    .map((object) =>
      object.kind === "ClusterRole"
        ? object
        : { ...object, metadata: { ...object.metadata, namespace: "postern" } },
    );
  return {
    objects: [
      ...read("before.yaml"),
      ...namespaced,
      ...deployments.map(({ name, label, spec }) => ({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name, namespace: "postern", labels: label },
        spec: withValues(spec),
      })),
    ],
    rules: sorted([
      ...permissions.map((each) => ({
        account: each.serviceAccountName,
        cluster: false,
        rules: each.rules,
      })),
      ...clusterPermissions.map((each) => ({
        account: each.serviceAccountName,
        cluster: true,
        rules: each.rules,
      })),
    ]),
  };
}

describeWhere(missing, "the forms of an installation", () => {
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, {
      encoding: "utf8",
      maxBuffer: 2 ** 26,
      stdio: ["ignore", "pipe", "pipe"],
    });
  const helmPath = "helm" in helm ? helm.helm : "";
  const kubectlPath = "kubectl" in kubectl ? kubectl.kubectl : "";
  const template = (...args: string[]) =>
    spawnSync(helmPath, ["template", "postern", chart, "-n", "postern", ...args], {
      encoding: "utf8",
      maxBuffer: 2 ** 26,
    });
  const withValues = (values: object) => {
    const folder = mkdtempSync(join(tmpdir(), "postern-values-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "values.yaml"), stringify(values));
    return ["-f", join(folder, "values.yaml")];
  };
  const hosted = ["-f", join(root, "deploy/values/hosted.yaml")];

  test("are up to date", () => {
    expect(outOfStep()).toEqual([]);
  });

  describe.each([...configurations().keys()])("%s", (name) => {
    const file = join(root, "deploy/values", `${name}.yaml`);
    const settings = configurations().get(name);
    const desired = settings === undefined ? {} : byName(configured(settings));

    test("postern install --render prints the objects", async () => {
      const { out, err } = await runPostern("install", "--render", "-f", file);
      expect(err).toBe("");
      expect(byName(objectsIn(out))).toEqual(desired);
    });

    test("helm template renders the same objects", () => {
      const { stdout, stderr } = template("-f", file, "--no-hooks");
      expect(stderr).toBe("");
      expect(byName(objectsIn(stdout))).toEqual(desired);
    });

    test("kubectl kustomize builds the same objects", () => {
      const built = run(kubectlPath, "kustomize", join(root, "deploy/kustomize/overlays", name));
      expect(byName(objectsIn(built))).toEqual(desired);
    });

    test("helm lint has nothing to say", () => {
      expect(run(helmPath, "lint", "--strict", chart, "-f", file)).toContain("0 chart(s) failed");
    });
  });

  test("OLM makes the same objects of the bundle and the variables of a Subscription", () => {
    const { objects, rules } = installedByOlm();
    const desired = configured(configurationOf("olm"));
    const ofRbac = /^(Cluster)?Role(Binding)?$/;
    const bound = boundRules(desired);
    // OLM creates the ServiceAccounts, and roles and bindings by names of its own.
    const rest = desired.filter(
      ({ kind = "", metadata }) =>
        kind !== "ServiceAccount" && (!ofRbac.test(kind) || !bound.names.has(metadata.name)),
    );
    expect(byName(objects)).toEqual(byName(rest));
    expect(rules).toEqual(bound.rules);
    expect([...new Set(rules.map(({ account }) => account))]).toEqual(
      desired.filter(({ kind }) => kind === "ServiceAccount").map(({ metadata }) => metadata.name),
    );
  });

  test("the alerts that the chart renders fire where they should, and not where they should not", (context) => {
    if (spawnSync("promtool", ["--version"]).error)
      return context.skip("promtool is not installed: Debian's package is prometheus");
    const { stdout } = template("-f", join(root, "deploy/values/both.yaml"));
    const rule = objectsIn(stdout).find(({ kind }) => kind === "PrometheusRule") as KubeObject & {
      spec: { groups: { rules: { alert: string; annotations: Record<string, string> }[] }[] };
    };
    expect(rule.metadata.labels).toMatchObject({ release: "prometheus" });
    const folder = mkdtempSync(join(tmpdir(), "postern-alerts-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const { alert, annotations } of rule.spec.groups.flatMap(({ rules }) => rules)) {
      expect(annotations.runbook_url).toBe(`https://docs.example.com/runbooks/${alert}`);
      // The tests of monitoring/alerts.test.yaml are of the file beside them, which has no such pages.
      delete annotations.runbook_url;
    }
    writeFileSync(join(folder, "rules.yaml"), stringify(rule.spec));
    copyFileSync(join(root, "monitoring/alerts.test.yaml"), join(folder, "alerts.test.yaml"));
    const said = execFileSync("promtool", ["test", "rules", "alerts.test.yaml"], { cwd: folder });
    expect(String(said)).toContain("SUCCESS");
  });

  test("the dashboard reaches Grafana through the chart as it is, with its own braces", () => {
    const { stdout } = template("-f", join(root, "deploy/values/both.yaml"));
    const map = objectsIn(stdout).find(
      ({ metadata }) => metadata.name === "postern-grafana-dashboard",
    ) as KubeObject & { data: Record<string, string> };
    expect(map.metadata.labels).toMatchObject({ grafana_dashboard: "1" });
    expect(map.metadata.annotations).toEqual({ grafana_folder: "Networking" });
    expect(JSON.parse(map.data["postern.json"] ?? "")).toEqual(
      JSON.parse(readFileSync(join(root, "monitoring/grafana-dashboard.json"), "utf8")),
    );
    expect(map.data["postern.json"]).toContain('"{{kind}} {{health}}"');
  });

  test("nothing of the Prometheus operator or of Grafana is installed where no setting asks for it", () => {
    const kinds = objectsIn(template(...hosted).stdout).map(
      ({ kind, metadata }) => `${kind} ${metadata.name}`,
    );
    expect(
      kinds.filter((each) => /^(Service|Pod)Monitor|^PrometheusRule|grafana/.test(each)),
    ).toEqual([]);
  });

  test("install.yaml is the configuration of hosted control planes", () => {
    const settings = configurations().get("hosted");
    const text = readFileSync(join(root, "deploy/install.yaml"), "utf8");
    expect(byName(objectsIn(text))).toEqual(byName(settings ? configured(settings) : []));
  });

  test("a typo in the values is rejected by the chart", () => {
    const { status, stderr } = template(...hosted, "--set", "azure.subscriptoinId=1");
    expect(status).not.toBe(0);
    expect(stderr).toContain("additional properties 'subscriptoinId' not allowed");
  });

  test("the chart reports every violated rule at once, in the words of postern install", async () => {
    const values = withValues({
      image: { repository: "registry.example.com/postern" },
      azure: {
        credentialsSecret: { name: "azure" },
        clientId: "00000000-0000-4000-8000-000000000002",
      },
    });
    const { stderr } = template(...values);
    const { err } = await runPostern("install", "--render", ...values, "--no-wait-until-available");
    for (const part of ["are mutually exclusive", "hosted control planes need"]) {
      expect(stderr).toContain(part);
      expect(err).toContain(part);
    }
    expect(stderr).toContain("azure.clientId needs azure.subscriptionId");
    expect(stderr).toContain("3 settings are invalid");
  });

  test("values with quotation marks, braces and newlines reach the objects as they are", () => {
    const odd = `a "b" 'c' {{ d }} \\ <e> & é\n# f: g`;
    const values = {
      additionalTrustBundle: odd,
      extraArgs: [`--x=${odd}`],
      extraEnv: [{ name: "ODD", value: odd }],
      podAnnotations: { "example.com/odd": odd },
      tenantPolicy: { namespaces: [{ namespace: "clusters", domains: ["*", odd] }] },
    };
    const given = withValues(values);
    const { stdout, stderr } = template(...hosted, ...given, "--no-hooks");
    expect(stderr).toBe("");
    const settings = configurations().get("hosted");
    const desired = settings && configured({ ...settings, ...values });
    expect(byName(objectsIn(stdout))).toEqual(byName(desired ?? []));
  });

  test("further values of pods, labels and annotations are the same in both", () => {
    const values = {
      podLabels: { team: "network" },
      serviceAccount: { annotations: { "example.com/owner": "us" } },
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" },
      ],
      networkPolicy: { metricsFrom: [{ namespaceSelector: {} }], apiServerPorts: [443] },
      metrics: {
        port: 9000,
        tlsSecret: "postern-metrics",
        serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
      },
      health: { port: 9001 },
      resources: { limits: { memory: "1Gi" } },
      exposeDetails: true,
      crds: { keep: false },
      admission: { reserveDefaultNamespace: false },
    };
    const given = withValues(values);
    const { stdout, stderr } = template(...hosted, ...given, "--no-hooks");
    expect(stderr).toBe("");
    return expect(
      runPostern("install", "--render", ...hosted, ...given).then(({ out }) =>
        byName(objectsIn(out)),
      ),
    ).resolves.toEqual(byName(objectsIn(stdout)));
  });

  test("crds.enabled leaves the kinds out, and crds.keep decides whether they stay after an uninstall", () => {
    const crds = (...args: string[]) =>
      objectsIn(template(...hosted, ...args).stdout).filter(
        ({ kind }) => kind === "CustomResourceDefinition",
      );
    const policy = "helm.sh/resource-policy";
    expect(crds().map(({ metadata }) => metadata.annotations?.[policy])).toEqual(["keep"]);
    expect(crds("--set", "crds.keep=false")[0]?.metadata.annotations).not.toHaveProperty(policy);
    expect(crds("--set", "crds.enabled=false")).toEqual([]);
  });

  test("helm test runs doctor by the operator's ServiceAccount, restricted as the operator is", () => {
    const hooks = objectsIn(template(...hosted).stdout).filter(
      ({ metadata }) => metadata.annotations?.["helm.sh/hook"] === "test",
    );
    expect(hooks.map(({ kind }) => kind).sort()).toEqual([
      "ClusterRole",
      "ClusterRoleBinding",
      "Pod",
    ]);
    const pod = hooks.find(({ kind }) => kind === "Pod");
    expect(pod).toMatchObject({
      spec: {
        serviceAccountName: "postern-operator",
        securityContext: { runAsNonRoot: true },
        containers: [
          {
            args: ["doctor", "--output=wide", "--allow-unread"],
            securityContext: { readOnlyRootFilesystem: true },
          },
        ],
      },
    });
  });
});
