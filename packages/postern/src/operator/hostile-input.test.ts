import { parseCidr } from "@postern/core/cidr.ts";
import { realClock } from "@postern/core/clock.ts";
import { withConditions } from "@postern/core/conditions.ts";
import { isIp } from "@postern/core/ip.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { matchesLabels } from "@postern/core/label-selector.ts";
import { ownership } from "@postern/core/ownership.ts";
import { paused } from "@postern/core/pause.ts";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { allowsHost, defaultPolicy } from "@postern/core/tenant-policy.ts";
import { describe, expect, test } from "vitest";
import { readErrorBody } from "../azure/error-body.ts";
import { AzureError } from "../azure/errors.ts";
import type { PrivateEndpoint } from "../azure/gateways/private-endpoints.ts";
import { retryAfterMs } from "../azure/retry-after.ts";
import { scrub } from "../azure/scrub.ts";
import { allows } from "../cluster-api/allowed-namespaces.ts";
import { namesOf } from "../cluster-api/dns/addresses/workload-services.ts";
import { factsOf } from "../cluster-api/endpoints/spec/facts.ts";
import { GroupClaims } from "../cluster-api/group-claims.ts";
import { annotations as capiAnnotations } from "../cluster-api/names.ts";
import { desiredEndpoints } from "../cluster-api/private-links/spec/desired-endpoints.ts";
import { desiredLinks } from "../cluster-api/private-links/spec/desired-links.ts";
import { privateLinksOf } from "../cluster-api/requested-links.ts";
import { refusalOf } from "../cluster-api/tenancy.ts";
import { choicesOf } from "../hosted/endpoint/cluster/facts.ts";
import { allowedSubscriptions } from "../hosted/link/service/desired.ts";
import { annotations as hostedAnnotations } from "../hosted/names.ts";
import { Journal } from "../kube/journal.ts";
import { withoutManagedFields } from "../kube/lines.ts";
import { boundedLabel } from "../kube/metrics.ts";
import { statusChange, versionIn } from "../kube/status.ts";
import { fleetOf } from "../server/fleet.ts";
import { indexOf } from "../view/index-of.ts";
import type { World } from "../view/world.ts";

/** What the API server takes: all annotations of an object together, and an object. */
const annotationBytes = 262_144;
const largest = { annotationBytes, objectBytes: 1_500_000, count: 10_000 };
const smaller = { annotationBytes: 65_536, objectBytes: 375_000, count: 2_500 };

/** A unit over and over, each time with its number in the place of `#`, up to a length. */
function fill(unit: string, length: number): string {
  if (!unit.includes("#")) return unit.repeat(Math.ceil(length / unit.length));
  const parts: string[] = [];
  for (let at = 0, used = 0; used < length; at++) {
    const part = unit.replaceAll("#", String(at));
    parts.push(part);
    used += part.length;
  }
  return parts.join("");
}

const many = (unit: string, length: number): string[] =>
  fill(`${unit},`, length).slice(0, -1).split(",");

const cluster = (over: { annotation?: string; links?: unknown[]; subnets?: unknown[] }) =>
  ({
    metadata: {
      namespace: "a",
      name: "b",
      annotations:
        over.annotation === undefined ? {} : { [capiAnnotations.privateLinks]: over.annotation },
    },
    spec: {
      networkSpec: {
        apiServerLB: { type: "Internal", privateLinks: over.links, frontendIPs: [{ name: "f" }] },
        subnets: over.subnets ?? [{ name: "s" }],
      },
    },
  }) as unknown as AzureCluster;

/** A world in which a cluster requests endpoints to one link service. */
function requesting(names: readonly string[]): { world: World; service: string } {
  const service = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/l/l";
  const privateLinkServiceConnections = [{ privateLinkServiceID: service }];
  const privateEndpoints = names.map((name) => ({ name, privateLinkServiceConnections }));
  const { metadata, spec } = cluster({ subnets: [{ name: "s", privateEndpoints }] });
  const requester = { metadata, spec: { ...spec, subscriptionID: "s" } } as AzureCluster;
  const world = {
    kube: { hostedClusters: [], controlPlanes: [], links: [], azureClusters: [requester] },
    azure: {
      ...{ networks: [], loadBalancers: [], linkServices: [] },
      ...{ endpoints: [], interfaces: [], zones: [] },
    },
    unread: [],
  };
  return { world, service };
}

const link = (over: object) => ({
  name: "l",
  natIPConfigurations: [{ subnet: "s" }],
  lbFrontendIPConfigNames: ["f"],
  ...over,
});

const condition = (type: string, message = "m"): Condition => ({
  type,
  status: "True",
  reason: "R",
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
  observedGeneration: 1,
});

function named(hostname: string, ingress: { ip: string }[]): Service {
  const annotations = {
    "giantswarm.io/external-dns": "managed",
    "external-dns.alpha.kubernetes.io/hostname": hostname,
  };
  return {
    metadata: { name: "s", annotations },
    spec: { type: "LoadBalancer" },
    status: { loadBalancer: { ingress } },
  };
}

const swallow = (act: () => unknown) => () => {
  try {
    act();
  } catch {
    // Refused is as good as read.
  }
};

/** Each with the largest input that a tenant can have in the cluster. */
const attacks: Record<string, (size: typeof largest) => () => unknown> = {
  "a resource id of many segments": ({ objectBytes }) => {
    const id = `/subscriptions/s${fill("/a#", objectBytes)}`;
    return swallow(() => parseResourceId(id));
  },
  "a resource id of many providers": ({ objectBytes }) => {
    const id = `/subscriptions/s${fill("/providers/a/b/c", objectBytes)}`;
    return swallow(() => parseResourceId(id));
  },
  "a CIDR": ({ objectBytes }) => {
    const text = fill("1.", objectBytes);
    return swallow(() => parseCidr(`${text}/1`));
  },
  "an address of groups": ({ objectBytes }) => {
    const text = fill("1:", objectBytes);
    return () => isIp(text) || isIp(`::${text}`);
  },
  "an address of colons": ({ objectBytes }) => {
    const text = fill(":", objectBytes);
    return () => isIp(text);
  },
  "a label selector": ({ objectBytes, count }) => {
    const values = many("v#", objectBytes / 2);
    const matchExpressions = values.map((key) => ({ key, operator: "NotIn", values: [key] }));
    const labels = Object.fromEntries(values.slice(0, count / 2).map((each) => [each, "x"]));
    return () => [
      matchesLabels({ matchExpressions }, labels),
      matchesLabels({ matchExpressions: [{ key: "v0", operator: "In", values }] }, labels),
    ];
  },
  "a list of allowed namespaces": ({ objectBytes }) => {
    const list = many("n#", objectBytes);
    return () => allows({ list }, { name: "other", labels: {} });
  },
  "a time until which it is paused": ({ objectBytes }) => {
    const text = `2026-01-01T00:00:00.${fill("1", objectBytes)}`;
    return () => paused(text, new Date(0));
  },
  "the owner in a tag": ({ objectBytes }) => {
    const tags = { postern_owner: fill("a/", objectBytes) };
    return () => ownership(tags, { clusterID: "a", uid: "b" });
  },
  "conditions of one of our types": ({ count }) => {
    const conditions = [
      ...Array<Condition>(count).fill(condition("A")),
      ...Array<Condition>(count).fill(condition("B")),
    ];
    const object = { metadata: { name: "a" }, status: { conditions } };
    const own = { conditions: ["A", "B"], fields: [] };
    const planned = { conditions: [condition("A"), condition("B")], fields: {} };
    return () => statusChange(object, own, planned, new Date(0), "whole");
  },
  "conditions of other types": ({ count }) => {
    const all = many("T#", count * 20).map((type) => condition(type));
    return () => withConditions(all, [condition("A")], ["A"], new Date(0));
  },
  "a message for a condition": ({ objectBytes }) => {
    const message = fill('{"token":"', objectBytes);
    return () => withConditions([], [condition("A", message)], ["A"], new Date(0));
  },
  "links in an annotation": ({ annotationBytes }) => {
    const object = cluster({
      annotation: JSON.stringify(many("l#", annotationBytes).map((name) => ({ name }))),
    });
    return () => [privateLinksOf(object), desiredLinks(object, undefined)];
  },
  "links in a spec, with many subnets": ({ count }) => {
    const links = many("l#", count * 6).map((name) => link({ name }));
    const subnets = many("s#", count * 20).map((name) => ({ name }));
    const object = cluster({ links, subnets });
    return () => [privateLinksOf(object), desiredLinks(object, undefined)];
  },
  "subscriptions of a link": ({ objectBytes }) => {
    const [allowedSubscriptions, autoApprovedSubscriptions] = [
      many("s#", objectBytes / 2),
      many("s#", objectBytes / 2).reverse(),
    ];
    const object = cluster({ links: [link({ allowedSubscriptions, autoApprovedSubscriptions })] });
    return () => desiredLinks(object, undefined);
  },
  "frontends of a link": ({ objectBytes }) => {
    const names = many("f#", objectBytes / 2);
    const object = cluster({ links: [link({ lbFrontendIPConfigNames: names })] });
    return () => desiredLinks(object, undefined);
  },
  "JSON that is not closed": ({ annotationBytes }) => {
    const object = cluster({ annotation: fill("[", annotationBytes) });
    return () => [privateLinksOf(object), desiredLinks(object, undefined)];
  },
  "JSON that is wrong at its end": ({ annotationBytes }) => {
    const object = cluster({ annotation: `[${fill("#,", annotationBytes)}x]` });
    return () => [privateLinksOf(object), desiredLinks(object, undefined)];
  },
  "endpoints in subnets": ({ objectBytes }) => {
    const privateEndpoints = many("e#", objectBytes / 4).map((name) => ({
      name,
      privateLinkServiceConnections: [{ privateLinkServiceID: fill("/a", 20) }],
    }));
    const object = cluster({ subnets: [{ name: "s", privateEndpoints }] });
    return () => desiredEndpoints(object, undefined);
  },
  "additional networks in an annotation": ({ annotationBytes }) => {
    const annotations = { [hostedAnnotations.networks]: fill("a,", annotationBytes) };
    const belonging = { cluster: { metadata: { name: "a", annotations } } };
    return () => choicesOf(belonging as unknown as Parameters<typeof choicesOf>[0]);
  },
  "additional subscriptions": ({ objectBytes }) => {
    const list = many("s#", objectBytes);
    return () => allowedSubscriptions("g", list);
  },
  "hostnames in an annotation": ({ annotationBytes }) => {
    const all = [named(fill("h#,", annotationBytes), [{ ip: "20.0.0.1" }])];
    return () => namesOf({ ingress: [], gateway: all }, "example.com");
  },
  "addresses of a Service": ({ objectBytes }) => {
    const ingress = many("1.1.1.#", objectBytes).map((ip) => ({ ip }));
    return () => namesOf({ ingress: [], gateway: [named("h", ingress)] }, "example.com");
  },
  "a name that occurs over and over in a step": ({ objectBytes }) => {
    const journal = new Journal();
    journal.begin("p", {
      controller: "c",
      kind: "K",
      key: "a/b",
      do: "d",
      name: "n",
      at: "",
      why: fill("a", objectBytes),
    });
    return () =>
      journal.request("p", { verb: "PUT", thing: "x/a", code: "200", requestId: undefined });
  },
  "a host name": ({ objectBytes }) => {
    const host = fill("a.", objectBytes);
    return () => allowsHost({ domains: ["example.com"] }, host);
  },
  "managed fields": ({ objectBytes }) => {
    const json = `{"metadata":{"managedFields":[${fill('}],"', objectBytes)}`;
    return () => [withoutManagedFields(json), versionIn(json)];
  },
  "a sentence of Azure": ({ objectBytes }) => {
    const filled = fill("secret secret", objectBytes);
    return () => [scrub(filled), new AzureError({ code: "X", what: filled, detail: filled })];
  },
  "an error body of many details": ({ objectBytes }) => {
    const details = many("Code#", objectBytes).map((code) => ({ code, message: "m" }));
    return () => readErrorBody({ error: { code: "BadRequest", details } });
  },
  "endpoints to one link service, in what the dashboard shows": ({ objectBytes }) => {
    const { world, service } = requesting(many("e#", objectBytes / 8));
    return () => indexOf(world).requestedEndpoints(service);
  },
  "endpoints in Azure to one link service, in what the dashboard shows": ({ objectBytes }) => {
    const { world, service } = requesting([]);
    const properties = {
      privateLinkServiceConnections: [{ properties: { privateLinkServiceId: service } }],
    };
    const endpoints = many("e#", objectBytes / 8).map((id) => ({ id, properties }));
    const azure = { ...world.azure, endpoints: endpoints as unknown as PrivateEndpoint[] };
    return () => indexOf({ ...world, azure });
  },
  "names of one identity, in what the dashboard shows": ({ objectBytes }) => {
    const roles = many("r#", objectBytes / 8).map((role) => [role, { clientId: "c" }]);
    const azureAuthenticationConfig = Object.fromEntries(roles);
    const hosted = {
      metadata: { namespace: "a", name: "b" },
      spec: { platform: { azure: { azureAuthenticationConfig } } },
    } as unknown as HostedCluster;
    const kube = { hostedClusters: [hosted], controlPlanes: [], links: [], azureClusters: [] };
    const [journal, clock] = [new Journal(), realClock];
    const operator = { state: "leads" } as const;
    return () => fleetOf({ operator, runtime: undefined, journal, budgets: [], kube, clock });
  },
  "a header": ({ objectBytes }) => {
    const text = fill("1", objectBytes);
    return () => retryAfterMs(text, Date.now());
  },
};

/** What it costs once, in milliseconds of this thread's CPU: other load does not count. */
function costOf(prepare: (size: typeof largest) => () => unknown, size: typeof largest): number {
  const attack = prepare(size);
  const before = process.threadCpuUsage();
  attack();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

describe("one tenant stalls everybody", () => {
  test.each(Object.entries(attacks))("by %s", (_what, prepare) => {
    const cost = costOf(prepare, largest);
    expect(cost).toBeLessThan(2_000);
    if (cost < 50) return;
    // Four times as long costs four times as much; what is quadratic costs sixteen times as much. The collector and a busy
    // machine add to single runs, so the cheapest of each size count, and more runs settle what is in doubt.
    let whole = Number.POSITIVE_INFINITY;
    let quarter = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 3 || (run < 12 && whole / quarter >= 9); run++) {
      whole = Math.min(whole, costOf(prepare, largest));
      quarter = Math.min(quarter, costOf(prepare, smaller));
    }
    expect(whole / quarter).toBeLessThan(9);
  });

  test("by the links of many AzureClusters, in every reconcile of the management cluster", () => {
    let read = 0;
    const annotation = JSON.stringify(many("l#", 10_000).map((name) => ({ name })));
    const all = Array.from({ length: 200 }, () => {
      const object = cluster({});
      Object.defineProperty(object.metadata.annotations, capiAnnotations.privateLinks, {
        get: () => {
          read++;
          return annotation;
        },
      });
      return object;
    });
    const facts = {
      policy: defaultPolicy,
      identity: [],
      claimsOn: () => [],
      management: undefined,
    };
    for (let reconcile = 0; reconcile < 10; reconcile++)
      for (const object of all) {
        refusalOf({ ...facts, cluster: object });
        factsOf(object, undefined);
      }
    expect(read).toBe(all.length);
  });
});

describe("one tenant has thousands of AzureClusters in one resource group", () => {
  /** How many claims are looked at when all clusters of a tenant and one of another are reconciled, each after a change. */
  const claimsFor = (count: number) => {
    let read = 0;
    const claims = new GroupClaims();
    const clusters = Array.from({ length: count }, (_, n) => {
      const creationTimestamp = new Date(n * 1_000).toISOString();
      const metadata = { namespace: n === 0 ? "other" : "a", name: `c${n}`, creationTimestamp };
      const spec = { subscriptionID: "s", resourceGroup: "g" };
      return { metadata, spec } as unknown as AzureCluster;
    });
    for (const after of clusters) claims.follow({ before: undefined, after });
    const claimsOn = (key: string) => {
      const found = claims.of(key);
      read += found.length;
      return found;
    };
    const facts = { policy: defaultPolicy, identity: [], management: undefined, claimsOn };
    const refused = clusters.filter((cluster) => {
      claims.follow({ before: cluster, after: cluster });
      return refusalOf({ ...facts, cluster }) !== undefined;
    });
    expect(refused.length).toBe(count - 1);
    return read;
  };

  test("and each of its reconciles costs the same, however many there are", () => {
    expect(claimsFor(8_000)).toBe(4 * claimsFor(2_000));
  });
});

describe("one tenant fills the memory", () => {
  test("by values of a label", () => {
    const label = boundedLabel(100);
    const shown = new Set(many("s#", 100_000).map(label));
    expect(shown.size).toBe(101);
    expect(label("s5")).toBe("s5");
    expect(boundedLabel(100)("x".repeat(1_000))).toBe("other");
  });

  test("by the names of what is done for it", () => {
    const journal = new Journal();
    const given = { controller: "c", kind: "K", key: "a/b", at: "" };
    const step = journal.begin("p", {
      ...given,
      do: "x".repeat(1e6),
      name: "n".repeat(1e6),
      why: "y".repeat(1e6),
    });
    journal.end(step, "failed", "z".repeat(1e6));
    expect(JSON.stringify(journal.steps()).length).toBeLessThan(5_000);
  });

  test("by hostnames of its Services", () => {
    const gateway = [named(fill("h#,", annotationBytes), [{ ip: "20.0.0.1" }])];
    expect(namesOf({ ingress: [], gateway }, "example.com")).toHaveLength(100);
  });

  test("by the name of what cannot be written", () => {
    const error = new AzureError({ code: "X", what: `write ${"x".repeat(1e6)}` });
    expect(error.message.length).toBeLessThan(2_000);
  });
});
