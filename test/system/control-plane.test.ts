import { expect, test } from "vitest";
import { describeOnCluster } from "../setup/cluster.ts";

describeOnCluster("the API server of the tests", (cluster) => {
  test("is a real one, of the version that go.mod names", async () => {
    const { status, body } = await cluster.request<{ gitVersion: string }>("GET", "/version");
    expect(status).toBe(200);
    expect(body.gitVersion).toBe(cluster.version);
    expect(cluster.version).toMatch(/^v1\.\d+\.\d+$/);
  });

  test("knows nobody without a token", async () => {
    const { status } = await cluster.request("GET", "/api/v1/namespaces", undefined, { token: "" });
    expect(status).toBe(401);
  });

  test("refuses what no role allows", async () => {
    const token = cluster.tokens.alice;
    const { status } = await cluster.request("GET", "/api/v1/secrets", undefined, { token });
    expect(status).toBe(403);
  });

  test("gives each test a namespace of its own", async () => {
    const [one, other] = [await cluster.namespace(), await cluster.namespace()];
    expect(one).not.toBe(other);
    const { status } = await cluster.request("GET", `/api/v1/namespaces/${one}`);
    expect(status).toBe(200);
  });

  test("writes every answered request into its audit log, once", async () => {
    const namespace = await cluster.namespace();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await cluster.request("POST", path, { metadata: { name: "seen" } });
    await cluster.request("PATCH", `${path}/seen`, { data: { a: "b" } });

    const seen = await cluster.audit((entry) => entry.objectRef?.namespace === namespace);
    const writes = seen.filter((entry) => entry.objectRef?.resource === "configmaps");
    expect(writes.map((entry) => [entry.verb, entry.user.username])).toEqual([
      ["create", "admin"],
      ["patch", "admin"],
    ]);
  });
});
