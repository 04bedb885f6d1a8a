import { isDeepStrictEqual } from "node:util";
import { leftTag, withoutClaim } from "@postern/core/claims.ts";
import { idKey } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import {
  AzureModel,
  clusterID,
  clusterNetwork,
  group,
  nowAfter,
  observed,
  otherID,
  spec,
} from "../../../../../test/hosted/azure-model.ts";
import {
  base,
  internal,
  oauth,
  short,
  sibling,
} from "../../../../../test/hosted/endpoint-worlds.ts";
import { planTwice } from "../../../../../test/setup/plan-twice.ts";
import { fc } from "../../../../../test/setup/random.ts";
import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import { privateZoneIn } from "../../private-dns/zone/observed.ts";
import { addressesOf, stateOf } from "../../private-link/endpoint/observed.ts";
import { conditions } from "../names.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";
import type { EndpointStep } from "./steps.ts";

/** ClaimedBy something is before we come. */
const claimedBy = fc.constantFrom("nobody", "another", "ours" as const);
type ClaimedBy = "nobody" | "another" | "ours";

const claims = (who: ClaimedBy): Record<string, string> =>
  who === "ours"
    ? { [`postern_user_${clusterID}`]: "plane-uid" }
    : who === "another"
      ? { [`postern_user_${otherID}`]: "their-plane" }
      : {};

const owned = (who: ClaimedBy, uid = "link-uid"): Record<string, string> =>
  who === "ours"
    ? { postern_owner: `${clusterID}/${uid}` }
    : who === "another"
      ? { postern_owner: `${otherID}/their-link` }
      : { note: "by hand" };

const hostZone = (host: string) => privateZoneIn(group, `${host}.example.com`);

/** Something that may exist in the subscription already: zones, links, records and endpoints of anybody. */
const found = fc.record({
  endpoint: fc.option(
    fc.record({
      who: claimedBy,
      state: fc.constantFrom("Approved", "Pending", "Disconnected", ""),
    }),
  ),
  longEndpoint: fc.option(claimedBy),
  internal: fc.option(claimedBy),
  base: fc.option(fc.uniqueArray(claimedBy, { maxLength: 3 })),
  link: fc.option(fc.record({ who: claimedBy, linked: fc.boolean(), shipped: fc.boolean() })),
  records: fc.uniqueArray(
    fc.record({
      who: claimedBy,
      name: fc.constantFrom("api-one", "oauth-one", "api-two", "www"),
      address: fc.constantFrom("192.168.0.4", "10.0.0.1"),
    }),
    { selector: ({ name }) => name, maxLength: 4 },
  ),
  hosts: fc.uniqueArray(
    fc.record({ who: claimedBy, host: fc.constantFrom("api-one", "oauth-one") }),
    {
      selector: ({ host }) => host,
    },
  ),
});
type Found = typeof found extends fc.Arbitrary<infer T> ? T : never;

function azureWith(has: Found): AzureModel {
  const azure = new AzureModel();
  const endpoint = (who: ClaimedBy, state: string): PrivateEndpoint => ({
    tags: owned(who),
    properties: {
      subnet: { id: `${clusterNetwork}/subnets/workers` },
      manualPrivateLinkServiceConnections: [
        {
          properties: {
            privateLinkServiceId: "pls.0.westeurope.azure.privatelinkservice",
            privateLinkServiceConnectionState: { status: state } as never,
          },
        },
      ],
      customDnsConfigs: [{ ipAddresses: ["192.168.0.7"] }],
    },
  });
  if (has.endpoint) azure.set(short, endpoint(has.endpoint.who, has.endpoint.state));
  if (has.longEndpoint) azure.set(`${short}-${clusterID}`, endpoint(has.longEndpoint, "Approved"));
  if (has.internal) azure.set(internal, { tags: claims(has.internal), properties: {} });
  for (const { who, host } of has.hosts) {
    const zone = hostZone(host);
    azure.set(zone, { tags: claims(who), properties: {} });
    azure.set(`${zone}/A/@`, {
      properties: { ttl: 300, metadata: owned(who), aRecords: [{ ipv4Address: "10.0.0.1" }] },
    });
  }
  if (!has.base) return azure;
  azure.set(base, { tags: Object.assign({}, ...has.base.map(claims)), properties: {} });
  if (has.link) {
    const name = has.link.shipped ? "private-router-basedomain-vnet-link" : "by-hand";
    const network = has.link.linked ? clusterNetwork : clusterNetwork.replace(/guest$/, "theirs");
    azure.set(`${base}/virtualNetworkLinks/${name}`, {
      tags: claims(has.link.who),
      properties: { virtualNetwork: { id: network } },
    });
  }
  for (const { who, name, address } of has.records)
    azure.set(`${base}/A/${name}`, {
      properties: { ttl: 300, metadata: owned(who), aRecords: [{ ipv4Address: address }] },
    });
  return azure;
}

/** How the cluster is: its mode, its sibling, what the link side says, what new endpoints become. */
const desired = fc.record({
  zones: fc.constantFrom("managed", "managed", "none" as const),
  baseDomain: fc.boolean(),
  /** Whether the base domain lies above the cluster's own, which gives each hostname a zone. */
  isAbove: fc.boolean(),
  isOAuth: fc.boolean(),
  siblings: fc.constantFrom("none", "waiting", "ready", "going" as const),
  alias: fc.boolean(),
  link: fc.constantFrom("True", "False" as const),
  newState: fc.constantFrom("Approved", "Approved", "Pending"),
  addresses: fc.constantFrom(["192.168.0.4"], ["192.168.0.4", "fd00::4"], []),
});
type Wanted = typeof desired extends fc.Arbitrary<infer T> ? T : never;

function worldWith(is: Wanted): Observed {
  const like = is.isOAuth ? oauth() : observed();
  const { baseDomain: _, ...without } = spec();
  const baseZone = is.isAbove ? hostZone(is.isOAuth ? "api-one" : "oauth-one") : base;
  const other = is.isOAuth ? { name: "private-router", uid: "link-uid", baseZone } : { baseZone };
  const lives = is.siblings !== "going";
  const siblings =
    is.siblings === "none"
      ? []
      : [sibling({ ...other, lives, uses: lives, ready: is.siblings === "ready" })];
  return {
    ...like,
    cluster: like.cluster && { ...like.cluster, ...(is.isAbove && { domain: "example.com" }) },
    object: { ...like.object, spec: is.baseDomain ? spec() : without },
    choices: { ...like.choices, zones: is.zones },
    siblings,
    link: {
      ...like.link,
      alias: is.alias ? like.link.alias : undefined,
      condition: { status: is.link, reason: "X", message: "x" },
    },
  };
}

/** Plan and do until it is at rest; every step is handed to `watch` first. */
function settle(
  azure: AzureModel,
  world: Observed,
  watch: (step: EndpointStep) => void = () => {},
) {
  let now = world;
  for (let reconciles = 0; reconciles < 12; reconciles++) {
    const planned = plan(azure.observed(now));
    const ids = planned.steps.flatMap((step) => ("id" in step ? [idKey(step.id)] : []));
    expect(new Set(ids).size, "two steps write one resource").toBe(ids.length);
    for (const step of planned.steps) {
      watch(step);
      azure.apply(step);
    }
    const before = now;
    now = nowAfter(now, planned);
    // A status that has just changed counts in the next drift check: a zone that is published makes its untagged link ours.
    const isAtRest = isDeepStrictEqual(before, now) || planned.finalizer === "remove";
    if (planned.steps.length === 0 && isAtRest) return { now, planned };
  }
  throw new Error("it does not come to rest");
}

/** What we have in a base domain's zone we have for a link that has a base domain. */
const fitting = (has: Found, is: Wanted): Found =>
  is.baseDomain
    ? { ...has, hosts: is.isAbove ? has.hosts : [] }
    : {
        ...has,
        hosts: [],
        base: has.base?.filter((who) => who !== "ours") ?? null,
        link: null,
        records: [],
      };

const prepared = (has: Found, is: Wanted) => {
  const azure = azureWith(fitting(has, is));
  azure.state = is.newState;
  azure.addresses = [...is.addresses];
  return { azure, world: worldWith(is) };
};

/** The tags of something that others share with us, without what we have put there. */
function withoutOwnTags(tags: Record<string, string>): Record<string, string> {
  const { [leftTag]: _, ...others } = withoutClaim(tags, { clusterID, uid: "" });
  return others;
}

/** What is not ours before we begin: everything that lacks our owner and our claim. */
function foreign(azure: AzureModel): Map<string, string> {
  const all = new Map<string, string>();
  for (const [id, { tags, properties }] of azure.resources) {
    const { metadata } = properties as { metadata?: Record<string, string> };
    const marks = JSON.stringify([tags, metadata]);
    if (!marks.includes(clusterID)) all.set(id, JSON.stringify([tags, properties]));
  }
  return all;
}

describe("whatever is in the subscription", () => {
  test("a link settles, and then nothing is planned any more (law 1)", () => {
    fc.assert(
      fc.property(found, desired, (has, is) => {
        const { azure, world } = prepared(has, is);
        const { now } = settle(azure, world);
        const requeue = plan(azure.observed(now));
        expect(requeue.steps).toEqual([]);
        expect(nowAfter(now, requeue)).toEqual(now);
      }),
      { numRuns: 150 },
    );
  });

  test("nothing of ours is left after the end, however far it had come (law 2)", () => {
    fc.assert(
      fc.property(found, desired, fc.nat(4), (has, is, reconciles) => {
        const { azure, world } = prepared(has, is);
        let now = world;
        for (let reconcile = 0; reconcile < reconciles; reconcile++) {
          const planned = plan(azure.observed(now));
          for (const step of planned.steps) azure.apply(step);
          // The process may die before the status is written.
          if (reconcile % 2 === 0) now = nowAfter(now, planned);
        }
        const siblings = now.siblings.map((each) => ({ ...each, lives: false, uses: false }));
        const others = [...azure.resources.values()].filter(
          ({ properties }) =>
            (properties as { metadata?: { postern_owner?: string } }).metadata?.postern_owner ===
            `${clusterID}/${now.self.uid === "link-uid" ? "oauth-uid" : "link-uid"}`,
        );
        const { planned } = settle(azure, { ...now, siblings, deletion: "control plane" });
        expect(planned.requeue === "never" ? planned.finalizer : "remove").toBe("remove");
        if (others.length > 0) return;
        const left = [...azure.resources].filter(([id, { tags, properties }]) => {
          // A zone that others have put something into remains, and says who used it last.
          const { [leftTag]: _, ...others } = tags ?? {};
          const marks = JSON.stringify([others, properties]);
          // The router's own are not those of the other link.
          const routers =
            now.self.uid === "oauth-uid" &&
            (id.includes("hypershift.local") || marks.includes("link-uid"));
          return marks.includes(clusterID) && !routers;
        });
        expect(left).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test("nothing of anybody else's is changed or deleted (law 3)", () => {
    fc.assert(
      fc.property(found, desired, (has, is) => {
        const { azure, world } = prepared(has, is);
        const before = foreign(azure);
        const { now } = settle(azure, world);
        settle(azure, { ...now, deletion: "object" });
        // Under our name, to our network, in our zone: owned, although somebody has replaced its claims.
        const lost =
          has.link?.who === "nobody" &&
          has.link.linked &&
          has.link.shipped &&
          has.base?.includes("ours");
        // Under our name, in a zone that our cluster alone claims: owned, modified by somebody.
        const modified =
          has.base?.includes("ours") && !has.base.includes("another")
            ? [`${base}/A/api-one`, `${base}/A/oauth-one`]
            : [];
        for (const [id, was] of before) {
          if (lost && id.includes("/virtualnetworklinks/")) continue;
          if (modified.some((each) => idKey(each) === id) && !was.includes(otherID)) continue;
          const left = azure.resources.get(id);
          // The claim of a cluster that has another link is its own.
          const tags = left?.tags && withoutOwnTags(left.tags);
          expect(left && JSON.stringify([tags, left.properties]), id).toBe(was);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("available is True only if a client in the network of the hosted cluster could connect (law 5)", () => {
    fc.assert(
      fc.property(found, desired, (has, is) => {
        const { azure, world } = prepared(has, is);
        let now = world;
        for (let reconciles = 0; reconciles < 12; reconciles++) {
          const observation = azure.observed(now);
          const planned = planTwice(plan, observation);
          const available = planned.conditions.find(({ type }) => type === conditions.available);
          if (available?.status === "True") expect(reachable(azure, observation)).toBe(true);
          for (const step of planned.steps) azure.apply(step);
          now = nowAfter(now, planned);
        }
      }),
      { numRuns: 150 },
    );
  });
});

/** Whether a client would come through: by what is in Azure, not by what anybody says. */
function reachable(
  azure: AzureModel,
  { link, status, object, choices, cluster }: Observed,
): boolean {
  if (link.condition?.status !== "True") return false;
  const endpoint = [short, `${short}-${clusterID}`]
    .map((id) => id.replace("private-router", object.name))
    .map((id) => azure.at<PrivateEndpoint>(id))
    .find(
      (each) =>
        each?.tags?.postern_owner ===
        `${clusterID}/${object.name === "private-router" ? "link" : "oauth"}-uid`,
    );
  if (!endpoint || stateOf(endpoint) !== "approved") return false;
  const [address] = addressesOf(endpoint);
  if (address === undefined) return false;
  if (choices.zones === "none") return true;
  const leads = (zone: string, name: string) => {
    const linked = azure
      .below(zone)
      .some((id) => JSON.stringify(azure.at(id)?.properties).includes(`${clusterNetwork}"`));
    const record = azure.at(`${zone}/A/${name}`)?.properties as { aRecords?: unknown } | undefined;
    return linked && JSON.stringify(record?.aRecords ?? "").includes(address);
  };
  const resolves = (host: string) =>
    cluster?.domain === "example.com" ? leads(hostZone(host), "@") : leads(base, host);
  if (object.name !== "private-router")
    return object.spec.baseDomain !== undefined && resolves("oauth-one");
  const names = leads(privateZoneIn(group, "one.hypershift.local"), "api");
  return (
    names && (object.spec.baseDomain === undefined || resolves("api-one") || status === undefined)
  );
}
