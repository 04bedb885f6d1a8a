import type { Service } from "@postern/core/kinds/core.ts";
import { describe, expect, test } from "vitest";
import { observed } from "../../../../../../test/hosted/azure-model.ts";
import { externalDnsAnnotation } from "../../hostnames.ts";
import type { Observed } from "../observed.ts";
import { externalLabel, planServices } from "./services.ts";

const world = (
  over: Partial<NonNullable<Observed["cluster"]>> = {},
  services: Service[] = [],
): Observed =>
  observed({
    cluster: {
      ...observed().cluster,
      hostnames: { APIServer: "api.example.com", OAuthServer: "oauth.example.com" },
      ...over,
    } as NonNullable<Observed["cluster"]>,
    services,
  });

const made = (
  name: string,
  externalName = "192.168.0.4",
  hostname = "api.example.com",
): Service => ({
  metadata: {
    namespace: "clusters-one",
    name,
    labels: { [externalLabel]: "true" },
    annotations: { [externalDnsAnnotation]: hostname },
  },
  spec: { type: "ExternalName", externalName },
});

const both = [
  made("kube-apiserver-private-external"),
  made("oauth-private-external", "192.168.0.4", "oauth.example.com"),
];

const steps = (now: Observed, addresses: string[] | undefined = ["192.168.0.4"]) =>
  planServices(now, addresses).steps.map((step) => step.do);

describe("Services for external-dns (§6.6)", () => {
  test("are made for a private cluster, with the endpoint's address as their name", () => {
    const { steps: planned } = planServices(world(), ["192.168.0.4"]);
    expect(planned).toHaveLength(2);
    expect(planned[0]).toMatchObject({
      service: {
        metadata: {
          name: "kube-apiserver-private-external",
          labels: { [externalLabel]: "true" },
          annotations: { [externalDnsAnnotation]: "api.example.com" },
          ownerReferences: [{ kind: "HostedControlPlane", name: "one", uid: "plane-uid" }],
        },
        spec: { type: "ExternalName", externalName: "192.168.0.4" },
      },
    });
  });

  test("point to an IPv6 address by the annotation that external-dns reads first", () => {
    const { steps: planned } = planServices(world(), ["fd00::4"]);
    expect(planned[0]).toMatchObject({
      service: {
        metadata: { annotations: { "external-dns.alpha.kubernetes.io/target": "fd00::4" } },
        spec: { externalName: "api.example.com" },
      },
    });
    const services = planned.map((step) => (step as { service: Service }).service);
    expect(steps(world({}, services), ["fd00::4"])).toEqual([]);
    expect(steps(world({}, services))).toEqual(["update Service", "update Service"]);
  });

  test("keep the owners that others have given them", () => {
    const other = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "other-uid" };
    const found = made("kube-apiserver-private-external", "10.0.0.1");
    found.metadata.ownerReferences = [other];
    const [step] = planServices(world({}, [found, both[1] as Service]), ["192.168.0.4"]).steps;
    expect((step as { service: Service }).service.metadata.ownerReferences).toMatchObject([
      other,
      { kind: "HostedControlPlane", uid: "plane-uid" },
    ]);
  });

  test.each([
    ["are left as they are when they are right", world({}, both), []],
    [
      "follow the address",
      world({}, [made("kube-apiserver-private-external", "10.0.0.1"), both[1] as Service]),
      ["update Service"],
    ],
    [
      "follow the hostname",
      world({ hostnames: { APIServer: "new.example.com" } }, [both[0] as Service]),
      ["update Service"],
    ],
    [
      "go when the cluster is public too",
      world({ public: true }, both),
      ["delete Service", "delete Service"],
    ],
    ["are not made where nothing has a hostname", world({ hostnames: {} }), []],
    [
      "are neither made nor changed for a hostname that is withheld",
      world({ withheld: { "api.example.com": "why", "oauth.example.com": "why" } }, [
        made("kube-apiserver-private-external", "10.0.0.1", "old.example.com"),
      ]),
      [],
    ],
    [
      "are the router's alone",
      { ...world(), object: { ...world().object, name: "oauth-openshift" } },
      [],
    ],
  ])("%s", (_what, now, planned) => {
    expect(steps(now)).toEqual(planned);
  });

  test("wait for the address", () => {
    expect(planServices(world(), undefined).steps).toEqual([]);
  });

  test("of others are neither changed nor deleted, and are reported", () => {
    const foreign: Service = {
      metadata: { namespace: "clusters-one", name: "oauth-private-external" },
      spec: {},
    };
    expect(steps(world({ public: true }, [foreign]))).toEqual([]);
    const part = planServices(world({}, [foreign, both[0] as Service]), ["192.168.0.4"]);
    expect(part.steps).toEqual([]);
    expect(part.problems).toMatchObject([{ reason: "OwnedByAnother" }]);
  });
});
