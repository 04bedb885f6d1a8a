import { type Kubernetes, startKubernetes } from "@postern/kubernetes-embedded/server.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnCluster } from "../setup/cluster.ts";
import { fc, seed, seeded } from "../setup/random.ts";
import { send } from "../setup/request.ts";
import type { Status, Thing } from "./api.ts";

const runs = Number(process.env.POSTERN_VERDICT_RUNS ?? 40);

const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });
const oneOf = (...values: unknown[]) => fc.constantFrom(...values);

const port = fc.record({
  name: maybe(oneOf("a", "b", "Not_a_name", "")),
  port: oneOf(80, 443, 70_000),
  protocol: maybe(oneOf("TCP", "UDP", "ICMP")),
  targetPort: maybe(oneOf(8080, "web", "Web!", 0, "")),
  // Of the few that an API server does not give out by itself: luck must not decide.
  nodePort: fc.option(oneOf(30_001, 30_002), { nil: undefined, freq: 4 }),
});

/** Most of these are wrong in some way, and some are not. */
const serviceFields = {
  type: maybe(oneOf("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")),
  ports: maybe(fc.array(port, { maxLength: 3 })),
  selector: maybe(oneOf({ app: "web" }, {}, { "no/no/no": "x" })),
  sessionAffinity: maybe(oneOf("None", "ClientIP", "Server")),
  externalName: maybe(oneOf("example.com", "a.b.", "NOT A NAME")),
  externalTrafficPolicy: maybe(oneOf("Local", "Cluster")),
  internalTrafficPolicy: maybe(oneOf("Local", "Cluster")),
  allocateLoadBalancerNodePorts: maybe(fc.boolean()),
  loadBalancerClass: fc.option(oneOf("example.com/lb", "no/no/no"), { nil: undefined, freq: 4 }),
  loadBalancerSourceRanges: maybe(oneOf(["10.0.0.0/8"], ["all"], [])),
  externalIPs: maybe(oneOf(["192.0.2.1"], ["nowhere"])),
};
const changedSpec = fc.record(serviceFields);
const newSpec = fc.record({
  ...serviceFields,
  clusterIP: fc.option(oneOf("None", ""), { nil: undefined, freq: 4 }),
});

const word = oneOf(
  "a",
  "a.b",
  "A",
  "a_b",
  "-a",
  "a/b",
  "x".repeat(64),
  "",
  "example.com/a",
) as fc.Arbitrary<string>;
const metadata = fc.record({
  name: word,
  labels: maybe(fc.dictionary(word, word, { maxKeys: 2 })),
  annotations: maybe(fc.dictionary(word, word, { maxKeys: 2 })),
  finalizers: maybe(fc.array(word, { maxLength: 2 })),
});

const texts = fc.dictionary(word, oneOf("", "YQ==", "not base64") as fc.Arbitrary<string>, {
  maxKeys: 2,
});
const reference = fc.record({
  kind: maybe(oneOf("Pod")),
  name: maybe(oneOf("p")),
  namespace: maybe(oneOf("NAMESPACE", "elsewhere")),
});
const microTime = oneOf("2026-03-01T12:00:00.000000Z", "2026-03-01T12:00:00Z", "noon");
const eventFields = {
  action: maybe(oneOf("Run", "")),
  eventTime: maybe(microTime),
  reason: maybe(oneOf("Because", "", "x".repeat(129))),
  reportingInstance: maybe(oneOf("one", "")),
  type: maybe(oneOf("Normal", "Warning", "Odd")),
  series: maybe(fc.record({ count: oneOf(2, 0), lastObservedTime: microTime })),
};

/** Kinds that say more than their schema does, and what is sent as one of them. */
const others: Record<string, fc.Arbitrary<object>> = {
  "/api/v1/namespaces/NAMESPACE/secrets": fc.record({
    data: maybe(texts),
    stringData: maybe(texts),
    immutable: maybe(fc.boolean()),
    type: maybe(
      oneOf(
        "",
        "mine",
        "Opaque",
        "kubernetes.io/tls",
        "kubernetes.io/basic-auth",
        "kubernetes.io/ssh-auth",
      ),
    ),
  }),
  "/api/v1/namespaces/NAMESPACE/configmaps": fc.record({
    data: maybe(texts),
    binaryData: maybe(texts),
    immutable: maybe(fc.boolean()),
  }),
  "/apis/coordination.k8s.io/v1/namespaces/NAMESPACE/leases": fc.record({
    spec: maybe(
      fc.record({
        holderIdentity: maybe(oneOf("me", "")),
        leaseDurationSeconds: maybe(oneOf(15, 0, -1, 1.5, "15")),
        leaseTransitions: maybe(oneOf(0, 1, -1)),
        renewTime: maybe(microTime),
      }),
    ),
  }),
  "/api/v1/namespaces/NAMESPACE/events": fc.record({
    ...eventFields,
    involvedObject: reference,
    message: maybe(oneOf("hello", "x".repeat(1025))),
    reportingComponent: maybe(oneOf("example.com/tester", "no/no/no", "")),
    count: maybe(oneOf(1, 0)),
    firstTimestamp: maybe(oneOf("2026-03-01T12:00:00Z", "noon")),
  }),
  "/apis/events.k8s.io/v1/namespaces/NAMESPACE/events": fc.record({
    ...eventFields,
    regarding: reference,
    note: maybe(oneOf("hello", "x".repeat(1025))),
    reportingController: maybe(oneOf("example.com/tester", "no/no/no", "")),
    deprecatedCount: maybe(oneOf(1, 0)),
    deprecatedSource: maybe(oneOf({}, { component: "tester" })),
  }),
};

describeOnCluster(`an answer (${seeded})`, (cluster) => {
  let embedded: Kubernetes;
  beforeAll(async () => {
    embedded = await startKubernetes();
  });
  afterAll(() => embedded.stop());

  const sameNamespace = async () => {
    const name = await cluster.namespace();
    const { token } = embedded;
    await send(embedded, "POST", "/api/v1/namespaces", { metadata: { name } }, { token });
    return name;
  };
  const both = (namespace: string) => ({
    theirs: (method: string, path: string, body?: unknown) =>
      cluster.request<Thing | Status>(method, path.replace("NAMESPACE", namespace), body),
    ours: (method: string, path: string, body?: unknown) =>
      send<Thing | Status>(embedded, method, path.replace("NAMESPACE", namespace), body, {
        token: embedded.token,
      }),
  });

  async function compare(
    asked: ReturnType<typeof both>,
    method: string,
    path: string,
    bodies: { theirs: unknown; ours: unknown },
  ) {
    const [theirs, ours] = await Promise.all([
      asked.theirs(method, path, bodies.theirs),
      asked.ours(method, path, bodies.ours),
    ]);
    // Where the API server stumbles, there is nothing to agree with.
    if (theirs.status !== 500) {
      expect(verdict(ours.status, ours.body), JSON.stringify(bodies.theirs)).toEqual(
        verdict(theirs.status, theirs.body),
      );
    }
    return { theirs: theirs.body as Thing, ours: ours.body as Thing, made: theirs.status === 201 };
  }

  test("to a new Service, and to one that is changed, is the API server's", async () => {
    const asked = both(await sameNamespace());
    const path = "/api/v1/namespaces/NAMESPACE/services";
    const cases = fc.sample(fc.tuple(newSpec, changedSpec), { numRuns: runs, seed });
    for (const [index, [first, second]] of cases.entries()) {
      const body = { metadata: { name: `s${index}` }, spec: first };
      const { theirs, ours, made } = await compare(asked, "POST", path, {
        theirs: body,
        ours: body,
      });
      if (!made) continue;
      const changed = (service: Thing) => ({
        ...service,
        spec: { ...service.spec, ...said(second) },
      });
      const bodies = { theirs: changed(theirs), ours: changed(ours) };
      await compare(asked, "PUT", `${path}/s${index}`, bodies);
      await Promise.all([
        asked.theirs("DELETE", `${path}/s${index}`),
        asked.ours("DELETE", `${path}/s${index}`),
      ]);
    }
  }, 120_000);

  test.each(Object.keys(others))(
    "to a new object at %s is the API server's",
    async (path) => {
      const namespace = await sameNamespace();
      const asked = both(namespace);
      const cases = fc.sample(others[path] ?? fc.constant({}), { numRuns: runs, seed });
      for (const fields of cases) {
        const text = JSON.stringify({ metadata: { name: "a" }, ...fields });
        const body = text.replaceAll("NAMESPACE", namespace);
        await compare(asked, "POST", `${path}?dryRun=All`, { theirs: body, ours: body });
      }
    },
    120_000,
  );

  test("to metadata is the API server's", async () => {
    const asked = both(await sameNamespace());
    for (const given of fc.sample(metadata, { numRuns: runs, seed })) {
      for (const plural of ["configmaps", "serviceaccounts"]) {
        const path = `/api/v1/namespaces/NAMESPACE/${plural}?dryRun=All`;
        await compare(asked, "POST", path, {
          theirs: { metadata: given },
          ours: { metadata: given },
        });
      }
    }
  }, 120_000);
});

/** Without what is not said: JSON leaves that out only when it is sent. */
function said(fields: object): object {
  return JSON.parse(JSON.stringify(fields)) as object;
}

interface Verdict {
  status: number;
  reason?: string;
  causes?: string[];
  object?: unknown;
}

/** What both must agree on: what became of the object, or which fields are wrong. */
function verdict(status: number, body: Thing | Status): Verdict {
  if ("details" in body || body.kind === "Status") {
    const { reason, details } = body as Status;
    const causes = (details?.causes ?? []).map((cause) => `${cause.field} ${cause.reason}`);
    return { status, reason, causes: [...new Set(causes)].sort() };
  }
  const { metadata: _, ...rest } = body as Thing;
  return { status, object: comparable(rest) };
}

/** Addresses and ports are given out as luck has it; and what is empty is often the same to Go as what is not there. */
function comparable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (name, inner) => {
    if (name === "clusterIP") return inner === "None" ? inner : "given";
    if (name === "clusterIPs")
      return (inner as string[]).map((ip) => (ip === "None" ? ip : "given"));
    if (inner === "" || inner === 0) return undefined;
    if (name === "nodePort" || name === "healthCheckNodePort") return "given";
    return inner;
  });
}
