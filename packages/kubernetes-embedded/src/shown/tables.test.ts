import { describe, expect, test } from "vitest";
import { builtIns } from "../kinds/built-ins.ts";
import type { Column, Resource, Stored } from "../resource.ts";
import { includeOf, type TableOptions, tableOf } from "./tables.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const options: TableOptions = { version: "v1", include: "Metadata", now, headers: true };
const metadata = { resourceVersion: "7" };

function object(more: Record<string, unknown>): Stored {
  return {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: {
      name: "one",
      uid: "u",
      resourceVersion: "7",
      creationTimestamp: "2026-03-01T11:55:00Z",
    },
    ...more,
  };
}

function custom(...columns: Column[]): Resource {
  const [configMap] = builtIns;
  return { ...(configMap as Resource), builtIn: false, columns };
}

function column(name: string, type: string, value: string): Column {
  return { name, type, value, priority: 0 };
}

describe("a table of custom resources", () => {
  test("shows the name, and the age where no columns are asked for", () => {
    const table = tableOf(custom(), [object({})], metadata, options);
    expect(table.columnDefinitions?.map(({ name }) => name)).toEqual(["Name", "Age"]);
    expect(table.rows[0]?.cells).toEqual(["one", "5m"]);
  });

  test("shows what its paths lead to, by the type of the column", () => {
    const conditions = [
      { type: "Available", status: "False" },
      { type: "Ready", status: "True" },
    ];
    const resource = custom(
      column("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
      column("Size", "integer", ".spec.size"),
      column("Wrong", "integer", ".spec.name"),
      column("Names", "string", ".spec.names"),
      column("Second", "string", ".spec.names[1]"),
      column("Quoted", "string", ".metadata.annotations['a.b/c']"),
      column("Escaped", "string", ".metadata.annotations.a\\.b/c"),
      column("Since", "date", ".status.since"),
      column("Missing", "string", ".status.nothing.here"),
      column("On", "boolean", ".spec.on"),
    );
    const widget = object({
      spec: { size: 3.7, name: "x", names: ["a", "b"], on: false },
      status: { conditions, since: "2026-03-01T09:00:00Z" },
    });
    widget.metadata.annotations = { "a.b/c": "d" };
    expect(tableOf(resource, [widget], metadata, options).rows[0]?.cells).toEqual([
      "one",
      "True",
      3,
      null,
      '["a","b"]',
      "b",
      "d",
      "d",
      "3h",
      null,
      false,
    ]);
  });
});

describe("a row", () => {
  const rowWith = (include: TableOptions["include"]) =>
    tableOf(custom(), [object({ spec: {} })], metadata, { ...options, include }).rows[0]?.object;

  test("brings the metadata of its object along, or all of it, or nothing", () => {
    expect(rowWith("Metadata")).toMatchObject({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: { name: "one" },
    });
    expect(rowWith("Metadata")).not.toHaveProperty("spec");
    expect(rowWith("Object")).toEqual(object({ spec: {} }));
    expect(rowWith("None")).toBeNull();
  });

  test("is asked for in words that are known", () => {
    expect(includeOf(undefined)).toBe("Metadata");
    expect(includeOf("Object")).toBe("Object");
    expect(includeOf("Everything")).toBeUndefined();
  });
});

test("columns are not told again where the client knows them", () => {
  const table = tableOf(custom(), [object({})], metadata, { ...options, headers: false });
  expect(table.columnDefinitions).toBeNull();
});

describe("the columns of built-in kinds", () => {
  function cells(kind: string, given: Stored) {
    const resource = builtIns.find((each) => each.kind === kind) as Resource;
    const { columnDefinitions, rows } = tableOf(resource, [given], metadata, options);
    const names = columnDefinitions?.map(({ name }) => name) ?? [];
    return Object.fromEntries(names.map((name, index) => [name, rows[0]?.cells[index]]));
  }

  test("tell where a Service is reached", () => {
    const spec = {
      type: "LoadBalancer",
      clusterIP: "10.96.0.10",
      ports: [
        { port: 443, nodePort: 30001, protocol: "TCP" },
        { port: 53, protocol: "UDP" },
      ],
      selector: { b: "2", a: "1" },
    };
    expect(cells("Service", object({ spec }))).toMatchObject({
      Type: "LoadBalancer",
      "Cluster-IP": "10.96.0.10",
      "External-IP": "<pending>",
      "Port(s)": "443:30001/TCP,53/UDP",
      Selector: "a=1,b=2",
    });
    const status = { loadBalancer: { ingress: [{ ip: "10.0.0.7" }] } };
    expect(cells("Service", object({ spec, status }))["External-IP"]).toBe("10.0.0.7");
  });

  test("tell how a node is", () => {
    const node = object({
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        addresses: [{ type: "InternalIP", address: "10.0.0.4" }],
        nodeInfo: { kubeletVersion: "v1.36.3", kernelVersion: "6.1", architecture: "amd64" },
      },
    });
    node.metadata.labels = { "node-role.kubernetes.io/worker": "" };
    expect(cells("Node", node)).toMatchObject({
      Status: "Ready,SchedulingDisabled",
      Roles: "worker",
      Version: "v1.36.3",
      "Internal-IP": "10.0.0.4",
      "External-IP": "<none>",
      "Kernel-Version": "6.1 (amd64)",
    });
  });

  test("tell of an Event when it was last seen, and of what", () => {
    const event = object({
      involvedObject: { kind: "Widget", name: "one" },
      type: "Warning",
      reason: "Broken",
      message: " it broke\n",
      eventTime: "2026-03-01T11:00:00.000000Z",
      series: { count: 4, lastObservedTime: "2026-03-01T11:58:50.000000Z" },
      source: {},
      reportingComponent: "tester",
    });
    expect(cells("Event", event)).toMatchObject({
      "Last Seen": "70s",
      "First Seen": "60m",
      Object: "widget/one",
      Message: "it broke",
      Source: "tester",
      Count: 4,
    });
  });
});
