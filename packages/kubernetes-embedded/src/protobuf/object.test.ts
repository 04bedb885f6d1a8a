import { expect, test } from "vitest";
import { messages } from "./messages.ts";
import { objectOfProtobuf } from "./object.ts";

type Part = [number, bigint | string | Buffer | Part[]];

/** Bytes as Go writes them: enough of protobuf for these tests. */
function written(parts: Part[]): Buffer {
  return Buffer.concat(
    parts.map(([number, value]) => {
      if (typeof value === "bigint")
        return Buffer.concat([varint(BigInt(number) << 3n), varint(value)]);
      const bytes = Array.isArray(value) ? written(value) : Buffer.from(value as string);
      return Buffer.concat([
        varint((BigInt(number) << 3n) | 2n),
        varint(BigInt(bytes.length)),
        bytes,
      ]);
    }),
  );
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

function sent(apiVersion: string, kind: string, parts: Part[]): Buffer {
  const type: Part = [
    1,
    [
      [1, apiVersion],
      [2, kind],
    ],
  ];
  return Buffer.concat([Buffer.from("k8s\0"), written([type, [2, parts]])]);
}

test("an object is read as if it had been sent as JSON", () => {
  const port: Part[] = [
    [1, "https"],
    [2, "TCP"],
    [3, 443n],
    [
      4,
      [
        [1, 1n],
        [2, 0n],
        [3, "web"],
      ],
    ],
    [5, 0n],
  ];
  const spec: Part[] = [
    [1, port],
    [
      2,
      [
        [1, "app"],
        [2, "web"],
      ],
    ],
    [3, ""],
    [4, "LoadBalancer"],
    [20, 0n],
  ];
  const metadata: Part[] = [
    [1, "web"],
    [3, "demo"],
    [5, ""],
    [7, 0n],
    [8, []],
    [14, "a.b/c"],
    [14, "d"],
  ];
  expect(
    objectOfProtobuf(
      sent("v1", "Service", [
        [1, metadata],
        [2, spec],
        [3, [[1, []]]],
      ]),
    ),
  ).toEqual({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "demo", finalizers: ["a.b/c", "d"] },
    spec: {
      ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: "web" }],
      selector: { app: "web" },
      type: "LoadBalancer",
      allocateLoadBalancerNodePorts: false,
    },
  });
});

test("what was set to nothing on purpose is kept, and times are written as JSON has them", () => {
  const time: Part[] = [
    [1, 1_772_366_400n],
    [2, 1_234_000n],
  ];
  const lease = sent("coordination.k8s.io/v1", "Lease", [
    [1, [[1, "leader"]]],
    [
      2,
      [
        [1, ""],
        [2, 15n],
        [4, time],
        [5, 0n],
      ],
    ],
  ]);
  expect(objectOfProtobuf(lease)).toMatchObject({
    spec: {
      holderIdentity: "",
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      renewTime: "2026-03-01T12:00:00.001234Z",
    },
  });
});

test("bytes become base64, and numbers may be negative", () => {
  const secret = sent("v1", "Secret", [
    [
      2,
      [
        [1, "k"],
        [2, Buffer.from([0, 255])],
      ],
    ],
    [2, [[1, "empty"]]],
  ]);
  expect(objectOfProtobuf(secret)).toMatchObject({ data: { k: "AP8=", empty: "" } });
  const event = objectOfProtobuf(sent("v1", "Event", [[8, -1n]]));
  expect(event).toMatchObject({ count: -1 });
});

test("a kind of the same name in another group is read by its own message", () => {
  const note = objectOfProtobuf(sent("events.k8s.io/v1", "Event", [[10, "hello"]]));
  expect(note).toMatchObject({ note: "hello" });
});

test("a kind that is not known in this form is said to be so, and broken bytes are refused", () => {
  expect(objectOfProtobuf(sent("v1", "Pod", []))).toBeUndefined();
  expect(() => objectOfProtobuf(Buffer.from('{"kind":"Pod"}'))).toThrow("does not begin with k8s");
  const whole = sent("v1", "ConfigMap", [[1, [[1, "name"]]]]);
  expect(() => objectOfProtobuf(whole.subarray(0, -1))).toThrow("ends too early");
});

test("every message that is named is there", () => {
  const plain = /^(text|int|flag|bytes|Time|MicroTime|Quantity|IntOrString|FieldsV1)$/;
  const missing = Object.entries(messages).flatMap(([message, fields]) =>
    fields.split(", ").flatMap((field) => {
      const form = field.split(" ")[2]?.replace(/(\?|\[\]|\{\})$/, "") ?? "text";
      return plain.test(form) || form in messages ? [] : [`${message}.${field}`];
    }),
  );
  expect(missing).toEqual([]);
});
