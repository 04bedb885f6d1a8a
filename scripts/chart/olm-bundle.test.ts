import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { subscriptionVariables } from "./olm-bundle.ts";

// What operator-sdk and opm check, which are not here:
// https://github.com/operator-framework/api/tree/master/pkg/validation/internal
const folder = join(import.meta.dirname, "../../deploy/olm");
const read = (path: string) => parse(readFileSync(join(folder, path), "utf8"));
const csv = read("manifests/postern.clusterserviceversion.yaml");
const [deployment] = csv.spec.install.spec.deployments;
const [container] = deployment.spec.template.spec.containers;
const { annotations } = read("metadata/annotations.yaml");

/** The kinds that operator-registry knows, with those of OLM v1: pkg/lib/bundle/supported_resources.go. */
const supported = [
  ...["ClusterServiceVersion", "CustomResourceDefinition", "Secret", "ConfigMap", "Service"],
  ...["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ServiceAccount"],
  ...["PrometheusRule", "ServiceMonitor", "PodDisruptionBudget", "PriorityClass"],
];

test("the ClusterServiceVersion has the fields that are required, in their forms", () => {
  expect(csv.apiVersion).toBe("operators.coreos.com/v1alpha1");
  expect(csv.metadata.name).toBe(`postern.v${csv.spec.version}`);
  expect(csv.spec.version).toMatch(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/);
  expect(csv.spec.minKubeVersion).toMatch(/^\d+\.\d+\.\d+$/);
  for (const field of ["displayName", "description", "maturity"])
    expect(csv.spec[field], field).toMatch(/\w/);
  for (const field of ["keywords", "links", "icon"]) expect(csv.spec[field]).not.toEqual([]);
  expect(csv.spec.provider.name).toBe("Postern");
  expect(csv.spec.icon[0].mediatype).toBe("image/svg+xml");
  expect(Buffer.from(csv.spec.icon[0].base64data, "base64").toString()).toMatch(/^<svg/);
  expect(JSON.parse(csv.metadata.annotations["alm-examples"])).toEqual([]);
  expect([
    "Basic Install",
    "Seamless Upgrades",
    "Full Lifecycle",
    "Deep Insights",
    "Auto Pilot",
  ]).toContain(csv.metadata.annotations.capabilities);
});

test("it is for all namespaces, and for no other install mode", () => {
  const modes = csv.spec.installModes as { type: string; supported: boolean }[];
  expect(modes.map(({ type }) => type).sort()).toEqual([
    "AllNamespaces",
    "MultiNamespace",
    "OwnNamespace",
    "SingleNamespace",
  ]);
  expect(modes.filter((each) => each.supported).map(({ type }) => type)).toEqual(["AllNamespaces"]);
});

test("no kind is owned or required, and nothing else that OLM v1 refuses is in it", () => {
  for (const field of [
    "customresourcedefinitions",
    "apiservicedefinitions",
    "webhookdefinitions",
    "nativeAPIs",
  ])
    expect(csv.spec).not.toHaveProperty(field);
  expect(readdirSync(join(folder, "metadata"))).toEqual(["annotations.yaml"]);
});

test("every manifest is of a kind that a bundle may have, and one of them is the ClusterServiceVersion", () => {
  const kinds = readdirSync(join(folder, "manifests")).map((file) => {
    const documents = parseAllDocuments(readFileSync(join(folder, "manifests", file), "utf8"));
    expect(documents, file).toHaveLength(1);
    const { kind, metadata }: { kind: string; metadata: object } = documents[0]?.toJS() ?? {};
    if (kind !== "ClusterServiceVersion") expect(metadata, file).not.toHaveProperty("namespace");
    return kind;
  });
  expect(kinds.filter((kind) => kind === "ClusterServiceVersion")).toHaveLength(1);
  expect(kinds.filter((kind) => !supported.includes(kind))).toEqual([]);
});

test("images are named by digest, and all of them are related images", () => {
  expect(container.image).toMatch(/@sha256:[0-9a-f]{64}$/);
  expect(csv.spec.relatedImages).toEqual([{ name: "operator", image: container.image }]);
  expect(csv.metadata.annotations.containerImage).toBe(container.image);
});

test("the features of OpenShift are all answered, tokens of Azure with yes", () => {
  const prefix = "features.operators.openshift.io/";
  const features = Object.entries<string>(csv.metadata.annotations)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]): [string, string] => [name.slice(prefix.length), value]);
  expect(Object.fromEntries(features)).toMatchObject({
    disconnected: "true",
    "proxy-aware": "true",
    "token-auth-azure": "true",
    "token-auth-aws": "false",
    "fips-compliant": "false",
  });
  for (const [name, value] of features) expect(["true", "false"], name).toContain(value);
});

test("the variables of a Subscription stand before those that refer to them", () => {
  const names = container.env.map(({ name }: { name: string }) => name);
  const known = Object.keys(subscriptionVariables);
  expect(names.slice(0, known.length)).toEqual(known);
  expect(new Set(names).size).toBe(names.length);
  const text = JSON.stringify(container.env);
  for (const name of known) expect(text).toContain(`$(${name})`);
  for (const value of Object.values(subscriptionVariables))
    expect(text).not.toContain(`"${value}"`);
});

test("pods run by any user, under restricted-v2", () => {
  const { securityContext } = deployment.spec.template.spec;
  expect(securityContext).toEqual({
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(deployment.spec.template.metadata.annotations["openshift.io/required-scc"]).toBe(
    "restricted-v2",
  );
  const volumes = deployment.spec.template.spec.volumes as Record<string, unknown>[];
  const allowed = ["name", "configMap", "emptyDir", "projected", "secret"];
  for (const volume of volumes)
    expect(Object.keys(volume).filter((key) => !allowed.includes(key))).toEqual([]);
});

test("metadata, labels of the image and folders name each other", () => {
  const prefix = "operators.operatorframework.io.bundle";
  expect(annotations).toMatchObject({
    [`${prefix}.mediatype.v1`]: "registry+v1",
    [`${prefix}.manifests.v1`]: "manifests/",
    [`${prefix}.metadata.v1`]: "metadata/",
    [`${prefix}.package.v1`]: "postern",
  });
  const channels = annotations[`${prefix}.channels.v1`].split(",");
  expect(channels).toContain(annotations[`${prefix}.channel.default.v1`]);
  const dockerfile = readFileSync(join(folder, "Dockerfile"), "utf8");
  const labels = [...dockerfile.matchAll(/^LABEL (\S+)=(\S+)$/gm)].map(([, key, value]) => [
    key,
    value,
  ]);
  expect(Object.fromEntries(labels)).toEqual(annotations);
  expect(dockerfile).toMatch(/^FROM scratch$/m);
  for (const path of ["manifests", "metadata", "tests/scorecard"])
    expect(dockerfile).toContain(`COPY ${path} /${path}/`);
});

test("the scorecard has the test of the bundle's format", () => {
  const config = read("tests/scorecard/config.yaml");
  expect(config).toMatchObject({
    apiVersion: "scorecard.operatorframework.io/v1alpha3",
    kind: "Configuration",
    metadata: { name: "config" },
  });
  for (const { tests } of config.stages)
    for (const each of tests) {
      expect(each.entrypoint[0]).toBe("scorecard-test");
      expect(each.labels).toMatchObject({ suite: "olm", test: `${each.entrypoint[1]}-test` });
      expect(each.image).toMatch(/:v\d/);
    }
});

test("what a bundle cannot have is in before.yaml", () => {
  const kinds = parseAllDocuments(readFileSync(join(folder, "before.yaml"), "utf8")).map(
    (document) => (document.toJS() as { kind: string }).kind,
  );
  expect([...new Set(kinds)].sort()).toEqual([
    "NetworkPolicy",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
  ]);
});
