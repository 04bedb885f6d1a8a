import type { Stored } from "@postern/kubernetes-embedded/resource.ts";
import { pathOf, type Thing, type World } from "./world.ts";

const finalizer = "hypershift.openshift.io/stand-in";
const apiVersion = "hypershift.openshift.io/v1beta1";
const clusterAnnotation = "hypershift.openshift.io/cluster";

/**
 * What HyperShift does with HostedClusters, as far as Postern reads it: a namespace, a copy of the cluster as HostedControlPlane,
 * the Service of the router, and the ServiceAccount. It enters no namespace that it did not create for the same cluster.
 */
export class HyperShift {
  readonly #created = new Map<string, string>();

  /** Do one step for each cluster; whether there was anything to do. */
  async step(world: World): Promise<boolean> {
    let acted = false;
    for (const { collection, object } of world.objects())
      if (collection === "hostedclusters.hypershift.openshift.io")
        acted = (await this.#one(world, object)) || acted;
    return acted;
  }

  async #one(world: World, cluster: Stored): Promise<boolean> {
    const { namespace: home = "", name, uid, finalizers = [], annotations } = cluster.metadata;
    const namespace = `${home}-${name}`;
    const key = `${home}/${name}`;
    const path = pathOf("HostedCluster", home, name);
    const send = async (...request: Parameters<World["send"]>) => {
      const status = await world.send(...request);
      return status < 300;
    };
    const create = async (thing: Thing) => (await world.create(thing)) < 300;
    const plane = world.get("hostedcontrolplanes.hypershift.openshift.io", `${namespace}/${name}`);
    const own = world.get("namespaces", namespace);
    const mine = this.#created.get(namespace) === uid;
    if (cluster.metadata.deletionTimestamp !== undefined) {
      if (!finalizers.includes(finalizer)) return false;
      if (mine && plane !== undefined)
        return (
          plane.metadata.deletionTimestamp === undefined &&
          send("DELETE", pathOf("HostedControlPlane", namespace, name))
        );
      if (mine && own !== undefined)
        return (
          own.metadata.deletionTimestamp === undefined &&
          send("DELETE", pathOf("Namespace", undefined, namespace))
        );
      this.#created.delete(namespace);
      const others = finalizers.filter((each) => each !== finalizer);
      return send("PATCH", path, { metadata: { finalizers: others } });
    }
    if (!finalizers.includes(finalizer))
      return send("PATCH", path, { metadata: { finalizers: [...finalizers, finalizer] } });
    if (own === undefined) {
      const labels = { "hypershift.openshift.io/hosted-control-plane": "true" };
      const metadata = { name: namespace, labels };
      this.#created.set(namespace, String(uid));
      return create({ apiVersion: "v1", kind: "Namespace", metadata });
    }
    if (!mine || own.metadata.deletionTimestamp !== undefined) return false;
    if (plane === undefined)
      return create({
        apiVersion,
        kind: "HostedControlPlane",
        spec: cluster.spec,
        metadata: { namespace, name, annotations: { ...annotations, [clusterAnnotation]: key } },
      });
    if (plane.metadata.deletionTimestamp !== undefined) return false;
    if (JSON.stringify(plane.spec) !== JSON.stringify(cluster.spec)) {
      const before = plane.metadata.resourceVersion;
      const changed = await send("PATCH", pathOf("HostedControlPlane", namespace, name), {
        spec: cluster.spec,
      });
      const after = world.get(
        "hostedcontrolplanes.hypershift.openshift.io",
        `${namespace}/${name}`,
      );
      if (changed && after?.metadata.resourceVersion !== before) return true;
    }
    const controller = { apiVersion, kind: "HostedControlPlane", name, uid: plane.metadata.uid };
    const ownerReferences = [{ ...controller, controller: true, blockOwnerDeletion: true }];
    const wanted: Thing[] = [
      {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { namespace, name: "control-plane-operator", ownerReferences },
      },
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: {
          namespace,
          name: "private-router",
          ownerReferences,
          annotations: { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" },
        },
        spec: { type: "LoadBalancer", ports: [{ port: 443 }], selector: { app: "router" } },
      },
    ];
    for (const each of wanted) {
      const collection = each.kind === "Service" ? "services" : "serviceaccounts";
      if (world.get(collection, `${namespace}/${each.metadata.name}`) === undefined)
        return create(each);
    }
    return false;
  }
}
