import type { AzureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import type { ProviderConfig } from "@postern/core/kinds/provider-config.ts";
import type { TenantRules } from "@postern/core/tenant-policy.ts";
import { describe, expect, test } from "vitest";
import { annotations } from "../names.ts";
import { allowedOf, type Desired, desiredOf, type Source } from "./desired/desired.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";
import { reasons } from "./reasons.ts";

const ids = { clientID: "client", subscriptionID: "sub", tenantID: "tenant" };
const spec = { credentials: { source: "UserAssignedManagedIdentity" }, ...ids } as const;
const desired: Desired = { state: "config", spec };

function config(madeFor?: string, over: object = {}, metadata: object = {}): ProviderConfig {
  const annotated = madeFor && { annotations: { [annotations.madeFor]: madeFor } };
  return {
    metadata: { name: "wc", ...annotated, ...metadata },
    spec: { ...spec, ...over },
  } as ProviderConfig;
}

function observed(over: Partial<Observed> = {}): Observed {
  return {
    cluster: { metadata: { namespace: "org", name: "wc" } },
    deleting: false,
    paused: false,
    hasFinalizer: true,
    served: true,
    found: config("org/wc"),
    isByUs: true,
    ownerIsThere: true,
    rival: undefined,
    desired,
    ...over,
  };
}

const rival = (isOlder: boolean) => ({ key: "other/wc", isOlder });
const beingDeleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };

describe("a live Cluster", () => {
  test.each<[string, Partial<Observed>, string[], string | undefined, string[]]>([
    ["that has what it needs is left alone", {}, [], "add", []],
    [
      "without one gets it",
      { found: undefined, hasFinalizer: false },
      ["create ProviderConfig"],
      "add",
      [],
    ],
    [
      "gets it put right where somebody changed it",
      { found: config("org/wc", { clientID: "x" }) },
      ["update ProviderConfig"],
      "add",
      [],
    ],
    [
      "gets it put right where something was added",
      { found: config("org/wc", { environment: "china" }) },
      ["update ProviderConfig"],
      "add",
      [],
    ],
    ["waits while its own is going", { found: config("org/wc", {}, beingDeleted) }, [], "add", []],
    [
      "is told that another of its name has it, and touches nothing (two namespaces)",
      { found: config("other/wc"), hasFinalizer: false },
      [],
      undefined,
      [reasons.taken],
    ],
    [
      "takes over what a Cluster left that is no more",
      { found: config("other/wc"), hasFinalizer: false, ownerIsThere: false },
      ["update ProviderConfig"],
      "add",
      [],
    ],
    [
      "is told of one without a mark, and touches nothing",
      { found: config(), hasFinalizer: false },
      [],
      undefined,
      [reasons.ownedByAnother],
    ],
    [
      "takes over what the operator before us made for it",
      { found: config() },
      ["update ProviderConfig"],
      "add",
      [],
    ],
    [
      "takes it over before a younger one of its name",
      { found: config(), rival: rival(false) },
      ["update ProviderConfig"],
      "add",
      [],
    ],
    [
      "leaves it to an older one of its name",
      { found: config(), rival: rival(true) },
      [],
      undefined,
      [reasons.taken],
    ],
    ["that is paused is left alone", { paused: true, found: undefined }, [], undefined, []],
    [
      "of another provider gets nothing, not even a finalizer",
      { desired: { state: "none" }, found: undefined, hasFinalizer: false },
      [],
      undefined,
      [],
    ],
    [
      "that is not known yet waits",
      { desired: { state: "unknown" }, hasFinalizer: false },
      [],
      undefined,
      [],
    ],
    [
      "gets nothing where there is no Crossplane",
      { served: false, found: undefined, hasFinalizer: false },
      [],
      undefined,
      [],
    ],
    [
      "whose identity is not said is told so",
      { desired: { state: "trouble", reason: "IdentityMissing", message: "m" } },
      [],
      undefined,
      ["IdentityMissing"],
    ],
  ])("%s", (_name, over, steps, finalizer, events) => {
    const planned = plan(observed(over));
    expect(planned.steps.map((step) => step.do)).toEqual(steps);
    expect(planned.finalizer).toBe(finalizer);
    expect((planned.events ?? []).map(({ reason }) => reason)).toEqual(events);
  });

  test("leaves nothing in the spec but what it wants", () => {
    const credentials = { source: "Secret", secretRef: { name: "x" } };
    const found = config("org/wc", { environment: "china", credentials });
    const [step] = plan(observed({ found })).steps;
    expect(step).toMatchObject({
      change: {
        spec: {
          ...ids,
          environment: null,
          credentials: { source: "UserAssignedManagedIdentity", secretRef: null },
        },
      },
    });
  });

  test("marks what it makes with its own name", () => {
    const [step] = plan(observed({ found: undefined })).steps;
    expect(step).toMatchObject({
      object: { metadata: { name: "wc", annotations: { "postern.io/made-for": "org/wc" } }, spec },
    });
  });

  test("without Crossplane is looked at again, because its coming wakes nobody", () => {
    expect(plan(observed({ served: false })).requeue).toBe("drift");
  });
});

describe("a Cluster that is being deleted", () => {
  test.each<[string, Partial<Observed>, string[], string | undefined]>([
    ["takes its own with it", {}, ["delete ProviderConfig"], "remove"],
    ["is let go when it is gone", { found: undefined }, [], "remove"],
    [
      "is let go when it is going: others may still use it",
      { found: config("org/wc", {}, beingDeleted) },
      [],
      "remove",
    ],
    ["leaves that of another of its name", { found: config("other/wc") }, [], "remove"],
    [
      "takes with it what the operator before us made",
      { found: config() },
      ["delete ProviderConfig"],
      "remove",
    ],
    [
      "leaves what the operator before us made to another of its name",
      { found: config(), rival: rival(false) },
      [],
      "remove",
    ],
    [
      "without our finalizer never had one",
      { hasFinalizer: false, found: config() },
      [],
      undefined,
    ],
    [
      "is let go where there is no Crossplane any more",
      { served: false, found: undefined },
      [],
      "remove",
    ],
    [
      "is let go whatever its identity is",
      { desired: { state: "none" } },
      ["delete ProviderConfig"],
      "remove",
    ],
    ["that is paused is left alone", { paused: true }, [], undefined],
  ])("%s", (_name, over, steps, finalizer) => {
    const planned = plan(observed({ deleting: true, ...over }));
    expect(planned.steps.map((step) => step.do)).toEqual(steps);
    expect(planned.finalizer).toBe(finalizer);
  });
});

describe("attack: a Cluster with our finalizer and the name of a ProviderConfig that a person wrote", () => {
  const forged = { found: config(undefined, { clientID: "theirs" }), isByUs: false };
  test("does not change it", () => {
    const planned = plan(observed(forged));
    expect(planned.steps).toEqual([]);
    expect(planned.events?.map(({ reason }) => reason)).toEqual([reasons.ownedByAnother]);
  });

  test("does not delete it", () => {
    expect(plan(observed({ ...forged, deleting: true }))).toMatchObject({
      steps: [],
      finalizer: "remove",
    });
  });
});

describe("what is wanted follows", () => {
  const identity = (over: object = {}) =>
    ({
      metadata: { namespace: "org", name: "one" },
      spec: { type: "WorkloadIdentity", clientID: "client", tenantID: "tenant", ...over },
    }) as AzureClusterIdentity;
  const byIdentity = (over: object = {}): Source => ({
    from: "identity",
    object: "AzureCluster org/wc",
    subscriptionID: "sub",
    reference: { kind: "AzureClusterIdentity", name: "one" },
    identity: identity(),
    admitted: true,
    ...over,
  });
  const bySecret = (over: object = {}): Source => ({
    from: "secret",
    object: "AzureASOManagedControlPlane org/wc",
    secret: "org/credential",
    values: {
      AZURE_CLIENT_ID: "client",
      AZURE_SUBSCRIPTION_ID: "sub",
      AZURE_TENANT_ID: "tenant\n",
    },
    ...over,
  });
  test.each<[string, Source, string]>([
    ["from a workload identity", byIdentity(), "config"],
    [
      "from an identity of another type: nothing",
      byIdentity({ identity: identity({ type: "ServicePrincipal" }) }),
      "none",
    ],
    [
      "from a reference of another kind: nothing",
      byIdentity({ reference: { kind: "Vault", name: "x" } }),
      "none",
    ],
    ["from no reference: trouble", byIdentity({ reference: undefined }), "IdentityMissing"],
    ["from an identity that is not there yet", byIdentity({ identity: undefined }), "unknown"],
    [
      "from an identity that does not admit it: trouble",
      byIdentity({ admitted: false }),
      "NamespaceNotAllowed",
    ],
    ["from no subscription: trouble", byIdentity({ subscriptionID: "" }), "SubscriptionMissing"],
    [
      "from half an identity: trouble",
      byIdentity({ identity: identity({ tenantID: "" }) }),
      "IdentityIncomplete",
    ],
    ["from a Secret", bySecret(), "config"],
    ["from a Secret that is not there yet", bySecret({ values: undefined }), "unknown"],
    [
      "from no resources, or none that names a Secret: trouble",
      bySecret({ secret: undefined }),
      "IdentityMissing",
    ],
    [
      "from half a Secret: trouble, and no empty words",
      bySecret({ values: { AZURE_CLIENT_ID: "c" } }),
      "IdentityIncomplete",
    ],
    ["from another provider: nothing", { from: "nothing" }, "none"],
    ["from what is not there yet", { from: "absent" }, "unknown"],
  ])("%s", (_name, source, state) => {
    const got = desiredOf(source);
    expect(got.state === "trouble" ? got.reason : got.state).toBe(state);
    if (got.state === "config") expect(got.spec).toEqual(spec);
    if (got.state === "trouble") expect(got.message.split(" · ")).toHaveLength(3);
  });

  const org = { name: "wc", namespace: "org" };
  test.each<[string, TenantRules, Source, string]>([
    [
      "an identity by its client id, in an object",
      { identities: ["client"] },
      byIdentity(),
      "config",
    ],
    ["an identity by its client id", { identities: ["client"] }, bySecret(), "config"],
    ["no other identity", { identities: ["org/two"] }, byIdentity(), "NotAllowedByPolicy"],
    ["no other client of a Secret", { identities: ["org/one"] }, bySecret(), "NotAllowedByPolicy"],
    ["no other subscription", { subscriptions: ["other"] }, bySecret(), "NotAllowedByPolicy"],
  ])("from a policy that allows %s", (_name, rules, source, state) => {
    const got = allowedOf(org, source, rules);
    expect(got.state === "trouble" ? got.reason : got.state).toBe(state);
  });

  test("attack: an identity that the policy names takes the client id of another", () => {
    const rules = { identities: ["org/one", "client"] };
    const source = byIdentity({ identity: identity({ clientID: "platform" }) });
    const got = allowedOf(org, source, rules);
    expect(got).toMatchObject({ state: "trouble", reason: "NotAllowedByPolicy" });
  });

  test("attack: a Cluster called default brings no ProviderConfig for everybody", () => {
    const got = allowedOf({ ...org, name: "default" }, bySecret(), {});
    expect(got).toMatchObject({ state: "trouble", reason: "NameReserved" });
  });

  test("and half a Secret is reported by the names of what is missing", () => {
    const got = desiredOf(bySecret({ values: { AZURE_CLIENT_ID: "hush" } }));
    expect(got).toMatchObject({
      message: expect.stringContaining("does not hold AZURE_SUBSCRIPTION_ID, AZURE_TENANT_ID"),
    });
    expect(JSON.stringify(got)).not.toContain("hush");
  });
});
