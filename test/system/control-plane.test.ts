import { readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Binaries, findOrBuild } from "../setup/binaries.ts";
import { describeOnCluster } from "../setup/cluster.ts";
import { startControlPlane } from "../setup/control-plane.ts";
import { testOnReal } from "../setup/differences.ts";
import { send } from "../setup/request.ts";

describeOnCluster("the API server of the tests", (cluster) => {
  test("says of which version it is", async () => {
    const { status, body } = await cluster.request<{ gitVersion: string }>("GET", "/version");
    expect(status).toBe(200);
    expect(body.gitVersion).toBe(cluster.version);
    expect(cluster.version).toMatch(/^v1\.\d+\.\d+/);
  });

  test("knows nobody without a token", async () => {
    const { status } = await cluster.request("GET", "/api/v1/namespaces", undefined, { token: "" });
    expect(status).toBe(401);
  });

  testOnReal("no-rbac", "refuses what no role allows", async () => {
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

describeOnCluster("a control plane of one's own", () => {
  async function binaries(): Promise<Binaries> {
    const found = await findOrBuild(() => undefined);
    if ("missing" in found) throw new Error(found.missing);
    return found.binaries;
  }

  testOnReal(
    "no-programs",
    "keeps its data and its address when the API server is restarted",
    async () => {
      const plane = await startControlPlane(await binaries());
      onTestFinished(plane.stop);
      const { tokens } = plane.address;
      const path = "/api/v1/namespaces/default/configmaps";
      const options = { token: tokens.admin };
      await send(plane.address, "POST", path, { metadata: { name: "kept" } }, options);

      const before = plane.pids();
      await plane.restartApiserver("SIGTERM");

      const after = plane.pids();
      expect(after.etcd).toBe(before.etcd);
      expect(after.apiserver).not.toBe(before.apiserver);
      const { status } = await send(plane.address, "GET", `${path}/kept`, undefined, options);
      expect(status).toBe(200);
    },
  );

  testOnReal(
    "no-programs",
    "that cannot start says why, with the end of its log, and leaves nothing running",
    async () => {
      const started = startControlPlane(await binaries(), { flags: ["--no-such-flag"] });
      const error = await started.catch((error: Error) => error);
      if (!(error instanceof Error)) throw new Error("it started");
      expect(error.message).toContain("kube-apiserver ended\n");
      expect(error.message).toContain("unknown flag: --no-such-flag");
      const log = /--- (.*)$/m.exec(error.message)?.[1] ?? "";
      onTestFinished(() => rm(dirname(log), { recursive: true }));
      expect(await readFile(log, "utf8")).toContain("unknown flag");
    },
  );
});
