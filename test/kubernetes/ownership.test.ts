import { randomBytes } from "node:crypto";
import { seededRandom } from "@postern/azure-simulator/control/seeded-random.ts";
import { configMap } from "@postern/kubernetes-embedded/kinds/config-map.ts";
import { service } from "@postern/kubernetes-embedded/kinds/service.ts";
import type { Patched } from "@postern/kubernetes-embedded/patch/refusal.ts";
import type { Resource, Stored } from "@postern/kubernetes-embedded/resource.ts";
import { shapeOf } from "@postern/kubernetes-embedded/schema/shape.ts";
import { beforeAll, expect, test, vi } from "vitest";
import { type Cluster, describeOnCluster } from "../setup/cluster.ts";
import { seed } from "../setup/random.ts";
import { ownedSchema, serviceFields } from "./ownership-kind.ts";
import { predicted } from "./ownership-predicted.ts";
import { nextStep, type Step, type Target } from "./ownership-steps.ts";
import { randomValues } from "./ownership-values.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 5);
const steps = 30;

/** What a Service is given, as luck has it. */
const allocated = new Set(["clusterIP", "clusterIPs", "nodePort"]);

const forms = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

describeOnCluster("who manages which field", (cluster) => {
  const group = `g${randomBytes(4).toString("hex")}.example.com`;
  beforeAll(() => install(cluster, group), 60_000);

  test.each(Array.from({ length: runs }, (_, run) => `${seed}-${run}`))(
    "of a custom resource is as kube-apiserver has it (seed %s)",
    async (given) => {
      const versions = ["v1", "v1beta1"].map((version) => custom(group, version));
      await compareAtRandom(cluster, given, {
        target: {
          group,
          versions: ["v1", "v1beta1"],
          kind: "Owned",
          name: "a",
          properties: ownedSchema.properties ?? {},
          strategic: false,
          status: true,
        },
        path: (namespace, version) => `/apis/${group}/${version}/namespaces/${namespace}/owneds`,
        versions,
      });
    },
    120_000,
  );

  const configMaps: Compared = {
    target: {
      group: "",
      versions: ["v1"],
      kind: "ConfigMap",
      name: "a",
      properties: { data: configMap.schema.properties?.data ?? {} },
      strategic: true,
      status: false,
    },
    path: (namespace) => `/api/v1/namespaces/${namespace}/configmaps`,
    versions: [configMap],
  };

  test.each(Array.from({ length: runs }, (_, run) => `${seed}-${run}`))(
    "of a ConfigMap is as kube-apiserver has it (seed %s)",
    (given) => compareAtRandom(cluster, given, configMaps),
    120_000,
  );

  test("is put together where there are more than ten who update", async () => {
    await compareSteps(cluster, "many managers", configMaps, (count) => ({
      type: count === 0 ? "create" : "merge",
      manager: `manager-${(count * 7) % steps}`,
      version: "v1",
      force: false,
      body: {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a" },
        data: { [`key-${count}`]: "value" },
      },
    }));
  }, 60_000);

  test.each(Array.from({ length: runs }, (_, run) => `${seed}-${run}`))(
    "of a Service is as kube-apiserver has it (seed %s)",
    async (given) => {
      await compareAtRandom(cluster, given, {
        target: {
          group: "",
          versions: ["v1"],
          kind: "Service",
          name: "a",
          properties: serviceFields,
          strategic: true,
          status: true,
        },
        path: (namespace) => `/api/v1/namespaces/${namespace}/services`,
        versions: [service],
      });
    },
    120_000,
  );
});

interface Compared {
  target: Target;
  path(namespace: string, version: string): string;
  versions: readonly Resource[];
}

function compareAtRandom(cluster: Cluster, given: string, compared: Compared): Promise<void> {
  const values = randomValues(seededRandom(given));
  const next = (_: number, before: Stored | undefined) => nextStep(values, compared.target, before);
  return compareSteps(cluster, given, compared, next);
}

async function compareSteps(
  cluster: Cluster,
  given: string,
  { target, path, versions }: Compared,
  next: (count: number, before: Stored | undefined) => Step,
): Promise<void> {
  const namespace = await cluster.namespace();
  let before: Stored | undefined;
  for (let count = 0; count < steps; count++) {
    const step = next(count, before);
    const { status, body } = await write(cluster, path(namespace, step.version), target.name, step);
    const told = `${given}, step ${count}: ${JSON.stringify({ step, before })}`;
    if (status >= 300) {
      const wrong = body as unknown as { message: string };
      // What the object does not fit is not for these functions to tell: its schema, or what is given out already.
      if (/is invalid|duplicate nodePort/.test(wrong.message)) continue;
      const ours = predicted(versions, step, before, Date.now());
      expect(refusal(ours), told).toEqual({ code: status, lines: linesOf(wrong.message) });
      continue;
    }
    const times = body.metadata.managedFields?.map(({ time = "" }) => time).toSorted() ?? [];
    const ours = predicted(versions, step, before, Date.parse(times.at(-1) ?? "") || Date.now());
    if ("refused" in ours) throw new Error(`refused: ${ours.refused.message}; ${told}`);
    expect(comparable(ours.object), told).toEqual(comparable(body));
    before = body;
  }
}

function write(cluster: Cluster, path: string, name: string, step: Step) {
  const query = `?fieldManager=${step.manager}`;
  if (step.type === "create") return cluster.request<Stored>("POST", `${path}${query}`, step.body);
  const one = `${path}/${name}${step.subresource ? "/status" : ""}${query}`;
  if (step.type === "update") return cluster.request<Stored>("PUT", one, step.body);
  const contentType = forms[step.type];
  const force = step.type === "apply" ? `&force=${step.force}` : "";
  return cluster.request<Stored>("PATCH", `${one}${force}`, step.body, { contentType });
}

function refusal(patched: Patched): unknown {
  if ("object" in patched) return patched;
  const { code, message } = patched.refused;
  return { code, lines: linesOf(message) };
}

/** A message, whatever the order in which it tells things: that of a map in Go is by chance. */
function linesOf(message: string): string[] {
  return message.split("\n").toSorted();
}

/** An object without what only the API server knows. */
function comparable({ metadata, ...rest }: Stored): unknown {
  const { uid, resourceVersion, generation, creationTimestamp, namespace, ...kept } = metadata;
  return { ...withoutAllocated(rest), metadata: kept };
}

function withoutAllocated(object: Record<string, unknown>): Record<string, unknown> {
  if (object.kind !== "Service") return object;
  const text = JSON.stringify(object, (name, value) => (allocated.has(name) ? undefined : value));
  return JSON.parse(text);
}

function custom(group: string, version: string): Resource {
  return {
    group,
    version,
    kind: "Owned",
    listKind: "OwnedList",
    plural: "owneds",
    singular: "owned",
    shortNames: [],
    categories: [],
    namespaced: true,
    status: true,
    builtIn: false,
    schema: ownedSchema,
    columns: [],
    shape: shapeOf(ownedSchema),
  };
}

async function install(cluster: Cluster, group: string): Promise<void> {
  const version = (name: string) => ({
    name,
    served: true,
    storage: name === "v1",
    schema: { openAPIV3Schema: ownedSchema },
    subresources: { status: {} },
  });
  const { status, body } = await cluster.request(
    "POST",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `owneds.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { kind: "Owned", plural: "owneds", singular: "owned", listKind: "OwnedList" },
        versions: [version("v1"), version("v1beta1")],
      },
    },
  );
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  await vi.waitFor(
    async () => {
      const answer = await cluster.request("GET", `/apis/${group}/v1beta1/owneds`);
      if (answer.status !== 200) throw new Error(`not served yet: ${answer.status}`);
    },
    { timeout: 30_000 },
  );
}
