import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { json, serve } from "../loopback.ts";
import { describeOnCluster } from "../setup/cluster.ts";
import { rejectsOnSignal } from "../setup/rejecting.ts";
import { installKinds } from "./kinds/install.ts";

const bin = fileURLToPath(new URL("../../packages/postern/bin/postern.js", import.meta.url));

/** Where the load balancers of the management cluster are. */
const management = {
  AZURE_SUBSCRIPTION_ID: "11111111-1111-4111-8111-111111111111",
  AZURE_RESOURCE_GROUP: "management",
};

describeOnCluster("postern operator", (cluster) => {
  beforeAll(() => installKinds(cluster), 60_000);

  async function freePort(): Promise<number> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    server.close();
    return port;
  }

  async function start(flags: string[], env: Record<string, string> = management) {
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
    const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
    const child = spawn(process.execPath, args, {
      env: { ...Object.fromEntries(clean), ...env },
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
    const lease = async (namespace: string, name = "postern-operator") =>
      (
        await cluster.request<{ spec?: { holderIdentity?: string } }>(
          "GET",
          `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`,
        )
      ).body.spec?.holderIdentity;
    return { child, page, lease, port, log: () => log };
  }

  const exitOf = async (child: ChildProcess) =>
    child.exitCode === null ? (await once(child, "exit"))[0] : child.exitCode;

  test("leads, is ready when Azure answers, and lets go of its Lease when it is told to stop", async () => {
    const namespace = await cluster.namespace();
    const azure = await serve((request, response) => {
      if (request.url.startsWith("/metadata/identity"))
        json(response, 200, {
          access_token: "t",
          expires_in: "3600",
          expires_on: String(Math.floor(Date.now() / 1000) + 3600),
          token_type: "Bearer",
          resource: "x",
        });
      else json(response, 200, { portalEndpoint: "x" });
    });
    const { child, page, lease, log } = await start(
      ["--namespace", namespace, "--leader-elect-resource-namespace", namespace],
      {
        ...management,
        AZURE_PLS_CLIENT_ID: "11111111-2222-3333-4444-555555555555",
        AZURE_POD_IDENTITY_AUTHORITY_HOST: azure.url,
        AZURE_RESOURCE_MANAGER_ENDPOINT: azure.url,
      },
    );
    await expect.poll(() => lease(namespace), { timeout: 20_000 }).toBeTruthy();
    await expect
      .poll(async () => (await page("/readyz?verbose")).text)
      .toMatch(
        /\[\+\]leader ok: leading\n\[\+\]azure-token ok: obtained\n\[\+\]azure-resource-manager ok: 127\.0\.0\.1:\d+\nreadyz check passed\n/,
      );
    const { text: health } = await page("/healthz?verbose");
    expect(health).toMatch(/^\[\+\]event-loop ok\n/);
    expect(health).toMatch(/\nhealthz check passed\n$/);
    const { text } = await page("/metrics");
    expect(text).toContain('leader_election_master_status{name="postern-operator"} 1');
    expect(text).toMatch(/rest_client_requests_total\{code="20\d",method="(POST|PUT)"/);
    expect(text).toContain("postern_azure_requests_total");

    child.kill("SIGTERM");
    expect(await exitOf(child)).toBe(0);
    expect(await lease(namespace)).toBe("");
    expect(log()).toContain('"msg":"stopped"');
  });

  test("goes on where a promise is rejected that nobody awaits, logs it and counts it", async () => {
    const namespace = await cluster.namespace();
    const flags = ["--namespace", namespace, "--leader-elect-resource-namespace", namespace];
    const { child, page, lease, log } = await start(flags, { ...management, ...rejectsOnSignal });
    await expect.poll(() => lease(namespace), { timeout: 20_000 }).toBeTruthy();
    child.kill("SIGUSR2");
    const counted = async () => (await page("/metrics")).text;
    await expect.poll(counted).toContain('unhandled_rejections_total{controller="unknown"} 1\n');
    expect(log()).toMatch(/"level":"error".*nobody awaits this.*"msg":"unhandled rejection"/);
    child.kill("SIGTERM");
    expect(await exitOf(child)).toBe(0);
  });

  test("without a credential for Azure it lives, is not ready, and says what is missing", async () => {
    const namespace = await cluster.namespace();
    const { page } = await start([
      "--namespace",
      namespace,
      "--leader-elect-resource-namespace",
      namespace,
    ]);
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

  test("a token that the API server refuses is reported on the readiness page and in the log", async () => {
    const path = join(await mkdtemp(join(tmpdir(), "postern-")), "config");
    onTestFinished(() => rm(dirname(path), { recursive: true }));
    const good = await readFile(cluster.kubeconfig, "utf8");
    await writeFile(path, good.replaceAll(cluster.tokens.admin, "not-a-token"));
    const { page, log, child } = await start(["--kubeconfig", path]);
    const ready = () =>
      page("/readyz").then(
        ({ text }) => text,
        () => "",
      );
    await expect
      .poll(ready)
      .toMatch(/\[-\]cluster failed: .*renew the credentials of this kubeconfig/);
    expect(log()).toContain('"msg":"cluster not reached"');
    child.kill("SIGTERM");
    expect(await exitOf(child)).toBe(0);
  });

  test("an API server that answers later is asked again, and then the controllers begin", async () => {
    const namespace = await cluster.namespace();
    const folder = await mkdtemp(join(tmpdir(), "postern-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [path, file] = [join(folder, "config"), join(folder, "token")];
    const config = JSON.parse(await readFile(cluster.kubeconfig, "utf8"));
    await writeFile(
      path,
      JSON.stringify({ ...config, users: [{ name: "admin", user: { tokenFile: file } }] }),
    );
    await writeFile(file, "not-a-token");
    const { log, lease } = await start([
      ...[
        "--kubeconfig",
        path,
        "--namespace",
        namespace,
        "--leader-elect-resource-namespace",
        namespace,
      ],
    ]);
    await expect.poll(log).toContain("cluster not reached");
    await writeFile(file, cluster.tokens.admin);
    await expect.poll(() => lease(namespace), { timeout: 25_000 }).toBeTruthy();
    expect(log()).toContain('"msg":"started"');
  });

  test("serves one control plane without a management group, by a Lease in its namespace", async () => {
    const namespace = await cluster.namespace();
    const role = ["--role", "control-plane", "--namespace", namespace];
    const { lease, log } = await start(role, {});
    await expect
      .poll(() => lease(namespace, "postern-control-plane"), { timeout: 20_000 })
      .toBeTruthy();
    expect(log()).toMatch(/"role":"control-plane".*"controllers":2/);
  });

  test("serves hosted clusters and those of Cluster API in one process", async () => {
    const namespace = await cluster.namespace();
    const { page, log, lease } = await start([
      ...["--leader-elect-resource-namespace", namespace, "--management-cluster-name", "mc"],
      ...["--management-cluster-namespace", namespace],
    ]);
    await expect.poll(() => lease(namespace), { timeout: 20_000 }).toBeTruthy();
    const ready = () => page("/readyz?verbose").then(({ text }) => text);
    await expect.poll(ready).toMatch(/\[\+\]cache-hostedcontrolplanes ok: \d+ objects/);
    await expect.poll(ready).toMatch(/\[\+\]cache-azureclusters ok: \d+ objects/);
    // Four of hosted clusters, and all of Cluster API but the names in DNS, for which no domain is given.
    expect(log()).toMatch(/"role":"all".*"controllers":10/);
  });

  test.each<[string, string[], Record<string, string>, RegExp]>([
    [
      "no group for the management side",
      [],
      {},
      /set AZURE_SUBSCRIPTION_ID to its subscription and AZURE_RESOURCE_GROUP to its name, or run with --role control-plane/,
    ],
    [
      "no name of that group",
      ["--role", "management"],
      { AZURE_SUBSCRIPTION_ID: management.AZURE_SUBSCRIPTION_ID },
      /: set AZURE_RESOURCE_GROUP to its name, or/,
    ],
    [
      "no namespace for one control plane",
      ["--role", "control-plane"],
      {},
      /--role control-plane serves one control plane: give its namespace with --namespace/,
    ],
    [
      "a role that is none",
      ["--role", "both"],
      {},
      /Allowed choices are all, management, control-plane/,
    ],
    ["a prefix that is none", ["--nat-prefix-length", "30"], {}, /use a whole number from 8 to 29/],
  ])("with %s it ends at once and says what to give", async (_what, flags, env, line) => {
    const { child, log } = await start(flags, env);
    expect(await exitOf(child)).toBe(64);
    expect(log()).toMatch(line);
    expect(log().trim().split("\n")).toHaveLength(1);
  });

  test("takes the subscription of its credential file where the environment names none", async () => {
    const folder = await mkdtemp(join(tmpdir(), "postern-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "credentials");
    const ids = { subscriptionId: management.AZURE_SUBSCRIPTION_ID, tenantId: "t", clientId: "c" };
    await writeFile(file, JSON.stringify({ ...ids, clientSecret: "s" }));
    const namespace = await cluster.namespace();
    const { log } = await start(
      [
        "--role",
        "management",
        "--namespace",
        namespace,
        "--leader-elect-resource-namespace",
        namespace,
      ],
      { AZURE_RESOURCE_GROUP: "management", AZURE_CREDENTIALS_FILE: file },
    );
    await expect.poll(log, { timeout: 20_000 }).toContain('"msg":"started"');
  });

  test("a port that is taken is reported in one line", async () => {
    const taken = await serve((_request, response) => response.end());
    const port = new URL(taken.url).port;
    const { child, log } = await start(["--listen", `127.0.0.1:${port}`]);
    expect(await exitOf(child)).toBe(1);
    expect(log()).toBe(
      `postern: listening on 127.0.0.1:${port} failed. EADDRINUSE. Choose another address with --listen, or stop the process that uses this one.\n`,
    );
  });
});
