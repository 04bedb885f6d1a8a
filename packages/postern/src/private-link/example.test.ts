import { readFileSync } from "node:fs";
import { conditionOf } from "@postern/core/conditions.ts";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import { isOwnedBy, type OwnerKey, ownerKey, ownerTag } from "@postern/core/ownership.ts";
import { nameOf, parseResourceId, type ResourceId } from "@postern/core/resource-id.ts";
import { expect, test } from "vitest";
import type { ArmClient } from "../azure/arm.ts";
import type { Observation } from "../azure/gateway.ts";
import {
  type PrivateLinkService,
  privateLinkServices,
} from "../azure/gateways/private-link-services.ts";
import { staleReadsMs } from "../azure/read-cache.ts";
import { defineFeature, type Plan } from "../kube/feature.ts";
import { conditionFor, done, fail, type Part, requeueOf, wait, waits } from "../kube/part.ts";
import type { Reconcile } from "../kube/reconcile.ts";
import type { MakeFeature, Parts } from "../kube/runtime.ts";
import { applyLinkServiceStep } from "./link-service/apply.ts";
import { type DesiredLinkService, newLinkService } from "./link-service/desired.ts";
import { planCreateLinkService, planExistingLinkService } from "./link-service/plan.ts";
import { planDeleteLinkService } from "./link-service/plan-delete.ts";
import type { LinkServicePolicy } from "./link-service/policy.ts";
import type { LinkServiceStep } from "./link-service/steps.ts";
import { planChanging } from "./plan-resource.ts";
import { commonMessages, describeAll } from "./policy.ts";

/*
 * The worked example of ARCHITECTURE.md: a source of private links whose kind, PrivateGateway, does not exist. In a feature
 * each part is a file of its own, which its heading names.
 */

// The kind: packages/core/src/kinds/private-gateway.ts. It is cluster-wide: who names a frontend must be an administrator.

interface PrivateGateway extends KubeObject {
  spec: { location: string; frontend: string; natSubnet: string; allow: string[] };
  status?: { conditions?: Condition[] };
}

const privateGateway: Kind<PrivateGateway> = {
  group: "postern.io",
  version: "v1alpha1",
  kind: "PrivateGateway",
  plural: "privategateways",
  namespaced: false,
};

// reasons.ts

const ready = "LinkServiceReady";

const reasons = {
  ready: "Ready",
  creating: "Creating",
  updating: "Updating",
  replacing: "Replacing",
  deleting: "Deleting",
  creationFailed: "CreationFailed",
  updateFailed: "UpdateFailed",
  deletionFailed: "DeletionFailed",
  ownedByAnother: "OwnedByAnother",
  foreignEndpoints: "ForeignEndpointsConnected",
} as const;

// policy.ts

const policy: LinkServicePolicy = {
  messages: commonMessages({
    noun: "link service",
    created: "created",
    replaced: "is being recreated",
  }),
  steps: {
    create: "create link service",
    change: "update link service",
    delete: "delete link service",
  },
  reasons: {
    create: reasons.creating,
    change: reasons.updating,
    replace: reasons.replacing,
    delete: reasons.deleting,
    failed: {
      create: reasons.creationFailed,
      change: reasons.updateFailed,
      delete: reasons.deletionFailed,
    },
  },
  describe: describeAll({
    frontends: "it has another load balancer frontend",
    region: "it is in another region",
    natSubnet: "it has another NAT subnet",
    natAddresses: "it has other NAT addresses",
    visibility: "it is visible to other subscriptions",
    autoApproval: "it approves other subscriptions",
    speaksProxyProtocol: "it uses the proxy protocol",
    lacksProxyProtocol: "it does not use the proxy protocol",
    tags: "it has other tags",
  }),
  whyReplaced: (differences) => differences,
  deletion: {
    policy: "refuse",
    isOwn: () => false,
    tenantMs: 0,
    refused: reasons.foreignEndpoints,
    refusal: (name, connected) =>
      `link service ${name} has connections · ${connected.join(", ")} · ask their owners to delete these endpoints`,
    message: (name, why) => `link service ${name} is being deleted · ${why} · nothing to do`,
  },
};

// observed.ts

interface Observed {
  isDeleting: boolean;
  owner: OwnerKey;
  desired: DesiredLinkService;
  service: Observation<PrivateLinkService>;
  conditions: readonly Condition[];
}

// observe.ts

async function observe(
  { metadata, spec, status }: PrivateGateway,
  arm: ArmClient,
  group: ResourceId,
): Promise<Observed> {
  const type = "Microsoft.Network/privateLinkServices";
  const id = parseResourceId(`${group}/providers/${type}/gateway-${metadata.name}`, type);
  const owner = ownerKey("private-gateway", metadata.uid ?? "");
  return {
    isDeleting: metadata.deletionTimestamp !== undefined,
    owner,
    desired: {
      id,
      location: spec.location,
      tags: { [ownerTag]: owner },
      frontends: [spec.frontend],
      nat: [{ name: "nat", subnet: spec.natSubnet }],
      allowed: spec.allow,
      autoApproved: spec.allow,
      proxyProtocol: false,
    },
    service: await privateLinkServices(arm).observe(id),
    conditions: status?.conditions ?? [],
  };
}

// plan.ts

function plan(observed: Observed): Plan<LinkServiceStep> {
  if (observed.isDeleting) return planDelete(observed);
  const part = planService(observed);
  const message = `link service ${nameOf(observed.desired.id)} is ready`;
  const present = conditionOf(observed.conditions, ready);
  return {
    steps: part.steps,
    conditions: [conditionFor(ready, part, present, { reason: reasons.ready, message })],
    finalizer: "add",
    requeue: requeueOf(part),
  };
}

function planService({ desired, owner, service }: Observed): Part<LinkServiceStep> {
  switch (service.state) {
    case "failed":
      return fail(service.failure, reasons.creationFailed);
    case "changing":
      return planChanging(nameOf(desired.id), service, policy);
    case "absent":
      return planCreateLinkService(desired, "it does not exist", policy);
    case "exists":
      if (isOwnedBy(service.resource.tags, owner))
        return planExistingLinkService(service.resource, desired, policy);
      return wait({ reason: reasons.ownedByAnother, message: foreign(desired) }, waits.changeMs);
  }
}

function foreign({ id }: DesiredLinkService): string {
  return `link service ${nameOf(id)} has another owner · it is not changed · choose another name`;
}

// plan-delete.ts

function planDelete(observed: Observed): Plan<LinkServiceStep> {
  const part = planDeletion(observed);
  const [problem] = part.problems;
  if (problem === undefined)
    return { steps: [], conditions: [], finalizer: "remove", requeue: "never" };
  const { reason, message } = problem;
  return {
    steps: part.steps,
    conditions: [{ type: ready, status: "False", reason, message }],
    requeue: requeueOf(part),
  };
}

const why = "its gateway is being deleted";

function planDeletion({ desired: { id }, owner, service }: Observed): Part<LinkServiceStep> {
  switch (service.state) {
    case "failed":
      return fail(service.failure, reasons.deletionFailed);
    case "changing": {
      const message = policy.deletion.message(nameOf(id), why);
      return wait({ reason: reasons.deleting, message, progress: true }, service.retryAfterMs);
    }
    case "absent":
      return done;
    case "exists": {
      const { resource: found } = service;
      return isOwnedBy(found.tags, owner)
        ? planDeleteLinkService({ id, found, why }, policy)
        : done;
    }
  }
}

// feature.ts; steps.ts and apply.ts only pass on what private-link/link-service has

function privateGatewayFeature(given: {
  armClients: { management(reconcile: Reconcile): ArmClient };
  managementGroup: ResourceId;
}): MakeFeature {
  return () => ({
    feature: defineFeature({
      name: "private-gateway",
      kind: privateGateway,
      finalizer: "postern.io/private-gateway",
      staleReadsMs,
      conditions: [ready],
      observe: async (object: PrivateGateway, reconcile) => {
        const arm = given.armClients.management(reconcile);
        return { observed: await observe(object, arm, given.managementGroup), context: arm };
      },
      plan,
      apply: (step, arm) => applyLinkServiceStep(step, arm),
    }),
  });
}

// plan.test.ts

const network = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";
const friend = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const owner = ownerKey("private-gateway", "uid-1");

const desired: DesiredLinkService = {
  id: parseResourceId(
    `${network}/privateLinkServices/gateway-one`,
    "Microsoft.Network/privateLinkServices",
  ),
  location: "westeurope",
  tags: { [ownerTag]: owner },
  frontends: [`${network}/loadBalancers/lb/frontendIPConfigurations/fe`],
  nat: [{ name: "nat", subnet: `${network}/virtualNetworks/v/subnets/nat` }],
  allowed: [friend],
  autoApproved: [friend],
  proxyProtocol: false,
};

/** What Azure answers for a link service that is as desired. */
function created(over: Partial<PrivateLinkService["properties"]> = {}): PrivateLinkService {
  const { properties, ...top } = newLinkService(desired);
  return {
    ...top,
    etag: "1",
    properties: { ...properties, provisioningState: "Succeeded", ...over },
  };
}

/** The plan as the controller asks for it. */
function planned(over: Partial<Observed>): Plan {
  const armClients = {
    management: (): ArmClient => {
      throw new Error("a plan reads nothing");
    },
  };
  const managementGroup = "/subscriptions/s/resourceGroups/g" as ResourceId;
  const { feature } = privateGatewayFeature({ armClients, managementGroup })({} as Parts);
  const observed: Observed = {
    isDeleting: false,
    owner,
    desired,
    service: { state: "absent" },
    conditions: [],
    ...over,
  };
  return feature.plan(observed);
}

function brief({ steps, conditions }: Plan) {
  return [
    ...steps.map((step) => step.do),
    ...conditions.map(({ status, reason }) => `${status} ${reason}`),
  ];
}

test("example: a link service that does not exist is created, and the finalizer is added first", () => {
  const made = planned({});
  expect(brief(made)).toEqual(["create link service", "False Creating"]);
  expect(made).toMatchObject({
    finalizer: "add",
    steps: [{ on: "link service", verb: "create", id: desired.id, body: newLinkService(desired) }],
  });
});

test("example: a link service that is as desired needs no step", () => {
  const made = planned({ service: { state: "exists", resource: created() } });
  expect(brief(made)).toEqual(["True Ready"]);
  expect(made.requeue).toBe("drift");
});

test("example: a link service that differs is updated with its etag, and True stays True", () => {
  const resource = created({ visibility: { subscriptions: [] } });
  const before: Condition = {
    type: ready,
    status: "True",
    reason: reasons.ready,
    message: "link service gateway-one is ready",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const made = planned({ service: { state: "exists", resource }, conditions: [before] });
  expect(brief(made)).toEqual(["update link service", "True Ready"]);
  expect(made.steps).toMatchObject([{ etag: "1", why: "it is visible to other subscriptions" }]);
});

test.each([false, true])("example: another's link service gets no step; deleting: %s", (gone) => {
  const resource = { ...created(), tags: { [ownerTag]: "private-gateway/uid-2" } };
  const made = planned({ service: { state: "exists", resource }, isDeleting: gone });
  expect(brief(made)).toEqual(gone ? [] : ["False OwnedByAnother"]);
  expect(made.finalizer).toBe(gone ? "remove" : "add");
});

test("example: a deletion deletes the link service, waits, and then removes the finalizer", () => {
  const isDeleting = true;
  const present = planned({ isDeleting, service: { state: "exists", resource: created() } });
  expect(brief(present)).toEqual(["delete link service", "False Deleting"]);
  const pending = planned({ isDeleting, service: { state: "changing", retryAfterMs: 7_000 } });
  expect(brief(pending)).toEqual(["False Deleting"]);
  expect(pending).toMatchObject({ requeue: { afterMs: 7_000 } });
  expect(pending.finalizer).toBeUndefined();
  expect(planned({ isDeleting })).toMatchObject({ steps: [], finalizer: "remove" });
});

test("example: ARCHITECTURE.md quotes this file", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  const quotes = [...read("../../../../ARCHITECTURE.md").matchAll(/^```ts\n(.*?)^```/gms)];
  expect(quotes.length).toBeGreaterThan(0);
  const source = read("./example.test.ts");
  for (const [, quote = ""] of quotes) expect(source).toContain(quote);
});
