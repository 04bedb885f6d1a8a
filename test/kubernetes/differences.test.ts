import { connect } from "node:tls";
import { expect } from "vitest";
import { differs } from "../setup/differences.ts";
import { configMaps, describeApi } from "./api.ts";
import { crdOf, installWidgets, newWidgets, served } from "./widgets.ts";

// Each of these holds on the real kube-apiserver and must not on the embedded API: the page
// docs/reference/local-kubernetes.md says how it differs.
describeApi("the real kube-apiserver", (api) => {
  const statusOf = async (path: string) => (await api.request("GET", path)).status;

  differs("no-rbac", "refuses what no role allows", async () => {
    const token = api.tokens.alice;
    const { status } = await api.request("GET", "/api/v1/secrets", undefined, { token });
    expect(status).toBe(403);
  });

  differs("no-impersonation", "lets an admin ask as somebody else", async () => {
    const me = await api.ok<{ status: { userInfo: { username: string } } }>(
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      { headers: { "impersonate-user": "carol" } },
    );
    expect(me.status.userInfo.username).toBe("carol");
  });

  differs("no-aggregation", "can be extended by servers of others", async () => {
    expect(await statusOf("/apis/apiregistration.k8s.io/v1/apiservices")).toBe(200);
  });

  differs("no-admission", "takes webhooks and policies that judge what is written", async () => {
    const group = "/apis/admissionregistration.k8s.io/v1";
    expect(await statusOf(`${group}/validatingwebhookconfigurations`)).toBe(200);
    expect(await statusOf(`${group}/validatingadmissionpolicies`)).toBe(200);
  });

  differs("no-workloads", "has Deployments, Jobs and what else runs Pods", async () => {
    for (const path of ["/apis/apps/v1/deployments", "/apis/batch/v1/jobs"])
      expect(await statusOf(path)).toBe(200);
  });

  differs("no-protobuf-answers", "answers in protobuf to those who accept it", async () => {
    const accept = "application/vnd.kubernetes.protobuf,application/json";
    const path = configMaps(await api.namespace());
    const { headers } = await api.request("GET", path, undefined, { accept });
    expect(headers["content-type"]).toContain("protobuf");
  });

  differs("no-openapi-v2", "describes itself in OpenAPI v2 too", async () => {
    expect(await statusOf("/openapi/v2")).toBe(200);
  });

  differs("no-metrics", "shows its metrics", async () => {
    expect(await statusOf("/metrics")).toBe(200);
  });

  differs("no-watch-paths", "has the old paths of watches", async () => {
    const watch = await api.watch(
      `/api/v1/watch/namespaces/${await api.namespace()}/configmaps?timeoutSeconds=1`,
    );
    expect(watch.status).toBe(200);
  });

  differs("no-scale", "has a scale of a kind whose CRD names one", async () => {
    const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
    const widgets = await installWidgets(api, { version: { subresources: { status: {}, scale } } });
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec: { replicas: 2 } }));
    const found = await api.ok("GET", widgets.path(namespace, "a", "scale"));
    expect(found).toMatchObject({ kind: "Scale", spec: { replicas: 2 } });
  });

  differs("no-cel-cost", "refuses a rule that may cost too much", async () => {
    const spec = {
      type: "object",
      properties: {
        list: {
          type: "array",
          items: { type: "string" },
          "x-kubernetes-validations": [
            { rule: "self.all(a, self.all(b, self.all(c, a + b == c)))" },
          ],
        },
      },
    };
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const answer = await api.refused("POST", path, crdOf(newWidgets(), { spec }));
    expect(answer.message).toContain("estimated rule cost exceeds budget");
  });

  differs("no-http2", "speaks HTTP/2", async () => {
    const { hostname, port } = new URL(api.url);
    const protocol = await new Promise((resolve, reject) => {
      const socket = connect({
        host: hostname,
        port: Number(port),
        ca: api.ca,
        ALPNProtocols: ["h2", "http/1.1"],
      });
      socket.once("error", reject);
      socket.once("secureConnect", () => {
        resolve(socket.alpnProtocol);
        socket.destroy();
      });
    });
    expect(protocol).toBe("h2");
  });

  differs("no-conversion", "asks a webhook for another version of an object", async () => {
    const widgets = newWidgets();
    const crd = crdOf(widgets) as { spec: { versions: object[]; conversion?: object } };
    const url = "https://127.0.0.1:1/convert";
    crd.spec.versions.push({ ...crd.spec.versions[0], name: "v2", storage: false });
    crd.spec.conversion = {
      strategy: "Webhook",
      webhook: { clientConfig: { url }, conversionReviewVersions: ["v1"] },
    };
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await api.ok("POST", path, crd);
    const namespace = await api.namespace();
    await served(api, widgets);
    await api.ok("POST", widgets.path(namespace), widgets.widget("a"));
    const other = widgets.path(namespace, "a").replace("/v1/", "/v2/");
    expect(await api.refused("GET", other)).toMatchObject({ code: 500, status: "Failure" });
  });
});
