import { describe, expect, test } from "vitest";
import type { Stored } from "../resource.ts";
import { service } from "./service.ts";
import type { Service, ServiceSpec } from "./service-spec.ts";

let count = 0;
function made(spec: object): Stored {
  count++;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: `s${count}`,
      namespace: "a",
      uid: `u${count}`,
      resourceVersion: "",
      creationTimestamp: "",
    },
    spec,
  };
}

function prepared(object: Stored, old?: Stored, others: Stored[] = []): Service {
  const filled = service.strategy?.fill?.(object) as Stored;
  return service.strategy?.prepare?.(filled, old, () => others) as Service;
}

function fieldsWrong(object: Stored, old?: Stored, others: Stored[] = []): string[] {
  const { refused, problems } = service.strategy ?? {};
  const first = refused?.(object, old, () => others) ?? [];
  const causes = first.length > 0 ? first : (problems?.(object, old) ?? []);
  return causes.map(({ field, reason }) => `${field} ${reason}`);
}

const port = { port: 443, protocol: "TCP" };

/** What a client sends that read the object, and changed some of its spec. */
function changed(old: Service, spec: ServiceSpec): Stored {
  return { ...old, spec: { ...old.spec, ...spec } };
}

describe("a Service is completed", () => {
  test("with an address, and what the API fills in", () => {
    const { spec, status } = prepared(made({ ports: [port] }));
    expect(spec).toEqual({
      type: "ClusterIP",
      sessionAffinity: "None",
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      clusterIP: "10.96.0.10",
      clusterIPs: ["10.96.0.10"],
      ports: [{ port: 443, protocol: "TCP", targetPort: 443 }],
    });
    expect(status).toEqual({ loadBalancer: {} });
  });

  test("with ports on the nodes where its type needs them", () => {
    const { spec } = prepared(made({ type: "LoadBalancer", ports: [port] }));
    expect(spec).toMatchObject({
      allocateLoadBalancerNodePorts: true,
      externalTrafficPolicy: "Cluster",
      ports: [{ nodePort: 30_086 }],
    });
    const without = made({
      type: "LoadBalancer",
      allocateLoadBalancerNodePorts: false,
      ports: [port],
    });
    expect(prepared(without).spec?.ports?.[0]).not.toHaveProperty("nodePort");
  });

  test("with one port on the nodes for two of the same number", () => {
    const both = [
      { name: "tcp", port: 53, protocol: "TCP" },
      { name: "udp", port: 53, protocol: "UDP" },
    ];
    const { spec } = prepared(made({ type: "NodePort", ports: both }));
    expect(spec?.ports?.map(({ nodePort }) => nodePort)).toEqual([30_086, 30_086]);
  });

  test("with a port for health where only local endpoints take traffic", () => {
    const spec = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [port] };
    expect(prepared(made(spec)).spec?.healthCheckNodePort).toBe(30_087);
  });

  test("with nothing that another Service has", () => {
    const first = prepared(made({ type: "NodePort", ports: [port] }));
    const second = prepared(made({ type: "NodePort", ports: [port] }), undefined, [first]);
    expect(second.spec?.clusterIP).not.toBe(first.spec?.clusterIP);
    expect(second.spec?.ports?.[0]?.nodePort).not.toBe(first.spec?.ports?.[0]?.nodePort);
  });

  test("with no address where it wants none", () => {
    const headless = prepared(made({ clusterIP: "None", selector: { a: "b" }, ports: [port] }));
    expect(headless.spec).toMatchObject({ clusterIP: "None", clusterIPs: ["None"] });
    const named = prepared(made({ type: "ExternalName", externalName: "example.com" }));
    expect(named.spec).not.toHaveProperty("clusterIP");
    expect(named.spec).not.toHaveProperty("ipFamilies");
  });

  test("with how an address of its load balancer is used", () => {
    const old = prepared(made({ type: "LoadBalancer", ports: [port] }));
    const status = { loadBalancer: { ingress: [{ ip: "10.0.0.4" }] } };
    expect(prepared({ ...old, status }, old).status?.loadBalancer?.ingress).toEqual([
      { ip: "10.0.0.4", ipMode: "VIP" },
    ]);
  });
});

describe("a Service that is written again", () => {
  test("keeps what it was given, also when the client does not say it", () => {
    const old = prepared(made({ type: "NodePort", ports: [port] }));
    const again = prepared({ ...old, spec: { type: "NodePort", ports: [port] } }, old);
    expect(again.spec).toEqual(old.spec);
  });

  test("loses what its former type needed", () => {
    const old = prepared(made({ type: "LoadBalancer", ports: [port], loadBalancerClass: "x" }));
    const { spec, status } = prepared(changed(old, { type: "ClusterIP" }), old);
    expect(spec?.clusterIP).toBe(old.spec?.clusterIP);
    expect(spec?.ports).toEqual([{ port: 443, protocol: "TCP", targetPort: 443 }]);
    for (const field of [
      "allocateLoadBalancerNodePorts",
      "loadBalancerClass",
      "externalTrafficPolicy",
    ]) {
      expect(spec).not.toHaveProperty(field);
    }
    expect(status).toEqual({ loadBalancer: {} });
    const named = prepared(changed(old, { type: "ExternalName", externalName: "a.b" }), old);
    expect(named.spec).not.toHaveProperty("clusterIPs");
  });

  test("may not change its address", () => {
    const old = prepared(made({ ports: [port] }));
    const moved = changed(old, { clusterIP: "10.96.9.9", clusterIPs: ["10.96.9.9"] });
    expect(fieldsWrong(prepared(moved, old), old)).toEqual([
      "spec.clusterIPs[0] FieldValueInvalid",
    ]);
    expect(fieldsWrong(prepared(changed(old, {}), old), old)).toEqual([]);
  });
});

describe("a Service is refused", () => {
  const wrong: [string, object, string[]][] = [
    ["without ports", {}, ["spec.ports FieldValueRequired"]],
    [
      "with several ports of which one has no name",
      {
        ports: [
          { ...port, name: "a" },
          { port: 80, protocol: "TCP" },
        ],
      },
      ["spec.ports[1].name FieldValueRequired"],
    ],
    [
      "with the same name twice",
      {
        ports: [
          { ...port, name: "a" },
          { port: 80, protocol: "TCP", name: "a" },
        ],
      },
      ["spec.ports[1].name FieldValueDuplicate"],
    ],
    [
      "with the same port twice",
      {
        ports: [
          { ...port, name: "a" },
          { ...port, name: "b" },
        ],
      },
      ["spec.ports[1] FieldValueDuplicate"],
    ],
    [
      "with a port that no port can be",
      { ports: [{ port: 70_000, protocol: "TCP", targetPort: "Not_A_Name" }] },
      ["spec.ports[0].port FieldValueInvalid", "spec.ports[0].targetPort FieldValueInvalid"],
    ],
    [
      "with a port on nodes that its type has not",
      { ports: [{ ...port, nodePort: 30_100 }] },
      ["spec.ports[0].nodePort FieldValueForbidden"],
    ],
    [
      "with a port on nodes out of range",
      { type: "NodePort", ports: [{ ...port, nodePort: 80 }] },
      ["spec.ports[0].nodePort FieldValueInvalid"],
    ],
    [
      "as another name without one",
      { type: "ExternalName" },
      ["spec.externalName FieldValueRequired"],
    ],
    [
      "as a load balancer without an address",
      { type: "LoadBalancer", clusterIP: "None", ports: [port] },
      ["spec.clusterIPs[0] FieldValueInvalid"],
    ],
    [
      "with fields of another type",
      { loadBalancerClass: "x", loadBalancerSourceRanges: ["10.0.0.0/8"], ports: [port] },
      [
        "spec.LoadBalancerSourceRanges FieldValueForbidden",
        "spec.loadBalancerClass FieldValueForbidden",
      ],
    ],
    [
      "with a range that is none",
      { type: "LoadBalancer", loadBalancerSourceRanges: ["10.0.0.0"], ports: [port] },
      ["spec.LoadBalancerSourceRanges[0] FieldValueInvalid"],
    ],
    [
      "with an address that is none",
      { clusterIP: "ten", ports: [port] },
      ["spec.clusterIPs[0] FieldValueInvalid"],
    ],
  ];
  test.each(wrong)("%s", (_, spec, fields) => {
    expect(fieldsWrong(prepared(made(spec)))).toEqual(fields);
  });

  test("with an address or a port that another has", () => {
    const first = prepared(made({ type: "NodePort", ports: [port] }));
    const { clusterIP, ports } = first.spec ?? {};
    const second = prepared(made({ type: "NodePort", clusterIP, ports }), undefined, [first]);
    expect(fieldsWrong(second, undefined, [first])).toEqual(["spec.clusterIPs FieldValueInvalid"]);
    const third = prepared(made({ type: "NodePort", ports }), undefined, [first]);
    expect(fieldsWrong(third, undefined, [first])).toEqual([
      "spec.ports[0].nodePort FieldValueInvalid",
    ]);
  });
});
