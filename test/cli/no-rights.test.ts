import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runPostern } from "./commands.ts";

const folder = mkdtempSync(join(tmpdir(), "postern-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Azure that nobody answers for: what is asked here never comes so far. */
const azure = {
  AZURE_TENANT_ID: "cccccccc-0000-4000-8000-000000000000",
  AZURE_CLIENT_ID: "eeeeeeee-0000-4000-8000-000000000001",
  AZURE_CLIENT_SECRET: "nothing",
  AZURE_SUBSCRIPTION_ID: "",
};

function kubeconfigOf(server: string): string {
  const file = join(folder, `${server.replace(/\W/g, "")}.kubeconfig`);
  const config = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: { token: "t" } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}
const run = (kubeconfig: string, ...args: string[]) =>
  runPostern(args, { ...azure, KUBECONFIG: kubeconfig }, folder);

describe("a cluster that refuses everything", () => {
  const server = createServer((_request, response) => {
    const message = 'it is forbidden: User "system:anonymous" cannot list this';
    response.writeHead(403, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        kind: "Status",
        status: "Failure",
        reason: "Forbidden",
        code: 403,
        message,
      }),
    );
  });
  let kubeconfig = "";
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    kubeconfig = kubeconfigOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterAll(() => void server.close());

  test.each([
    [["plan"]],
    [["plan", "one"]],
    [["tree", "one"]],
    [["orphans"]],
    [["adopt", "one"]],
    [["approve", "one"]],
    [["reject", "one"]],
  ])(
    "%j says that it may not, in one line and with exit code 1",
    async (args) => {
      const { exitCode, stdout, stderr } = await run(kubeconfig, ...args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(/^postern: .*(forbidden|may not|cannot list).*\n$/i);
    },
    60_000,
  );

  test.each(["approve", "reject"])(
    "%s does not say that no connection is pending",
    async (command) => {
      const { exitCode, stdout } = await run(kubeconfig, command);
      expect(exitCode).toBe(3);
      expect(stdout).toContain("Not read: hostedclusters: ");
      expect(stdout).not.toMatch(/^No pending connections\.$/m);
    },
    60_000,
  );

  test("the tree does not say that there are no clusters", async () => {
    const { exitCode, stdout } = await run(kubeconfig, "tree");
    expect(exitCode).toBe(3);
    expect(stdout).toContain("Not read: hostedclusters: ");
    expect(stdout).not.toContain("No clusters found");
  }, 60_000);
});

describe("no cluster", () => {
  test.each([
    ["a kubeconfig that is not there", () => join(folder, "nothing"), "ENOENT"],
    ["a server that does not answer", () => kubeconfigOf("http://127.0.0.1:9"), "127.0.0.1:9"],
  ])(
    "%s is told in one line with exit code 1",
    async (_what, kubeconfig, says) => {
      const { exitCode, stdout, stderr } = await run(kubeconfig(), "tree");
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toContain(says);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    },
    60_000,
  );
});
