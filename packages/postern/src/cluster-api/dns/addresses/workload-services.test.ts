import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import { expect, test } from "vitest";
import { json, serve, serveTls } from "../../../../../../test/loopback.ts";
import { KubeClient } from "../../../kube/client.ts";
import { namesOf, workloadServices } from "./workload-services.ts";

const zone = "wc1.example.com";

/** A Service that asks for a name, where it differs. */
function asking(
  hostname: string,
  over: { ip?: string; type?: string; label?: string; managed?: string } = {},
): Service {
  const { ip, type = "LoadBalancer", label = "ingress-nginx", managed = "managed" } = over;
  return {
    metadata: {
      name: hostname,
      labels: { "app.kubernetes.io/name": label },
      annotations: {
        "giantswarm.io/external-dns": managed,
        "external-dns.alpha.kubernetes.io/hostname": hostname,
      },
    },
    spec: { type },
    status: { loadBalancer: { ingress: ip === undefined ? [] : [{ ip }] } },
  };
}

const ip = "20.0.0.1";
const ofIngress = (...ingress: Service[]) => namesOf({ ingress, gateway: [] }, zone);
const ofGateway = (...gateway: Service[]) => namesOf({ ingress: [], gateway }, zone);
const named = (name: string, address = ip) => ({ name, addresses: [address] });

test.each([
  ["of ingress-nginx", {}],
  ["of nginx-ingress-controller", { label: "nginx-ingress-controller" }],
])("an ingress %s has its name, without the zone", (_what, over) => {
  expect(ofIngress(asking("ingress.wc1.example.com", { ip, ...over }))).toEqual([named("ingress")]);
});

test.each([
  ["of another label", { label: "other" }],
  ["that is not managed", { managed: "no" }],
  ["that is no LoadBalancer", { type: "ClusterIP" }],
])("a Service %s asks for nothing", (_what, over) => {
  expect(ofIngress(asking("ingress.wc1.example.com", { ip, ...over }))).toEqual([]);
});

test("of several ingresses the first one counts", () => {
  const [one, two] = ["one", "two"].map((name) => asking(`${name}.wc1.example.com`, { ip }));
  expect(ofIngress(one as Service, two as Service)).toEqual([named("one")]);
});

test("every gateway has its name, whatever its label", () => {
  const one = asking("gateway.wc1.example.com", { ip, label: "envoy" });
  const two = asking("internal.wc1.example.com", { ip: "20.0.0.2" });
  expect(ofGateway(one, two)).toEqual([named("gateway"), named("internal", "20.0.0.2")]);
});

test("what has no address yet asks for nothing yet", () => {
  const waiting = asking("ingress.wc1.example.com");
  const gateway = [asking("gateway.wc1.example.com"), asking("edge.wc1.example.com", { ip })];
  expect(namesOf({ ingress: [waiting], gateway }, zone)).toEqual([named("edge")]);
});

test("a name of another domain is kept whole", () => {
  expect(ofGateway(asking("www.example.net", { ip }))).toEqual([named("www.example.net")]);
});

test("a Service may ask for several names, and for each only once", () => {
  const hostnames = "a.wc1.example.com, b.wc1.example.com.,A.wc1.example.com";
  expect(ofGateway(asking(hostnames, { ip }))).toEqual([named("a"), named("b")]);
});

test("a wildcard below a name of the zone is a name, and that of the zone itself is not", () => {
  const hostnames =
    "*.apps.wc1.example.com,*.wc1.example.com,a.*.wc1.example.com,*.*.wc1.example.com";
  expect(ofGateway(asking(hostnames, { ip }))).toEqual([named("*.apps")]);
});

test("what cannot be a name, and what is no address, is left out", () => {
  expect(ofGateway(asking("*.wc1.example.com", { ip }), asking("a b", { ip }))).toEqual([]);
  expect(ofGateway(asking("a.wc1.example.com", { ip: "<nil>" }))).toEqual([]);
});

test("attack: a list of Services without an end is read for some pages only", async () => {
  const workload = await serveTls((_request, response) =>
    json(response, 200, { metadata: { continue: "more" }, items: [{ metadata: { name: "s" } }] }),
  );
  const value = encoded({
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [
      {
        name: "c",
        cluster: { server: workload.url, "certificate-authority-data": encoded(workload.ca) },
      },
    ],
    users: [{ name: "u", user: { token: "t" } }],
    "current-context": "c",
  });
  const { url } = await serve((_request, response) => json(response, 200, { data: { value } }));
  const kube = new KubeClient({
    server: new URL(url),
    namespace: "default",
    source: "test",
    proof: async () => ({}),
  });
  const cluster = { metadata: { namespace: "a", name: "b" } } as CapiCluster;
  const found = await workloadServices(cluster, kube, new AbortController().signal);
  kube.close();
  expect(found?.gateway).toHaveLength(20);
  expect(workload.requests).toHaveLength(40);
});

const encoded = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");
