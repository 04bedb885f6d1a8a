import { AzureError } from "postern/azure/errors.ts";
import { privateLinksFinalizer } from "postern/cluster-api/names.ts";
import { privateLinksFeature } from "postern/cluster-api/private-links/feature.ts";
import { expect, test } from "vitest";
import { describeHosted, type HostedWorld } from "../hosted/world.ts";
import {
  addBalancer,
  balancerId,
  endpoint,
  endpointId,
  endpoints,
  gone,
  inAzure,
  link,
  linkId,
  links,
  makeCluster,
  messageOf,
  networkId,
  networkSpec,
  now,
  reported,
  resourceAt,
  startPrivateLinks,
  subscription,
  theirService,
  writes,
} from "./private-links-world.ts";

const capzFinalizer = "azurecluster.infrastructure.cluster.x-k8s.io";
const lastTransitionTime = "2026-01-01T00:00:00Z";
const theirs = (type: string, over: object = {}) => ({
  type,
  status: "True",
  lastTransitionTime,
  ...over,
});

describeHosted("where CAPZ makes links and endpoints", (start) => {
  test("nothing is written and Azure is not asked: its finalizer, and the fields in the spec", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const service = theirService(world, "gate", [subscription]);
    await world.mark();
    await makeCluster(world, "wc1", {
      links: [link()],
      endpoints: [endpoint(service)],
      metadata: { finalizers: [capzFinalizer] },
    });
    await world.advance(20 * 60_000);
    expect(world.armRequests()).toEqual([]);
    expect(await world.kubeWrites()).toEqual([]);
  });

  test("nothing is written where both conditions are somebody else's", async () => {
    const world = await startPrivateLinks(start, { stopped: true });
    inAzure(world);
    const service = theirService(world, "gate", [subscription]);
    const made = await makeCluster(world, "wc1", {
      links: [link()],
      endpoints: [endpoint(service)],
    });
    const creating = { status: "False", reason: "Creating", severity: "Info" };
    const conditions = [theirs(links), theirs(endpoints, creating)];
    await world.patch(made, { status: { conditions } }, "status");
    await world.start();
    await world.advance(20 * 60_000);
    expect(world.armRequests()).toEqual([]);
    expect(await world.kubeWrites()).toEqual([]);
    expect((await now(world, made))?.status?.conditions).toEqual(conditions);
  });

  test("the links of the annotation are made beside a stock CAPZ, whose endpoints and conditions are its own", async () => {
    const world = await startPrivateLinks(start, { stopped: true });
    inAzure(world);
    const service = theirService(world, "gate", [subscription]);
    const made = await makeCluster(world, "wc1", {
      endpoints: [endpoint(service)],
      metadata: {
        finalizers: [capzFinalizer],
        annotations: { "postern.io/private-links": JSON.stringify([link()]) },
      },
    });
    const conditions = [theirs("Ready"), theirs(endpoints), theirs("LoadBalancersReady")];
    await world.patch(made, { status: { conditions } }, "status");
    await world.start();
    const after = await reported(world, made, links, "True Realised");
    expect(after.status?.conditions?.slice(0, 3)).toEqual(conditions);
    expect(world.azure.at(endpointId("to-mc"))).toBeUndefined();
    await world.remove(made);
    await world.until("we still hold it", async () => {
      return !(await now(world, made))?.metadata.finalizers?.includes(privateLinksFinalizer);
    });
    expect(world.azure.at(linkId("api"))).toBeUndefined();
  });

  test("a CAPZ that comes and says that it makes the links is left to it", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    await reported(world, made, links, "True Realised");
    await world.patch(made, { status: { conditions: [theirs(links)] } }, "status");
    await world.until("it is held", async () => {
      return ((await now(world, made))?.metadata.finalizers ?? []).length === 0;
    });
    await world.mark();
    world.azure.simulator.drop(linkId("api"));
    await world.advance(20 * 60_000);
    expect(writes(world)).toEqual([]);
    expect(await world.kubeWrites()).toEqual([]);
  });

  test("what it made is taken over where a person says that it does so no more", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    await reported(world, made, links, "True Realised");
    await world.stop();
    // As CAPZ's fork leaves it: its tag on the service, and its condition without a reason.
    const { top, properties } = resourceAt(world, linkId("api"));
    const { postern_owner: _, ...tags } = top.tags ?? {};
    world.azure.simulator.change(linkId("api"), { ...top, tags, properties } as never);
    await world.patch(made, { status: { conditions: [theirs(links)] } }, "status");
    await world.start();
    await world.advance(10 * 60_000);
    expect(writes(world).length).toBeLessThanOrEqual(2);
    const { alias } = resourceAt(world, linkId("api")).properties;
    await world.patch(made, {
      metadata: { annotations: { "postern.io/managed-resources": "links" } },
    });
    await reported(world, made, links, "True Realised");
    await world.until("it is not tagged", () => {
      return resourceAt(world, linkId("api")).top.tags?.postern_owner === "org/wc1";
    });
    expect(resourceAt(world, linkId("api")).properties.alias).toBe(alias);
  });
});

describeHosted("what belongs to others", (start) => {
  test("is never touched, and its owner is reported; deletion leaves it too", async () => {
    const world = await startPrivateLinks(start, { stopped: true });
    inAzure(world);
    const service = theirService(world, "gate", [subscription]);
    const template = await makeCluster(world, "wc1", {
      links: [link()],
      endpoints: [endpoint(service)],
    });
    await world.start();
    await reported(world, template, links, "True Realised");
    await reported(world, template, endpoints, "True Realised");
    await world.stop();
    for (const id of [linkId("api"), endpointId("to-mc")]) {
      const { top, properties } = resourceAt(world, id);
      world.azure.simulator.change(id, { ...top, tags: { team: "x" }, properties } as never);
    }
    await world.start();
    await world.mark();
    const after = await reported(world, template, links, "False OwnedByAnother");
    await reported(world, template, endpoints, "False OwnedByAnother");
    expect(messageOf(after, links)).toContain("It has no owner tag");
    expect(messageOf(after, links)).toContain("postern_owner: org/wc1");
    await world.remove(template);
    await gone(world, template);
    expect(writes(world)).toEqual([]);
    expect(world.azure.at(linkId("api"))).toBeDefined();
    expect(world.azure.at(endpointId("to-mc"))).toBeDefined();
  });

  const replaceTags = (world: HostedWorld, id: string, tags: Record<string, string>) => {
    const { top, properties } = resourceAt(world, id);
    world.azure.simulator.change(id, { ...top, tags, properties } as never);
  };
  const capzTag = (cluster: string) => ({
    [`sigs.k8s.io_cluster-api-provider-azure_cluster_${cluster}`]: "owned",
  });

  test("tags that somebody replaced are restored, and the deletion leaves nothing", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    addBalancer(world, "wc1", "wc1", capzTag("wc1"));
    const service = theirService(world, "gate", [subscription]);
    const ours = [linkId("api"), endpointId("to-mc")];
    const shape = { links: [link()], endpoints: [endpoint(service)] };
    const made = await makeCluster(world, "wc1", shape);
    await reported(world, made, links, "True Realised");
    await reported(world, made, endpoints, "True Realised");
    const before = world.azure.ids();
    await world.stop();
    for (const id of ours) replaceTags(world, id, { x: "y" });
    await world.start();
    for (const id of ours)
      await world.until(`${id} has its tags`, () => {
        const { tags } = resourceAt(world, id).top;
        return tags?.postern_owner === "org/wc1" && tags.x === "y";
      });
    expect(world.azure.ids()).toEqual(before);
    await world.stop();
    for (const id of ours) replaceTags(world, id, { x: "y" });
    await world.remove(made);
    await world.start();
    await gone(world, made);
    for (const id of ours) expect(world.azure.at(id)).toBeUndefined();
  });

  test("attack: a label that names another cluster does not take over what CAPZ made for that one", async () => {
    const world = await startPrivateLinks(start, { stopped: true });
    inAzure(world);
    const template = await makeCluster(world, "wc1", { links: [link()] });
    await world.start();
    await reported(world, template, links, "True Realised");
    await world.stop();
    replaceTags(world, linkId("api"), capzTag("victim"));
    await world.patch(template, { metadata: { finalizers: null } });
    await world.remove(template);
    const labels = { "cluster.x-k8s.io/cluster-name": "victim" };
    const thief = await makeCluster(world, "wc1", { links: [link()], metadata: { labels } });
    await world.start();
    await reported(world, thief, links, "False OwnedByAnother");
    await world.remove(thief);
    await gone(world, thief);
    expect(resourceAt(world, linkId("api")).top.tags).toEqual(capzTag("victim"));
  });

  test("attack: a load balancer in another resource group gets no link service", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    inAzure(world, "victim", "victim", 20);
    const spec = {
      networkSpec: {
        ...networkSpec({ links: [link()] }),
        apiServerLB: {
          type: "Internal",
          id: balancerId("victim", "victim"),
          frontendIPs: [{ name: "front" }],
          privateLinks: [link()],
        },
      },
    };
    const thief = await makeCluster(world, "wc1", { spec });
    const after = await reported(world, thief, links, "False InvalidRequest");
    expect(messageOf(after, links)).toContain("not in the cluster's resource group");
    expect(world.azure.ids("/privatelinkservices/")).toEqual([]);
  });

  test("two AzureClusters in one group have each their own, and the younger of one name is told whose it is", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world, "wc1", "shared", 11);
    inAzure(world, "wc10", "shared", 12);
    const at = { group: "shared", spec: { resourceGroup: "shared" } };
    const one = await makeCluster(world, "wc1", { ...at, links: [link({ name: "one" })] });
    const ten = await makeCluster(world, "wc10", { ...at, links: [link({ name: "ten" })] });
    await reported(world, one, links, "True Realised");
    await reported(world, ten, links, "True Realised");
    // Of the same name in another namespace, with the same link.
    const twin = await makeCluster(world, "wc1", {
      ...at,
      namespace: "org-other",
      links: [link({ name: "one" })],
    });
    const refused = await reported(world, twin, links, "False OwnedByAnother");
    expect(messageOf(refused, links)).toContain("Its tag postern_owner names another object");
    await world.remove(twin);
    await gone(world, twin);
    await world.remove(one);
    await gone(world, one);
    expect(world.azure.at(linkId("one", "shared"))).toBeUndefined();
    expect(resourceAt(world, linkId("ten", "shared")).top.tags?.postern_owner).toBe("org/wc10");
  });

  test("a cluster that was moved to another management cluster keeps what it has", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    await reported(world, made, links, "True Realised");
    await world.stop();
    // clusterctl takes the finalizers off, and makes the object anew elsewhere, with another uid and no status.
    await world.patch(made, { metadata: { finalizers: null } });
    await world.remove(made);
    const moved = await makeCluster(world, "wc1", { links: [link()] });
    await world.start();
    await world.mark();
    await reported(world, moved, links, "True Realised");
    expect(writes(world)).toEqual([]);
  });
});

describeHosted("an AzureCluster whose private links cannot be created", (start) => {
  test("says where its annotation is wrong, removes nothing for it, and goes on when it is right", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const annotated = (text: string) => ({ annotations: { "postern.io/private-links": text } });
    const right = JSON.stringify([link()]);
    const made = await makeCluster(world, "wc1", { metadata: annotated(right) });
    await reported(world, made, links, "True Realised");
    await world.patch(made, { metadata: annotated(`[{"name": api}]`) });
    const wrong = await reported(world, made, links, "False InvalidAnnotation");
    expect(messageOf(wrong, links)).toContain("line 1, character 11");
    const events = (await world.list("Event", "org")) as unknown as { reason: string }[];
    expect(events.map(({ reason }) => reason)).toContain("InvalidAnnotation");
    await world.mark();
    await world.advance(20 * 60_000);
    expect(writes(world)).toEqual([]);
    expect(world.azure.at(linkId("api"))).toBeDefined();
    await world.patch(made, { metadata: annotated(right) });
    await reported(world, made, links, "True Realised");
  });

  test("for want of an identity says so, and the others go on", async () => {
    let broken = true;
    const world = await start({
      features: (armClients) => [
        privateLinksFeature({
          clients: {
            of: (cluster, reconcile) => {
              if (broken && cluster.metadata.name === "wc1")
                throw new AzureError({ code: "ClusterIdentityMissing", what: "act in Azure" });
              return armClients.management(reconcile);
            },
          },
        }),
      ],
      simulator: { operationMs: { "*": 30_000 } },
    });
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "org" } });
    inAzure(world);
    inAzure(world, "wc10", "wc10", 20);
    const one = await makeCluster(world, "wc1", { links: [link()] });
    const ten = await makeCluster(world, "wc10", { links: [link()] });
    await reported(world, one, links, "False NotRealised");
    await reported(world, ten, links, "True Realised");
    broken = false;
    await reported(world, one, links, "True Realised");
  });

  test("for want of a role on its load balancer says so, while another read takes long and the others go on", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    inAzure(world, "wc10", "wc10", 20);
    const { simulator } = world.azure;
    const denied = { error: { code: "AuthorizationFailed", message: "no such role" } };
    const faults = [
      { path: networkId(), effect: { kind: "slow", ms: 5_000 } as const },
      {
        path: balancerId("wc1", "wc1"),
        effect: { kind: "answer", status: 403, body: denied } as const,
      },
    ].map(({ path, effect }) => simulator.addFault({ match: { method: "GET", path }, effect }));
    const one = await makeCluster(world, "wc1", { links: [link()] });
    const ten = await makeCluster(world, "wc10", { links: [link()] });
    await reported(world, one, links, "False NotRealised");
    await reported(world, ten, links, "True Realised");
    for (const fault of faults) simulator.faults.remove(fault);
    await reported(world, one, links, "True Realised");
  });

  test("at rest nothing is written, and a cluster costs two lists in five minutes", async () => {
    const world = await startPrivateLinks(start);
    const clusters = ["a1", "a10", "a2"];
    const service = theirService(world, "gate", [subscription]);
    for (const [n, name] of clusters.entries()) {
      inAzure(world, name, name, 20 + n);
      const shape = { links: [link()], endpoints: [endpoint(service)] };
      const made = await makeCluster(world, name, shape);
      await reported(world, made, links, "True Realised");
      await reported(world, made, endpoints, "True Realised");
    }
    await world.advance(10 * 60_000);
    await world.mark();
    await world.advance(60 * 60_000);
    expect(writes(world)).toEqual([]);
    expect(await world.kubeWrites()).toEqual([]);
    expect(world.armRequests().length).toBeLessThanOrEqual(3 * 2 * 14);
  });
});
