import { randomInt } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Kubernetes, startKubernetes } from "../../src/local/kubernetes/server.ts";
import { describeOnCluster } from "../setup/cluster.ts";
import { send } from "../setup/request.ts";
import type { Status, Thing } from "./api.ts";

const seed = Number(process.env.POSTERN_VERDICT_SEED ?? randomInt(2 ** 31));
const runs = Number(process.env.POSTERN_VERDICT_RUNS ?? 40);

const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });
const oneOf = (...values: unknown[]) => fc.constantFrom(...values);

const port = fc.record({
  name: maybe(oneOf("a", "b", "Not_a_name", "")),
  port: oneOf(80, 443, 70_000),
  protocol: maybe(oneOf("TCP", "UDP", "ICMP")),
  targetPort: maybe(oneOf(8080, "web", "Web!", 0, "")),
  nodePort: fc.option(oneOf(32_766, 32_767), { nil: undefined, freq: 4 }),
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
  loadBalancerClass: fc.option(oneOf("example.com/lb"), { nil: undefined, freq: 4 }),
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

describeOnCluster(`an answer (POSTERN_VERDICT_SEED=${seed})`, (cluster) => {
  let embedded: Kubernetes;
  beforeAll(async () => {
    embedded = await startKubernetes();
  });
  afterAll(() => embedded.stop());

  const both = (namespace: string) => ({
    theirs: (method: string, path: string, body?: unknown) =>
      cluster.request<Thing | Status>(method, path.replace("NAMESPACE", namespace), body),
    ours: (method: string, path: string, body?: unknown) =>
      send<Thing | Status>(embedded, method, path.replace("NAMESPACE", "default"), body, {
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
      const expected = verdict(theirs.status, theirs.body);
      expect(
        seenLike(expected, verdict(ours.status, ours.body)),
        JSON.stringify(bodies.theirs),
      ).toEqual(expected);
    }
    return { theirs: theirs.body as Thing, ours: ours.body as Thing, made: theirs.status === 201 };
  }

  test("to a new Service, and to one that is changed, is the API server's", async () => {
    const asked = both(await cluster.namespace());
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

  test("to metadata is the API server's", async () => {
    const asked = both(await cluster.namespace());
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
  spec?: unknown;
  known?: unknown;
}

/** What both must agree on: what became of the object, or which fields are wrong. */
function verdict(status: number, body: Thing | Status): Verdict {
  if ("details" in body || body.kind === "Status") {
    const { reason, details } = body as Status;
    const causes = (details?.causes ?? []).map((cause) => `${cause.field} ${cause.reason}`);
    return { status, reason, causes: [...new Set(causes)].sort() };
  }
  const { spec, status: known } = body as Thing;
  return { status, spec: comparable(spec), known };
}

/** The API server gives ports out before it looks at anything else, and where that fails it tells of nothing else. */
function seenLike(theirs: Verdict, ours: Verdict): Verdict {
  const [first, ...more] = theirs.causes ?? [];
  const isAllocation = more.length === 0 && first?.endsWith(".nodePort FieldValueInvalid");
  if (!isAllocation || first === undefined || !ours.causes?.includes(first)) return ours;
  return { ...ours, causes: [first] };
}

/** Addresses and ports are given out as luck has it. */
function comparable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (name, inner) => {
    if (name === "clusterIP") return inner === "None" ? inner : "given";
    if (name === "clusterIPs")
      return (inner as string[]).map((ip) => (ip === "None" ? ip : "given"));
    if (name === "nodePort" || name === "healthCheckNodePort") return "given";
    return inner;
  });
}
