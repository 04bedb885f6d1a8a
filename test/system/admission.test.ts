import { afterAll, beforeAll, expect, inject, vi } from "vitest";
import { type Cluster, clusterAt } from "../setup/cluster.ts";
import { isEmbedded, testOnReal } from "../setup/differences.ts";
import { describeWhere } from "../setup/needs.ts";
import { type Plane, startPlane } from "../setup/plane.ts";
import { attacks } from "./admission/attacks.ts";
import {
  type Attempt,
  annotations,
  binding,
  bindings,
  by,
  controlPlaneLabels,
  core,
  grant,
  hypershift,
  link,
  links,
  namespaceBody,
  operator,
  patch,
  platformOperator,
  post,
  rbac,
  routes,
  simpleRoute,
  simpleService,
} from "./admission/attempts.ts";
import { legitimate } from "./admission/legitimate.ts";
import { controlPlaneObject, hostedClusterObject, routerService } from "./hosted/objects.ts";
import { installKinds } from "./kinds/install.ts";
import {
  admissionPolicies,
  installPolicies,
  type Manifest,
  parseManifests,
  readManifest,
} from "./manifests.ts";

const given = inject("cluster");
describeWhere("missing" in given ? given.missing : undefined, "the admission policies", () => {
  let plane: Plane;
  let cluster: Cluster;
  /** The status of each attack before the policies were installed. */
  const before = new Map<string, number>();

  const send = ({ as, method, path, body }: Attempt, dryRun = false) =>
    cluster.request<{ message?: string; metadata?: { resourceVersion?: string } }>(
      method,
      dryRun ? `${path}?dryRun=All` : path,
      body,
      as === undefined ? {} : { headers: { "Impersonate-User": as } },
    );
  const must = async (attempt: Attempt) => {
    const { status, body } = await send(attempt);
    expect(status, `${attempt.method} ${attempt.path} ${body.message}`).toBeLessThan(300);
  };

  beforeAll(async () => {
    if (isEmbedded()) return;
    plane = await startPlane();
    cluster = clusterAt(plane.address);
    await installKinds(cluster);
    for (const each of fixtures()) await must(each);
    const owner = await cluster.request<{ metadata: never }>(
      "GET",
      `${hypershift("clusters-one", "hostedcontrolplanes")}/one`,
    );
    const service = routerService(owner.body);
    await must(
      post(core("clusters-one", "services"), {
        ...service,
        metadata: { ...service.metadata, labels: { "postern.io/made-by": "topology" } },
      }),
    );
    for (const [name, attempt] of Object.values(attacks).flat())
      before.set(name, (await send(attempt, true)).status);
    await installPolicies(cluster, policies());
    // The API server begins to enforce a policy a moment after it was created.
    for (const [policy, [first]] of Object.entries(attacks))
      await vi.waitFor(
        async () => {
          const { body } = await send((first as [string, Attempt])[1], true);
          expect(body.message).toContain(policy);
        },
        { timeout: 20_000, interval: 50 },
      );
    await vi.waitFor(
      async () => {
        const attempt = post(core("openshift-postern", "services"), simpleService("router"));
        expect((await send(by(platformOperator, attempt), true)).status).toBe(403);
      },
      { timeout: 20_000, interval: 50 },
    );
  }, 120_000);
  afterAll(() => plane?.stop());

  for (const [policy, rows] of Object.entries(attacks))
    for (const [name, attempt] of rows)
      testOnReal("no-admission", `refuse: ${name}`, async () => {
        expect(before.get(name), "without the policies").toBeLessThan(300);
        const object = await storedObject(cluster, attempt);
        const { status, body } = await send(attempt);
        expect([status, body.message]).toEqual([403, expect.stringContaining(`'${policy}`)]);
        expect(body.message).toMatch(/denied request: .+ · .+ · .+/);
        expect(await storedObject(cluster, attempt)).toEqual(object);
      });

  testOnReal("no-admission", "allow what Postern, HyperShift and users do", async () => {
    for (const [name, attempt] of legitimate) {
      // Policies see a Namespace as the API server has it cached, so a label counts a moment later.
      await vi.waitFor(
        async () => {
          const { status, body } = await send(attempt);
          expect(status, `${name}: ${body.message}`).toBeLessThan(300);
        },
        { timeout: 20_000, interval: 50 },
      );
    }
  });
});

/** The object that a request is about, as it is now. */
async function storedObject(cluster: Cluster, { method, path, body }: Attempt): Promise<unknown> {
  const named = (body as { metadata?: { name: string } } | undefined)?.metadata?.name;
  const at = method === "POST" && named !== undefined ? `${path}/${named}` : path;
  const plain = at.replace(/\/(status|finalize|token)$/, "");
  const { status, body: found } = await cluster.request<{ items?: object[] }>("GET", plain);
  return status === 200 ? (found.items ?? found) : status;
}

/** The world before the first attack; none of it is Postern's work. */
function fixtures(): Attempt[] {
  const everything = {
    metadata: { name: "everything-but-policies" },
    rules: [
      "",
      "hypershift.openshift.io",
      "route.openshift.io",
      "rbac.authorization.k8s.io",
      "coordination.k8s.io",
      "events.k8s.io",
    ].map((group) => ({ apiGroups: [group], resources: ["*"], verbs: ["*"] })),
  };
  const everybody = { kind: "Group", name: "system:authenticated" };
  const cluster = hostedClusterObject("clusters", "one");
  const plain = ["clusters", "tenant", "org", "postern", "openshift-ingress", "openshift-postern"];
  return [
    post(`${rbac}/clusterroles`, everything),
    post(`${rbac}/clusterrolebindings`, binding("everything-but-policies", [everybody])),
    ...["clusters-one", "clusters-two"].map((name) =>
      post("/api/v1/namespaces", namespaceBody(name, controlPlaneLabels)),
    ),
    ...plain.map((name) => post("/api/v1/namespaces", namespaceBody(name))),
    patch("/api/v1/namespaces/tenant", annotations({ "example.com/owner": "tenant" })),
    post(core("kube-system", "serviceaccounts"), { metadata: { name: "control-plane-operator" } }),
    post(hypershift("clusters", "hostedclusters"), cluster),
    post(hypershift("clusters-one", "hostedcontrolplanes"), controlPlaneObject(cluster)),
    post(links("clusters-one"), link("clusters-one", "private-router")),
    post(core("tenant", "services"), simpleService("any")),
    post(core("tenant", "serviceaccounts"), { metadata: { name: "any" } }),
    post(routes("tenant"), simpleRoute("any")),
    post(bindings("clusters-two"), binding(grant)),
  ];
}

/** All policies, and those for the operator once more for one under another name. */
function policies(): Manifest[] {
  const renamed = readManifest("admission/operator.yaml")
    .replaceAll(operator, platformOperator)
    .replaceAll(/(name|policyName): (postern-operator-[a-z-]+)/g, "$1: $2-platform");
  return [...admissionPolicies(), ...parseManifests(renamed)];
}
