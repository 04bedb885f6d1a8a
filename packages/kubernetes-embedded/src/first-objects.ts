import type { Call, World } from "./call.ts";
import type { Stored } from "./resource.ts";
import { keyOf } from "./store.ts";
import { make } from "./verbs/create.ts";

const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** What every cluster has from its beginning: its namespaces, and the Service of the API itself. */
export function firstObjects(world: World): void {
  for (const name of namespaces) makeOnce(world, "namespaces", { metadata: { name } });
  makeOnce(world, "services", {
    metadata: {
      name: "kubernetes",
      namespace: "default",
      labels: { component: "apiserver", provider: "kubernetes" },
    },
    spec: {
      clusterIP: "10.96.0.1",
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }],
    },
  });
}

type Bare = Omit<Stored, "metadata" | "apiVersion" | "kind"> & {
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
};

function makeOnce(world: World, plural: string, given: Bare): void {
  const resource = world.registry.find("", "v1", plural);
  if (!resource || world.store.get(plural, keyOf(given.metadata))) return;
  const { namespace } = given.metadata;
  const call: Call = {
    resource,
    ...(namespace !== undefined && { namespace }),
    query: new URLSearchParams(),
    contentType: "",
    userAgent: "kube-apiserver",
    asker: { username: "system:apiserver", groups: ["system:masters"] },
    text: "",
    body: undefined,
  };
  const { metadata, ...rest } = given;
  const object = { apiVersion: "v1", kind: resource.kind, metadata, ...rest } as Stored;
  make(call, world, object, { dryRun: false, fieldValidation: "Ignore", force: false }, "object");
}
