import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { realClock } from "@postern/core/clock.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfigText } from "postern/kube/credentials.ts";
import { Journal } from "postern/kube/journal.ts";
import { makeLog } from "postern/kube/log.ts";
import { Metrics } from "postern/kube/metrics.ts";
import { startPages } from "postern/operator/pages.ts";
import { serveDashboard } from "postern/server/dashboard.ts";
import { expect, onTestFinished } from "vitest";
import { describeOnCluster } from "../setup/cluster.ts";
import { testOnReal } from "../setup/differences.ts";
import { bindRole, refusedForGood, serviceAccount, untilMay } from "./manifests.ts";
import { UsedPermissions } from "./unused-permissions.ts";

const elsewhere = { host: "::ffff:127.0.0.1", port: 0 };

describeOnCluster("who reads the operator's pages", (cluster) => {
  const used = new UsedPermissions();

  /** Pages and dashboard of an operator that may do nothing but review tokens, and tokens of two service accounts. */
  async function start() {
    const namespace = await cluster.namespace();
    const user = `system:serviceaccount:${namespace}:operator`;
    used.record(() => cluster, { "token-review": (entry) => entry.user.username === user });
    const [operator, reader, stranger] = await Promise.all(
      ["operator", "reader", "stranger"].map((name) => serviceAccount(cluster, namespace, name)),
    );
    await bindRole(cluster, "token-review", {
      kind: "ServiceAccount",
      namespace,
      name: "operator",
    });
    const group = "authorization.k8s.io";
    await untilMay(cluster, user, { group, resource: "subjectaccessreviews", verb: "create" });
    const kubeconfig = await readFile(cluster.kubeconfig, "utf8");
    const connection = await fromKubeconfigText(
      kubeconfig.replaceAll(cluster.tokens.admin, operator ?? ""),
      cluster.kubeconfig,
    );
    const client = new KubeClient(connection);
    // As in a replica that does not lead.
    client.guard(() => false);
    const lines: string[] = [];
    const log = makeLog({ write: (line) => lines.push(line) });
    const none = () => [];
    const pages = await startPages(
      { listen: { host: "127.0.0.1", port: 0 }, metrics: elsewhere, dashboard: elsewhere },
      { client, log, clock: realClock, registry: new Metrics().registry, alive: none, ready: none },
    );
    const dashboard = await serveDashboard({
      listen: elsewhere,
      protection: pages.protectionOf(elsewhere),
      mode: "operator",
      version: "0",
      log,
      source: {
        kube: () => client,
        runtime: () => undefined,
        journal: () => new Journal(),
        budgets: () => [],
        gather: () => Promise.reject(new Error("nobody looks")),
      },
    });
    onTestFinished(async () => {
      await dashboard.close();
      await pages.close();
      client.close();
    });
    const allow = async (name: string, path: string) => {
      const rbac = "/apis/rbac.authorization.k8s.io/v1";
      const role = `${namespace}-${name}`;
      const rules = [{ nonResourceURLs: [path], verbs: ["get"] }];
      await cluster.request("POST", `${rbac}/clusterroles`, { metadata: { name: role }, rules });
      await cluster.request("POST", `${rbac}/clusterrolebindings`, {
        metadata: { name: role },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
        subjects: [{ kind: "ServiceAccount", namespace, name }],
      });
      onTestFinished(async () => {
        for (const kind of ["clusterrolebindings", "clusterroles"])
          await cluster.request("DELETE", `${rbac}/${kind}/${role}`);
      });
    };
    return {
      metrics: `${pages.metricsUrl}/metrics`,
      dashboard: dashboard.url,
      reader: reader ?? "",
      stranger: stranger ?? "",
      allow,
      lines,
      user,
    };
  }

  testOnReal(
    "no-rbac",
    "metrics are for tokens of users whom RBAC lets get /metrics",
    async () => {
      const { metrics, reader, stranger, allow, lines, user } = await start();
      await allow("reader", "/metrics");
      // The authorizer knows a new role a moment later, and a refusal counts for ten seconds.
      await expect
        .poll(() => status(metrics, reader), { timeout: 30_000, interval: 500 })
        .toBe(200);
      expect(await status(metrics, stranger)).toBe(403);
      expect(await status(metrics, `${reader}x`)).toBe(401);
      expect(await status(metrics, undefined)).toBe(401);
      expect(lines.join("")).not.toContain(reader.slice(-40));
      expect(await refusedForGood(cluster, user)).toEqual([]);
    },
    60_000,
  );

  testOnReal(
    "no-rbac",
    "a user whom RBAC lets read the API server's own paths does not read the dashboard",
    async () => {
      const { dashboard, reader, stranger, allow } = await start();
      const { status: own } = await cluster.request("GET", "/api", undefined, { token: stranger });
      expect(own).toBe(200);
      for (const path of ["/", "/api/about", "/api/overview", "/api/stream"])
        expect([path, await status(dashboard + path, stranger)]).toEqual([path, 403]);
      await allow("reader", "/postern/dashboard");
      const about = () => status(`${dashboard}/api/about`, reader);
      await expect.poll(about, { timeout: 30_000, interval: 500 }).toBe(200);
      expect(await status(`${dashboard}/api/about`, undefined)).toBe(401);
    },
    60_000,
  );

  testOnReal("no-rbac", "postern-token-review has nothing that no page needs", async () => {
    expect(used.unused("token-review")).toEqual([]);
  });
});

function status(url: string, token: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const asked = request(url, { rejectUnauthorized: false, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on("error", reject);
    asked.end();
  });
}
