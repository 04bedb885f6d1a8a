import { describe, expect, test } from "vitest";
import type { Resource, Stored } from "../resource.ts";
import { builtIns } from "./built-ins.ts";

function kind(name: string, group = ""): Resource {
  const found = builtIns.find((each) => each.kind === name && each.group === group);
  if (found === undefined) throw new Error(`no kind ${name}`);
  return found;
}

function made(resource: Resource, more: Record<string, unknown> = {}): Stored {
  const { group, version } = resource;
  return {
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind: resource.kind,
    metadata: {
      name: "one",
      namespace: "a",
      uid: "u",
      resourceVersion: "",
      creationTimestamp: "2026-03-01T12:00:00Z",
    },
    ...more,
  };
}

const none = () => [];

function prepared(resource: Resource, object: Stored, old?: Stored): Stored {
  const filled = resource.strategy?.fill?.(object) ?? object;
  return resource.strategy?.prepare?.(filled, old, none) ?? filled;
}

function wrong(resource: Resource, object: Stored, old?: Stored): string[] {
  const causes = resource.strategy?.problems?.(object, old) ?? [];
  return causes.map(({ field, reason }) => `${field} ${reason}`);
}

describe("a Secret", () => {
  const secret = kind("Secret");

  test("has what was written as plain text among its data, and a type", () => {
    const given = made(secret, { data: { a: "YQ==" }, stringData: { a: "b", c: "ü" } });
    const { data, type, stringData } = prepared(secret, given) as Stored & Record<string, unknown>;
    expect(data).toEqual({ a: "Yg==", c: "w7w=" });
    expect(type).toBe("Opaque");
    expect(stringData).toBeUndefined();
  });

  test("holds base64 under keys that can be files, and no more than a mebibyte", () => {
    const { shape } = secret;
    expect(shape.problems(made(secret, { data: { a: "", b: "YQ==" } }))).toEqual([]);
    expect(shape.problems(made(secret, { data: { a: "no!" } }))).toHaveLength(1);
    expect(wrong(secret, made(secret, { data: { "a/b": "" } }))).toEqual([
      "data[a/b] FieldValueInvalid",
    ]);
    const large = Buffer.alloc(1024 * 1024 + 1).toString("base64");
    expect(wrong(secret, made(secret, { data: { large } }))).toEqual(["data FieldValueTooLong"]);
  });

  test("of a known type has what that needs, and keeps it", () => {
    const tls = made(secret, { type: "kubernetes.io/tls", data: { "tls.crt": "" } });
    expect(wrong(secret, tls)).toEqual(["data[tls.key] FieldValueRequired"]);
    const old = made(secret, { type: "Opaque" });
    expect(wrong(secret, { ...old, type: "mine" }, old)).toEqual(["type FieldValueInvalid"]);
  });

  test("that is immutable does not change, but its labels may", () => {
    const old = made(secret, { type: "Opaque", immutable: true, data: { a: "YQ==" } });
    expect(wrong(secret, { ...old, data: {} }, old)).toEqual(["data FieldValueForbidden"]);
    expect(wrong(secret, { ...old, immutable: false }, old)).toEqual([
      "immutable FieldValueForbidden",
    ]);
    const labelled = { ...old, metadata: { ...old.metadata, labels: { a: "b" } } };
    expect(wrong(secret, labelled, old)).toEqual([]);
  });
});

describe("a ConfigMap", () => {
  const configMap = kind("ConfigMap");

  test("may have a key that every JavaScript object knows", () => {
    expect(wrong(configMap, made(configMap, { data: { toString: "a" } }))).toEqual([]);
  });

  test("has a key in one of its two maps only", () => {
    const twice = made(configMap, { data: { a: "b" }, binaryData: { a: "YQ==" } });
    expect(wrong(configMap, twice)).toEqual(["data[a] FieldValueInvalid"]);
  });

  test("that is immutable does not change", () => {
    const old = made(configMap, { immutable: true, data: { a: "b" } });
    expect(wrong(configMap, { ...old, data: { a: "c" } }, old)).toEqual([
      "data FieldValueForbidden",
    ]);
  });
});

describe("a Namespace", () => {
  const namespace = kind("Namespace");

  test("is active from the start, and carries its name as a label", () => {
    expect(prepared(namespace, made(namespace))).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": "one" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  test("keeps its finalizers, whatever is written", () => {
    const old = prepared(namespace, made(namespace));
    expect(prepared(namespace, { ...old, spec: {} }, old)).toEqual(old);
  });
});

describe("an Event", () => {
  const core = kind("Event");
  const newer = kind("Event", "events.k8s.io");
  const stored = made(core, {
    involvedObject: { kind: "Pod", name: "p", namespace: "a" },
    message: "it broke",
    reason: "Broken",
    type: "Warning",
    action: "Breaking",
    eventTime: "2026-03-01T11:00:00.000000Z",
    reportingComponent: "tester",
    reportingInstance: "tester-1",
    source: { component: "tester" },
    count: 2,
  });

  test("is the same in both groups, each in its own words", () => {
    const shown = newer.view?.show(stored);
    expect(shown).toMatchObject({
      apiVersion: "events.k8s.io/v1",
      regarding: { name: "p" },
      note: "it broke",
      reportingController: "tester",
      deprecatedCount: 2,
      deprecatedSource: { component: "tester" },
    });
    expect(newer.view?.take(shown as Stored)).toEqual(stored);
  });

  test("can be selected by what it is about, in the words of each group", () => {
    expect(core.fieldSelectors?.["involvedObject.name"]?.(stored)).toBe("p");
    expect(core.fieldSelectors?.["involvedObject.uid"]?.(stored)).toBe("");
    const shown = newer.view?.show(stored) as Stored;
    expect(newer.fieldSelectors?.["regarding.name"]?.(shown)).toBe("p");
    expect(newer.fieldSelectors?.reportingController?.(shown)).toBe("tester");
  });

  test("lies in the namespace of its object", () => {
    expect(wrong(core, stored)).toEqual([]);
    const involvedObject = { kind: "Pod", name: "p", namespace: "b" };
    const { eventTime: _, ...older } = stored;
    const elsewhere = { ...older, involvedObject } as Stored;
    expect(wrong(core, elsewhere)).toEqual(["involvedObject.namespace FieldValueInvalid"]);
  });

  test("of the newer group says who reports what was done, and when", () => {
    const { count: _, source: __, ...fine } = stored;
    expect(wrong(newer, newer.view?.show(fine as Stored) as Stored)).toEqual([]);
    const { action: ___, ...vague } = fine;
    const shown = newer.view?.show(vague as Stored) as Stored;
    expect(wrong(newer, shown)).toEqual(["action FieldValueRequired"]);
    expect(wrong(newer, { ...shown, action: "x", deprecatedCount: 1 })).toEqual([
      "count FieldValueInvalid",
    ]);
  });
});

test("an Event of the newer group changes in nothing but how often it was seen", () => {
  const newer = kind("Event", "events.k8s.io");
  const time = "2026-03-01T11:00:00.000000Z";
  const old = made(newer, {
    regarding: { namespace: "a" },
    eventTime: time,
    note: "it broke",
    reportingController: "tester",
    reportingInstance: "one",
    action: "Breaking",
    reason: "Broken",
  });
  expect(wrong(newer, { ...old, series: { count: 2, lastObservedTime: time } }, old)).toEqual([]);
  expect(wrong(newer, { ...old, note: "it did not", series: { count: 1 } }, old)).toEqual([
    "series.count FieldValueInvalid",
    "series.lastObservedTime FieldValueRequired",
    "message FieldValueInvalid",
  ]);
});

test("a Lease lasts for some time", () => {
  const lease = kind("Lease", "coordination.k8s.io");
  expect(wrong(lease, made(lease, { spec: { leaseDurationSeconds: 0 } }))).toEqual([
    "spec.leaseDurationSeconds FieldValueInvalid",
  ]);
});

test("a Lease tells its times to the microsecond", () => {
  const { shape, ...lease } = kind("Lease", "coordination.k8s.io");
  const renewed = (renewTime: string) => made({ shape, ...lease }, { spec: { renewTime } });
  expect(shape.problems(renewed("2026-03-01T12:00:00.000000Z"))).toEqual([]);
  expect(shape.problems(renewed("2026-03-01T12:00:00.5Z"))).toHaveLength(1);
});

test("a Pod has containers, and those have images", () => {
  const pod = kind("Pod");
  const given = made(pod, { spec: { containers: [{ name: "a", image: "b:1" }, { name: "a" }] } });
  expect(prepared(pod, given)).toMatchObject({
    spec: { restartPolicy: "Always", containers: [{ imagePullPolicy: "IfNotPresent" }, {}] },
    status: { phase: "Pending" },
  });
  expect(wrong(pod, given)).toEqual([
    "spec.containers[1].image FieldValueRequired",
    "spec.containers[1].name FieldValueDuplicate",
  ]);
});

test("every field is described, and no schema refers to itself", () => {
  const undescribed: string[] = [];
  const look = (schema: Resource["schema"], path: string, depth: number): void => {
    if (depth > 20) throw new Error(`${path} goes on forever`);
    for (const [name, own] of Object.entries(schema.properties ?? {})) {
      if (!own.description) undescribed.push(`${path}.${name}`);
      look(own, `${path}.${name}`, depth + 1);
    }
    if (schema.items) look(schema.items, `${path}[]`, depth + 1);
  };
  for (const resource of builtIns) look(resource.schema, resource.kind, 0);
  expect(undescribed).toEqual([]);
});
