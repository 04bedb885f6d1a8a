import { expect, test } from "vitest";
import { collect, disowned, type Looked, type Standing, withoutFinalizer } from "./collect.ts";
import type { Stored, StoredMetadata } from "./resource.ts";

function object(name: string, over: Partial<StoredMetadata> = {}): Stored {
  const metadata = { name, uid: name, resourceVersion: "1", creationTimestamp: "", ...over };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

function owner(uid: string, over = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", name: uid, uid, ...over };
}

function look(over: Partial<StoredMetadata>, dependents: Stored[] = []): Looked {
  const standing = ({ uid }: { uid: string }) => uid.split("-")[0] as Standing;
  return { object: object("it", over), standing, dependents };
}

const gone = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const child = object("child", { ownerReferences: [owner("it")] });
const blocker = object("blocker", { ownerReferences: [owner("it", { blockOwnerDeletion: true })] });

test.each([
  ["has no owners", look({}), []],
  ["has a solid owner", look({ ownerReferences: [owner("solid")] }), []],
  [
    "has lost its owner",
    look({ ownerReferences: [owner("absent")] }),
    [{ do: "delete", policy: "Background" }],
  ],
  [
    "has lost one owner of two",
    look({ ownerReferences: [owner("absent"), owner("solid")] }),
    [{ do: "disown", uids: ["absent"] }],
  ],
  [
    "has an owner who waits for it",
    look({ ownerReferences: [owner("waiting")] }),
    [{ do: "delete", policy: "Background" }],
  ],
  [
    "has an owner who waits for it, and owns something itself",
    look({ ownerReferences: [owner("waiting")] }, [child]),
    [{ do: "delete", policy: "Foreground" }],
  ],
  [
    "wants to leave what it owns behind, and lost its owner",
    look({ ownerReferences: [owner("absent")], finalizers: ["orphan"] }),
    [{ do: "delete" }],
  ],
  ["is deleted and waits for others", look({ ...gone, finalizers: ["ex.io/f"] }, [child]), []],
  ["is deleted already", look({ ...gone, ownerReferences: [owner("absent")] }), []],
  [
    "is deleted and leaves what it owns behind",
    look({ ...gone, finalizers: ["orphan"] }, [child]),
    [{ do: "orphan", dependents: [child] }],
  ],
  [
    "is deleted and left everything behind",
    look({ ...gone, finalizers: ["orphan"] }),
    [{ do: "drop finalizer", finalizer: "orphan" }],
  ],
  [
    "is deleted after what it owns and is blocked",
    look({ ...gone, finalizers: ["foregroundDeletion"] }, [child, blocker]),
    [{ do: "delete dependents", dependents: [child, blocker] }],
  ],
  [
    "is deleted after what it owns and is not blocked",
    look({ ...gone, finalizers: ["foregroundDeletion"] }, [child]),
    [
      { do: "delete dependents", dependents: [child] },
      { do: "drop finalizer", finalizer: "foregroundDeletion" },
    ],
  ],
  [
    "is deleted after what it owns, which goes already",
    look({ ...gone, finalizers: ["foregroundDeletion"] }, [
      { ...blocker, metadata: { ...blocker.metadata, ...gone } },
    ]),
    [],
  ],
])("an object that %s", (_what, looked, deeds) => {
  expect(collect(looked)).toEqual(deeds);
});

test("owners and finalizers are taken away one by one", () => {
  const held = object("a", { ownerReferences: [owner("x"), owner("y")], finalizers: ["f", "g"] });
  expect(disowned(held, ["x"]).metadata.ownerReferences).toEqual([owner("y")]);
  expect(disowned(held, ["x", "y"]).metadata).not.toHaveProperty("ownerReferences");
  expect(withoutFinalizer(held, "f").metadata.finalizers).toEqual(["g"]);
  expect(withoutFinalizer(object("b", { finalizers: ["f"] }), "f").metadata).not.toHaveProperty(
    "finalizers",
  );
});
