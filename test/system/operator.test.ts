import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { json, serve } from "../loopback.ts";
import { describeOnCluster } from "../setup/cluster.ts";

const bin = fileURLToPath(new URL("../../bin/postern.js", import.meta.url));

describeOnCluster("postern operator", (cluster) => {
  async function freePort(): Promise<number> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    server.close();
    return port;
  }

  async function start(flags: string[], env: Record<string, string> = {}) {
    const port = await freePort();
    const args = [
      bin,
      "operator",
      "--kubeconfig",
      cluster.kubeconfig,
      "--listen",
      `127.0.0.1:${port}`,
      ...flags,
    ];
    const { AZURE_CLIENT_ID: _, ...clean } = process.env;
    const child = spawn(process.execPath, args, {
      env: { ...clean, ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const page = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, text: await response.text() };
    };
    const lease = async (namespace: string) =>
      (
        await cluster.request<{ spec?: { holderIdentity?: string } }>(
          "GET",
          `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/postern-operator`,
        )
      ).body.spec?.holderIdentity;
    return { child, page, lease, port, log: () => log };
  }

  const exitOf = async (child: ChildProcess) =>
    child.exitCode === null ? (await once(child, "exit"))[0] : child.exitCode;

  test("leads, is ready when Azure answers, and lets go of its Lease when it is told to stop", async () => {
    const namespace = await cluster.namespace();
    const azure = await serve((seen, response) => {
      if (seen.url.startsWith("/metadata/identity"))
        json(response, 200, {
          access_token: "t",
          expires_in: "3600",
          expires_on: String(Math.floor(Date.now() / 1000) + 3600),
          token_type: "Bearer",
          resource: "x",
        });
      else json(response, 200, { portalEndpoint: "x" });
    });
    const { child, page, lease, log } = await start(["--lease-namespace", namespace], {
      AZURE_PLS_CLIENT_ID: "11111111-2222-3333-4444-555555555555",
      AZURE_POD_IDENTITY_AUTHORITY_HOST: azure.url,
      AZURE_RESOURCE_MANAGER_ENDPOINT: azure.url,
    });
    await expect.poll(() => lease(namespace), { timeout: 20_000 }).toBeTruthy();
    await expect
      .poll(async () => (await page("/readyz?verbose")).text)
      .toMatch(
        /\[\+\]leader ok: leading\n\[\+\]azure-token ok: obtained\n\[\+\]azure-resource-manager ok: 127\.0\.0\.1:\d+\nreadyz check passed\n/,
      );
    expect((await page("/healthz?verbose")).text).toBe("[+]event-loop ok\nhealthz check passed\n");
    const { text } = await page("/metrics");
    expect(text).toContain('leader_election_master_status{name="postern-operator"} 1');
    expect(text).toMatch(/rest_client_requests_total\{code="20\d",method="(POST|PUT)"/);
    expect(text).toContain("postern_azure_requests_total");

    child.kill("SIGTERM");
    expect(await exitOf(child)).toBe(0);
    expect(await lease(namespace)).toBe("");
    expect(log()).toContain('"msg":"stopped"');
  });

  test("without a credential for Azure it lives, is not ready, and says what is missing", async () => {
    const namespace = await cluster.namespace();
    const { page } = await start(["--lease-namespace", namespace]);
    await expect
      .poll(
        () =>
          page("/healthz").then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 20_000 },
      )
      .toBe(200);
    const ready = await page("/readyz");
    expect(ready.status).toBe(503);
    expect(ready.text).toMatch(/\[-\]azure-token failed: .*AZURE_CREDENTIALS_FILE/);
  });

  test("a token that the API server refuses is told on the readiness page and in the log", async () => {
    const path = join(await mkdtemp(join(tmpdir(), "postern-")), "config");
    onTestFinished(() => rm(dirname(path), { recursive: true }));
    const good = await readFile(cluster.kubeconfig, "utf8");
    await writeFile(path, good.replaceAll(cluster.tokens.admin, "not-a-token"));
    const { page, log } = await start(["--kubeconfig", path]);
    const leader = () =>
      page("/readyz").then(
        ({ text }) => text,
        () => "",
      );
    await expect
      .poll(leader)
      .toMatch(/\[-\]leader failed: .*renew the credentials of this kubeconfig/);
    expect(log()).toContain('"msg":"lease not reached"');
  });

  test("a port that is taken is told in one line", async () => {
    const taken = await serve((_seen, response) => response.end());
    const port = new URL(taken.url).port;
    const { child, log } = await start(["--listen", `127.0.0.1:${port}`]);
    expect(await exitOf(child)).toBe(1);
    expect(log()).toBe(
      `postern: listening on 127.0.0.1:${port} failed · EADDRINUSE · choose another address with --listen, or end what uses this one\n`,
    );
  });
});
