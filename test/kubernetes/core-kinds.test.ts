import { expect, test } from "vitest";
import { describeApi, type List, type Thing } from "./api.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

describeApi("services", (api) => {
  const here = async () => `/api/v1/namespaces/${await api.namespace()}/services`;
  const service = (spec: object, name = "a") => ({ metadata: { name }, spec });

  test("get an address of their own, and what is left out", async () => {
    const path = await here();
    const one = await api.ok("POST", path, service({ ports: [{ port: 80 }] }));
    const other = await api.ok("POST", path, service({ ports: [{ port: 80 }] }, "b"));
    expect(one.spec).toMatchObject({
      type: "ClusterIP",
      sessionAffinity: "None",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      internalTrafficPolicy: "Cluster",
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
    });
    expect(one.spec?.clusterIP).toMatch(/^10\.96\.\d+\.\d+$/);
    expect(one.spec?.clusterIPs).toEqual([one.spec?.clusterIP]);
    expect(other.spec?.clusterIP).not.toBe(one.spec?.clusterIP);
    expect(one.status).toEqual({ loadBalancer: {} });
  });

  test("without a head get none", async () => {
    const made = await api.ok(
      "POST",
      await here(),
      service({ clusterIP: "None", ports: [{ port: 80 }] }),
    );
    expect(made.spec).toMatchObject({ clusterIP: "None", clusterIPs: ["None"] });
  });

  test("of a load balancer get a port on each node", async () => {
    const spec = { type: "LoadBalancer", ports: [{ port: 443, targetPort: 6443 }] };
    const { spec: made = {} } = await api.ok("POST", await here(), service(spec));
    const [port] = made.ports as { nodePort: number; targetPort: number }[];
    expect(port?.targetPort).toBe(6443);
    expect(port?.nodePort).toBeGreaterThanOrEqual(30_000);
    expect(port?.nodePort).toBeLessThanOrEqual(32_767);
    expect(made).toMatchObject({
      allocateLoadBalancerNodePorts: true,
      externalTrafficPolicy: "Cluster",
    });
  });

  test("keep their address when they change", async () => {
    const path = await here();
    const made = await api.ok("POST", path, service({ ports: [{ port: 80 }] }));
    const patched = await api.ok("PATCH", `${path}/a`, { spec: { selector: { app: "x" } } });
    expect(patched.spec?.clusterIP).toBe(made.spec?.clusterIP);
    const put = await api.ok("PUT", `${path}/a`, service({ ports: [{ port: 81 }] }));
    expect(put.spec?.clusterIP).toBe(made.spec?.clusterIP);
  });

  test("cannot take another address", async () => {
    const path = await here();
    await api.ok("POST", path, service({ ports: [{ port: 80 }] }));
    const answer = await api.refused("PATCH", `${path}/a`, {
      spec: { clusterIP: "10.96.200.200" },
    });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
  });

  test.each([
    ["a port that is none", { ports: [{ port: 70_000 }] }, "spec.ports[0].port"],
    ["no port at all", {}, "spec.ports"],
    ["two ports without names", { ports: [{ port: 1 }, { port: 2 }] }, "spec.ports[0].name"],
    ["a type that nobody knows", { type: "Pigeon", ports: [{ port: 1 }] }, "spec.type"],
    [
      "a protocol that nobody knows",
      { ports: [{ port: 1, protocol: "X" }] },
      "spec.ports[0].protocol",
    ],
  ])("with %s are refused", async (_what, spec, field) => {
    const answer = await api.refused("POST", await here(), service(spec));
    expect(answer).toMatchObject({ code: 422, reason: "Invalid", details: { kind: "Service" } });
    expect(answer.details.causes?.map((cause) => cause.field)).toContain(field);
  });

  test("need a name that is a DNS label", async () => {
    const answer = await api.refused(
      "POST",
      await here(),
      service({ ports: [{ port: 1 }] }, "a.b"),
    );
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
  });

  test("of an outside name get no address", async () => {
    const spec = { type: "ExternalName", externalName: "example.com" };
    const made = await api.ok("POST", await here(), service(spec));
    expect(made.spec).not.toHaveProperty("clusterIP");
    expect(made.spec?.externalName).toBe("example.com");
  });
});

describeApi("secrets and config maps", (api) => {
  const secrets = async () => `/api/v1/namespaces/${await api.namespace()}/secrets`;

  test("a Secret takes texts and keeps bytes", async () => {
    const path = await secrets();
    const made = await api.ok("POST", path, {
      metadata: { name: "a" },
      stringData: { word: "pass" },
      data: { other: base64("x"), word: base64("loses") },
    });
    expect(made).toMatchObject({
      type: "Opaque",
      data: { word: base64("pass"), other: base64("x") },
    });
    expect(made).not.toHaveProperty("stringData");
    const patched = await api.ok("PATCH", `${path}/a`, { stringData: { word: "new" } });
    expect(patched.data).toMatchObject({ word: base64("new") });
  });

  test("a Secret refuses what is no base64", async () => {
    const answer = await api.refused("POST", await secrets(), {
      metadata: { name: "a" },
      data: { k: "%%%" },
    });
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest" });
  });

  test("a Secret keeps its type", async () => {
    const path = await secrets();
    await api.ok("POST", path, { metadata: { name: "a" }, type: "example.com/one" });
    const answer = await api.refused("PATCH", `${path}/a`, { type: "example.com/two" });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.details.causes?.[0]?.field).toBe("type");
  });

  test("a Secret of a type needs its keys", async () => {
    const answer = await api.refused("POST", await secrets(), {
      metadata: { name: "a" },
      type: "kubernetes.io/tls",
    });
    expect(answer.details.causes?.map(({ field }) => field).toSorted()).toEqual([
      "data[tls.crt]",
      "data[tls.key]",
    ]);
  });

  test.each([
    ["secrets", { data: { k: base64("1") } }, { data: { k: base64("2") } }],
    ["configmaps", { data: { k: "1" } }, { data: { k: "2" } }],
  ])("%s that are immutable stay as they are", async (plural, first, second) => {
    const path = `/api/v1/namespaces/${await api.namespace()}/${plural}`;
    await api.ok("POST", path, { metadata: { name: "a" }, immutable: true, ...first });
    const answer = await api.refused("PATCH", `${path}/a`, second);
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.message).toContain("field is immutable when `immutable` is set");
  });

  test.each(["secrets", "configmaps"])("%s refuse a key that is no file name", async (plural) => {
    const path = `/api/v1/namespaces/${await api.namespace()}/${plural}`;
    const answer = await api.refused("POST", path, {
      metadata: { name: "a" },
      data: { "a/b": base64("x") },
    });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.details.causes?.[0]?.field).toBe("data[a/b]");
  });

  test("a ConfigMap refuses what is no text", async () => {
    const path = `/api/v1/namespaces/${await api.namespace()}/configmaps`;
    const answer = await api.refused("POST", path, { metadata: { name: "a" }, data: { k: 1 } });
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest" });
  });

  test("a ConfigMap keeps bytes beside texts", async () => {
    const path = `/api/v1/namespaces/${await api.namespace()}/configmaps`;
    const body = { metadata: { name: "a" }, data: { t: "x" }, binaryData: { b: base64("\u0000") } };
    expect(await api.ok("POST", path, body)).toMatchObject({ binaryData: { b: base64("\u0000") } });
  });
});

describeApi("events", (api) => {
  const both = async () => {
    const namespace = await api.namespace();
    return {
      namespace,
      old: `/api/v1/namespaces/${namespace}/events`,
      young: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
    };
  };

  test("that are written in the core group are read in the other", async () => {
    const { namespace, old, young } = await both();
    await api.ok("POST", old, {
      metadata: { name: "a" },
      involvedObject: { apiVersion: "v1", kind: "ConfigMap", name: "c", namespace },
      reason: "Tried",
      message: "it was tried",
      type: "Normal",
      count: 2,
      source: { component: "tester" },
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:00:01Z",
    });
    expect(await api.ok("GET", `${young}/a`)).toMatchObject({
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      regarding: { kind: "ConfigMap", name: "c" },
      reason: "Tried",
      note: "it was tried",
      type: "Normal",
      deprecatedCount: 2,
      deprecatedSource: { component: "tester" },
      deprecatedFirstTimestamp: "2026-01-01T00:00:00Z",
      deprecatedLastTimestamp: "2026-01-01T00:00:01Z",
    });
  });

  test("that are written in their own group are read in the core", async () => {
    const { namespace, old, young } = await both();
    await api.ok("POST", young, {
      metadata: { name: "a" },
      regarding: { apiVersion: "v1", kind: "ConfigMap", name: "c", namespace },
      reason: "Tried",
      note: "it was tried",
      action: "Try",
      type: "Warning",
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "example.com/tester",
      reportingInstance: "tester-1",
      series: { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" },
    });
    expect(await api.ok("GET", `${old}/a`)).toMatchObject({
      apiVersion: "v1",
      involvedObject: { kind: "ConfigMap", name: "c" },
      message: "it was tried",
      action: "Try",
      reportingComponent: "example.com/tester",
      reportingInstance: "tester-1",
      eventTime: "2026-01-01T00:00:00.000000Z",
      series: { count: 2 },
    });
  });

  test("of their own group need a time, a controller, an instance and an action", async () => {
    const { namespace, young } = await both();
    const answer = await api.refused("POST", young, {
      metadata: { name: "a" },
      regarding: { kind: "ConfigMap", name: "c", namespace },
      reason: "Tried",
      type: "Normal",
    });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
  });

  test("are about an object of their own namespace", async () => {
    const { old } = await both();
    const answer = await api.refused("POST", old, {
      metadata: { name: "a" },
      involvedObject: { kind: "ConfigMap", name: "c", namespace: "elsewhere" },
    });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.details.causes?.[0]?.field).toBe("involvedObject.namespace");
  });

  test("are patched by those who count", async () => {
    const { namespace, old, young } = await both();
    await api.ok("POST", old, {
      metadata: { name: "a" },
      involvedObject: { kind: "ConfigMap", name: "c", namespace },
      reason: "Tried",
      type: "Normal",
      count: 1,
    });
    await api.ok("PATCH", `${old}/a`, { count: 5 });
    expect(await api.ok("GET", `${young}/a`)).toMatchObject({ deprecatedCount: 5 });
  });
});

describeApi("leases", (api) => {
  const here = async () =>
    `/apis/coordination.k8s.io/v1/namespaces/${await api.namespace()}/leases`;

  test("keep the time to the microsecond", async () => {
    const spec = {
      holderIdentity: "me",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.123456Z",
      leaseTransitions: 1,
    };
    expect((await api.ok("POST", await here(), { metadata: { name: "a" }, spec })).spec).toEqual(
      spec,
    );
  });

  test("refuse a time that is not to the microsecond", async () => {
    const spec = {
      holderIdentity: "me",
      leaseDurationSeconds: 15,
      renewTime: "2026-01-01T00:00:00.5Z",
    };
    const answer = await api.refused("POST", await here(), { metadata: { name: "a" }, spec });
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest" });
  });

  test("are taken by one of two who try at once", async () => {
    const path = await here();
    const made = await api.ok("POST", path, {
      metadata: { name: "a" },
      spec: { holderIdentity: "" },
    });
    const take = (holderIdentity: string) =>
      api.request("PUT", `${path}/a`, {
        ...made,
        spec: { holderIdentity, leaseDurationSeconds: 15 },
      });
    const answers = await Promise.all([take("one"), take("two")]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  test("of no time are refused", async () => {
    const answer = await api.refused("POST", await here(), {
      metadata: { name: "a" },
      spec: { leaseDurationSeconds: 0 },
    });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.details.causes?.[0]?.field).toBe("spec.leaseDurationSeconds");
  });
});

describeApi("namespaces, nodes and service accounts", (api) => {
  test("a namespace is active, with its name as a label", async () => {
    const name = await api.namespace();
    const made = await api.ok("GET", `/api/v1/namespaces/${name}`);
    expect(made).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": name } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  test.each(["default", "kube-system", "kube-public", "kube-node-lease"])(
    "the namespace %s is there",
    async (name) => {
      await expect
        .poll(async () => (await api.request("GET", `/api/v1/namespaces/${name}`)).status)
        .toBe(200);
    },
  );

  test("a namespace needs a name that is a DNS label", async () => {
    const answer = await api.refused("POST", "/api/v1/namespaces", { metadata: { name: "a.b" } });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
  });

  test("the Service kubernetes is there", async () => {
    await expect
      .poll(async () => {
        const path = "/api/v1/namespaces/default/services/kubernetes";
        return (await api.request<Thing>("GET", path)).body.spec;
      })
      .toMatchObject({ type: "ClusterIP", ports: [{ name: "https", port: 443 }] });
  });

  test("a node keeps its capacity and its addresses", async () => {
    const name = `node-${await api.namespace()}`;
    await api.ok("POST", "/api/v1/nodes", {
      metadata: { name },
      spec: { providerID: "azure:///x" },
    });
    const status = {
      capacity: { cpu: "2", memory: "8Gi" },
      addresses: [{ type: "InternalIP", address: "10.0.0.4" }],
      conditions: [{ type: "Ready", status: "True", reason: "R", message: "m" }],
    };
    const patched = await api.ok("PATCH", `/api/v1/nodes/${name}/status`, { status });
    expect(patched.status).toMatchObject({
      capacity: status.capacity,
      addresses: status.addresses,
      conditions: [{ type: "Ready", status: "True" }],
    });
    expect(patched.spec).toMatchObject({ providerID: "azure:///x" });
    await api.ok("DELETE", `/api/v1/nodes/${name}`);
  });

  test("a service account is a plain object", async () => {
    const namespace = await api.namespace();
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await api.ok("POST", path, { metadata: { name: "robot" } });
    const { items } = await api.ok<List>("GET", path);
    expect(items.map(({ metadata }) => metadata.name)).toContain("robot");
  });
});
