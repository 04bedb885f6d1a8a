import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { Topology } from "@postern/core/kinds/private-access.ts";
import { describe, expect, test } from "vitest";
import { clusterAnnotation, controlPlaneFinalizer, endpointFinalizer } from "../names.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";

const network =
  "/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/guest/providers/Microsoft.Network/virtualNetworks/guest";
const internal = { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" };
const friend = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

type Azure = NonNullable<HostedControlPlane["spec"]["platform"]["azure"]>;

const azure = {
  location: "westeurope",
  resourceGroup: "guest",
  vnetID: network,
  subnetID: `${network}/subnets/workers`,
  subscriptionID: "33333333-3333-4333-8333-333333333333",
  tenantID: "22222222-2222-4222-8222-222222222222",
  azureAuthenticationConfig: { azureAuthenticationConfigType: "WorkloadIdentities" },
  topology: "Private",
  private: { type: "PrivateLink" },
} as Azure;

interface Shape {
  azure?: Partial<Azure>;
  spec?: Partial<HostedControlPlane["spec"]>;
  metadata?: Partial<HostedControlPlane["metadata"]>;
}

function controlPlane({ azure: waiting, spec, metadata }: Shape = {}): HostedControlPlane {
  return {
    metadata: {
      name: "one",
      namespace: "clusters-one",
      uid: "hcp-uid",
      annotations: { [clusterAnnotation]: "clusters/one" },
      ...metadata,
    },
    spec: {
      dns: { baseDomain: "example.com" },
      platform: { type: "Azure", azure: { ...azure, ...waiting } },
      ...spec,
    },
  };
}

function serviceOf(
  name: string,
  waiting: { status?: NonNullable<Service["status"]>; metadata?: object } = {},
): Service {
  return {
    status: { loadBalancer: { ingress: [{ ip: "10.0.0.4" }] } },
    ...waiting,
    metadata: {
      name,
      namespace: "clusters-one",
      annotations: internal,
      ownerReferences: [
        {
          apiVersion: "hypershift.openshift.io/v1beta1",
          kind: "HostedControlPlane",
          name: "one",
          uid: "hcp-uid",
        },
      ],
      ...waiting.metadata,
    },
  };
}

/** The Service after its load balancer has got another address. */
const movedService = (): Service =>
  serviceOf("private-router", { status: { loadBalancer: { ingress: [{ ip: "10.0.0.9" }] } } });

function observed(waiting: Partial<Observed> = {}): Observed {
  return {
    controlPlane: controlPlane(),
    pause: { paused: false },
    services: [serviceOf("private-router")],
    links: [],
    poolSubnetID: undefined,
    ...waiting,
  };
}

/** The link object that is made in a world; then the world has it. */
function made(world: Observed, at = 0): AzurePrivateLinkService {
  const step = plan(world).steps[at];
  if (step?.do !== "create AzurePrivateLinkService") throw new Error("nothing is made");
  return step.object;
}

/** What is done and what is said. */
function outcome(world: Observed) {
  const { steps, events = [], finalizer } = plan(world);
  return {
    does: steps.map((step) => `${step.do} ${step.name}`),
    says: events.map(({ reason }) => reason),
    finalizer,
  };
}

const byLoadBalancer: NonNullable<HostedControlPlane["spec"]["services"]> = [
  {
    service: "OAuthServer",
    servicePublishingStrategy: { type: "LoadBalancer" },
  },
];

describe("the link object of a Service", () => {
  test("carries what the control plane says about both sides, and belongs to it", () => {
    const link = made(
      observed({
        controlPlane: controlPlane({
          azure: {
            location: "West Europe",
            private: {
              type: "PrivateLink",
              privateLink: {
                natSubnetID: `${network}/subnets/nat`,
                additionalAllowedSubscriptions: [friend, friend.toUpperCase()],
              },
            },
          },
        }),
      }),
    );
    expect(link).toEqual({
      metadata: {
        name: "private-router",
        namespace: "clusters-one",
        annotations: { [clusterAnnotation]: "clusters/one" },
        ownerReferences: [
          {
            apiVersion: "hypershift.openshift.io/v1beta1",
            kind: "HostedControlPlane",
            name: "one",
            uid: "hcp-uid",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        loadBalancerIP: "10.0.0.4",
        subscriptionID: "33333333-3333-4333-8333-333333333333",
        resourceGroupName: "guest",
        location: "westeurope",
        natSubnetID: `${network}/subnets/nat`,
        additionalAllowedSubscriptions: [friend.toUpperCase()],
        guestSubnetID: `${network}/subnets/workers`,
        guestVNetID: network,
        baseDomain: "example.com",
      },
    });
  });

  test("is made with the finalizer on the control plane, so that its credential outlives what needs it", () => {
    expect(outcome(observed())).toEqual({
      does: ["create AzurePrivateLinkService private-router"],
      says: [],
      finalizer: "add",
    });
  });

  test("once it is there, only the finalizer on the control plane is checked", () => {
    expect(outcome(observed({ links: [made(observed())] }))).toEqual({
      does: [],
      says: [],
      finalizer: "add",
    });
  });

  test("where there can be none, a condition says why, and takes it back when it is over", () => {
    const named = serviceOf("private-router");
    named.status = { loadBalancer: { ingress: [{ hostname: "balancer.example.com" }] } };
    const [problem] = plan(observed({ services: [named] })).conditions;
    expect(problem).toMatchObject({ status: "False", reason: "ServiceHasNoIP" });
    expect(plan(observed({ links: [made(observed())] })).conditions).toEqual([]);
  });

  test("the OAuth server has one of its own where a load balancer publishes it", () => {
    const world = observed({
      controlPlane: controlPlane({ spec: { services: byLoadBalancer } }),
      services: [serviceOf("private-router"), serviceOf("oauth-openshift")],
    });
    expect(outcome(world).does).toEqual([
      "create AzurePrivateLinkService private-router",
      "create AzurePrivateLinkService oauth-openshift",
    ]);
  });

  test("both spellings of private access say the same", () => {
    const { topology: _, private: __, ...bare } = azure;
    const documented = controlPlane();
    documented.spec.platform.azure = {
      ...bare,
      endpointAccess: { type: "Private", private: { additionalAllowedSubscriptions: [friend] } },
    } as Azure;
    const link = made(observed({ controlPlane: documented }));
    expect(link.spec.additionalAllowedSubscriptions).toEqual([friend]);
  });

  test.each([
    ["the Route of the OAuth server", "route", "oauth-one.shop.example.org", "shop.example.org"],
    ["its load balancer", "loadBalancer", "OAuth-One.shop.example.org", "shop.example.org"],
    ["neither, where the name has another form", "route", "login.example.org", "example.com"],
  ] as const)("its domain comes from %s", (_, field, hostname, domain) => {
    const type = field === "route" ? "Route" : "LoadBalancer";
    const link = made(
      observed({
        controlPlane: controlPlane({
          spec: {
            services: [
              {
                service: "OAuthServer",
                servicePublishingStrategy: { type, [field]: { hostname } },
              },
            ],
          },
        }),
      }),
    );
    expect(link.spec.baseDomain).toBe(domain);
  });

  test("without any domain it has none", () => {
    const world = observed();
    delete world.controlPlane.spec.dns;
    expect(made(world).spec).not.toHaveProperty("baseDomain");
  });

  test("the subnet of its endpoint comes from the first NodePool where the control plane names none", () => {
    const bare = controlPlane();
    delete bare.spec.platform.azure?.subnetID;
    const pool = `${network}/subnets/pool`;
    const link = made(observed({ controlPlane: bare, poolSubnetID: pool }));
    expect(link.spec.guestSubnetID).toBe(pool);
    expect(outcome(observed({ controlPlane: bare }))).toMatchObject({
      does: [],
      says: ["GuestSubnetMissing"],
    });
  });

  test.each([
    ["replaced by one in another subnet", `${network}/subnets/next`],
    ["deleted", undefined],
  ])(
    "a first NodePool that is %s leaves the link where it is, and addresses are still followed",
    (_, next) => {
      const bare = controlPlane();
      delete bare.spec.platform.azure?.subnetID;
      const links = [
        made(observed({ controlPlane: bare, poolSubnetID: `${network}/subnets/pool` })),
      ];
      const world = observed({ controlPlane: bare, links, poolSubnetID: next });
      expect(outcome(world)).toMatchObject({ does: [], says: [] });
      expect(plan({ ...world, services: [movedService()] })).toMatchObject({
        steps: [{ change: { spec: { loadBalancerIP: "10.0.0.9" } } }],
        conditions: [],
      });
    },
  );
});

describe("an endpoint subnet that the cluster names", () => {
  const endpoints = `${network}/subnets/endpoints`;

  test("is that of the link instead of the machines' subnet", () => {
    expect(made(observed({ endpointSubnetID: ` ${endpoints}` })).spec.guestSubnetID).toBe(
      endpoints,
    );
  });

  test.each([
    ["in another network", endpoints.replace("/virtualNetworks/guest", "/virtualNetworks/other")],
    ["that is none", network],
    ["that is no id", "endpoints"],
  ])("%s is not used, and the message says what to name", (_, endpointSubnetID) => {
    const world = observed({ endpointSubnetID });
    expect(outcome(world)).toMatchObject({ does: [], says: ["EndpointSubnetUnusable"] });
    expect(plan(world).conditions[0]?.message).toMatch(
      /specify a subnet of the hosted cluster's network/,
    );
  });

  test("that changes later does not move the endpoint", () => {
    const world = observed({ links: [made(observed())], endpointSubnetID: endpoints });
    expect(outcome(world)).toMatchObject({ does: [], says: ["LinkCannotChange"] });
  });

  test("that is no longer named leaves the endpoint where it is", () => {
    const links = [made(observed({ endpointSubnetID: endpoints }))];
    expect(outcome(observed({ links }))).toMatchObject({ does: [], says: [] });
  });

  test("that is wrong on an existing link is reported, and addresses are still followed", () => {
    const links = [made(observed({ endpointSubnetID: endpoints }))];
    const world = observed({ links, endpointSubnetID: "endpoints", services: [movedService()] });
    expect(outcome(world)).toMatchObject({
      does: ["update AzurePrivateLinkService private-router"],
      says: ["EndpointSubnetUnusable"],
    });
  });
});

test("a base domain that no private DNS zone takes gets no new link, and an existing link is not deleted", () => {
  const dotted = controlPlane({ spec: { dns: { baseDomain: "example.com." } } });
  expect(outcome(observed({ controlPlane: dotted }))).toMatchObject({
    does: [],
    says: ["NameUnusable"],
  });
  const links = [made(observed())];
  expect(outcome(observed({ controlPlane: dotted, links })).does).toEqual([]);
});

describe("a control plane without its azure block", () => {
  const bare = (type: string) => controlPlane({ spec: { platform: { type } } });

  test.each(["Azure", "AWS"])(
    "of platform %s keeps its links, and says what is missing",
    (type) => {
      const world = observed({ controlPlane: bare(type), links: [made(observed())] });
      expect(outcome(world)).toEqual({
        does: [],
        says: ["AzureBlockMissing"],
        finalizer: undefined,
      });
      expect(plan(world).conditions[0]?.message).toMatch(
        /nothing is changed or deleted .* restore it/,
      );
    },
  );

  test("says so on Azure before it has a link", () => {
    expect(outcome(observed({ controlPlane: bare("Azure") })).says).toEqual(["AzureBlockMissing"]);
  });
});

describe("what is not private, or not ready, gets no link", () => {
  const rows: [string, Partial<Observed>, string[]][] = [
    ["a Public cluster", { controlPlane: publicPlane() }, []],
    ["a cluster that says no topology", { controlPlane: publicPlane("none") }, []],
    [
      "one that uses Swift",
      {
        controlPlane: controlPlane({
          azure: { private: { type: "Swift", swift: { podNetworkInstance: "a" } } },
        }),
      },
      [],
    ],
    ["one on another platform", { controlPlane: otherPlatform() }, []],
    [
      "a private one that says no type",
      { controlPlane: publicPlane("Private") },
      ["PrivateTypeMissing"],
    ],
    [
      "one with both spellings",
      { controlPlane: controlPlane({ azure: { endpointAccess: { type: "Private" } } }) },
      ["TwoSpellings"],
    ],
    ["a Service that is missing", { services: [] }, []],
    [
      "a Service without an address yet",
      { services: [serviceOf("private-router", { status: {} })] },
      [],
    ],
    [
      "a Service with a hostname instead of an address",
      {
        services: [
          serviceOf("private-router", {
            status: { loadBalancer: { ingress: [{ hostname: "lb.example.com" }] } },
          }),
        ],
      },
      ["ServiceHasNoIP"],
    ],
    [
      "a Service that is being deleted",
      {
        services: [
          serviceOf("private-router", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
        ],
      },
      ["ServiceDeleting"],
    ],
    [
      "a Service that is not internal",
      { services: [serviceOf("private-router", { metadata: { annotations: {} } })] },
      ["ServiceNotInternal"],
    ],
    [
      "a Service of nobody",
      { services: [serviceOf("private-router", { metadata: { ownerReferences: [] } })] },
      ["ServiceNotOwned"],
    ],
    ["a paused cluster", { pause: { paused: true } }, []],
    [
      "a control plane that is being deleted",
      { controlPlane: controlPlane({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }) },
      [],
    ],
  ];
  test.each(rows)("%s", (_, waiting, says) => {
    expect(outcome(observed(waiting))).toMatchObject({ does: [], says });
  });

  function publicPlane(topology: Topology | "none" = "Public"): HostedControlPlane {
    const plane = controlPlane();
    const { topology: _, private: __, ...bare } = azure;
    plane.spec.platform.azure = { ...bare, ...(topology !== "none" && { topology }) };
    return plane;
  }

  function otherPlatform(): HostedControlPlane {
    return controlPlane({ spec: { platform: { type: "AWS" } } });
  }
});

test("a pause with an end is reconciled again at its end", () => {
  expect(plan(observed({ pause: { paused: true, untilMs: 90_000 } })).requeue).toEqual({
    afterMs: 90_000,
  });
});

describe("what changed is written through at once", () => {
  const rows: [string, Shape, Partial<Observed>, object][] = [
    [
      "the address of the Service",
      {},
      {
        services: [
          serviceOf("private-router", {
            status: { loadBalancer: { ingress: [{ ip: "10.0.0.9" }] } },
          }),
        ],
      },
      { spec: { loadBalancerIP: "10.0.0.9" } },
    ],
    [
      "the allow-list, without an event of the Service",
      {
        azure: {
          private: {
            type: "PrivateLink",
            privateLink: { additionalAllowedSubscriptions: [friend] },
          },
        },
      },
      {},
      { spec: { additionalAllowedSubscriptions: [friend] } },
    ],
    [
      "a NAT subnet that was not given before",
      {
        azure: {
          private: {
            type: "PrivateLink",
            privateLink: { natSubnetID: `${network}/subnets/nat` },
          },
        },
      },
      {},
      { spec: { natSubnetID: `${network}/subnets/nat` } },
    ],
    [
      "the name of the HostedCluster",
      { metadata: { annotations: { [clusterAnnotation]: "clusters/other" } } },
      {},
      { metadata: { annotations: { [clusterAnnotation]: "clusters/other" } } },
    ],
  ];
  test.each(rows)("%s", (_, shape, waiting, change) => {
    const links = [made(observed())];
    const world = observed({ controlPlane: controlPlane(shape), links, ...waiting });
    expect(plan(world).steps).toMatchObject([{ do: "update AzurePrivateLinkService", change }]);
  });

  test("an empty allow-list is taken away", () => {
    const link = made(observed());
    link.spec.additionalAllowedSubscriptions = [friend];
    expect(plan(observed({ links: [link] })).steps).toMatchObject([
      { change: { spec: { additionalAllowedSubscriptions: null } } },
    ]);
  });

  test("a NAT subnet that is no longer given is taken away, so that one is made", () => {
    const link = made(observed());
    link.spec.natSubnetID = `${network}/subnets/nat`;
    expect(plan(observed({ links: [link] })).steps).toMatchObject([
      { change: { spec: { natSubnetID: null } } },
    ]);
  });

  test("another case or order of ids and subscriptions is no change", () => {
    const privateLink = { additionalAllowedSubscriptions: [friend, azure.subscriptionID] };
    const world = observed({
      controlPlane: controlPlane({ azure: { private: { type: "PrivateLink", privateLink } } }),
    });
    const link = made(world);
    link.spec.additionalAllowedSubscriptions = [azure.subscriptionID, friend.toUpperCase()];
    link.spec.guestVNetID = link.spec.guestVNetID.toUpperCase();
    expect(outcome({ ...world, links: [link] })).toMatchObject({ does: [], says: [] });
  });

  test("what cannot change is said and not written, while the rest is", () => {
    const links = [made(observed())];
    const moved = controlPlane({ azure: { resourceGroup: "elsewhere", location: "eastus" } });
    const services = [
      serviceOf("private-router", { status: { loadBalancer: { ingress: [{ ip: "10.0.0.9" }] } } }),
    ];
    const { steps, events } = plan(observed({ controlPlane: moved, links, services }));
    expect(steps).toMatchObject([{ change: { spec: { loadBalancerIP: "10.0.0.9" } } }]);
    expect(steps[0]).not.toHaveProperty("change.spec.location");
    expect(events?.[0]).toMatchObject({ reason: "LinkCannotChange" });
    expect(events?.[0]?.note).toContain("resourceGroupName, location");
  });

  test("a base domain that was removed from the control plane remains on the link object", () => {
    const links = [made(observed())];
    const world = observed({ links });
    delete world.controlPlane.spec.dns;
    expect(outcome(world).does).toEqual([]);
  });
});

describe("what exists is repaired", () => {
  test("a link object that is being deleted is recreated only when it does not exist", () => {
    const link = made(observed());
    link.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(outcome(observed({ links: [link] })).does).toEqual([]);
    expect(outcome(observed()).does).toEqual(["create AzurePrivateLinkService private-router"]);
  });

  test("one of another owner is neither changed nor deleted, and that is said", () => {
    const link = made(observed());
    link.metadata.ownerReferences = [];
    link.spec.loadBalancerIP = "10.9.9.9";
    expect(outcome(observed({ links: [link] }))).toMatchObject({
      does: [],
      says: ["OwnedByAnother"],
    });
  });

  test("one of an earlier control plane of the same name is deleted, and then recreated", () => {
    const link = made(observed());
    const [owner] = link.metadata.ownerReferences ?? [];
    if (owner) owner.uid = "earlier-uid";
    expect(outcome(observed({ links: [link] })).does).toEqual([
      "delete AzurePrivateLinkService private-router",
    ]);
    if (owner) owner.name = "another";
    expect(outcome(observed({ links: [link] }))).toMatchObject({
      does: [],
      says: ["OwnedByAnother"],
    });
  });

  test("the OAuth server's is deleted when it is no longer published by a load balancer", () => {
    const both = observed({
      controlPlane: controlPlane({ spec: { services: byLoadBalancer } }),
      services: [serviceOf("private-router"), serviceOf("oauth-openshift")],
    });
    const links = [made(both, 0), made(both, 1)];
    expect(outcome(observed({ links })).does).toEqual([
      "delete AzurePrivateLinkService oauth-openshift",
    ]);
  });

  test("all go when the cluster is not private any more, and then the control plane is let go", () => {
    const shape = {
      azure: { private: { type: "Swift", swift: { podNetworkInstance: "a" } } },
      metadata: { finalizers: [controlPlaneFinalizer] },
    } as const;
    const plane = controlPlane(shape as unknown as Shape);
    const link = made(observed());
    expect(outcome(observed({ controlPlane: plane, links: [link] }))).toMatchObject({
      does: ["delete AzurePrivateLinkService private-router"],
      finalizer: undefined,
    });
    link.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(outcome(observed({ controlPlane: plane, links: [link] }))).toMatchObject({
      does: [],
      finalizer: undefined,
    });
    expect(outcome(observed({ controlPlane: plane, links: [] })).finalizer).toBe("remove");
  });
});

describe("a control plane that is being deleted", () => {
  const deleting = controlPlane({
    metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [controlPlaneFinalizer] },
  });
  const link = (finalizers: string[]): AzurePrivateLinkService => {
    const one = made(observed());
    one.metadata.finalizers = finalizers;
    return one;
  };

  test("has the finalizer while the endpoint side of any link may exist", () => {
    const links = [link([]), link([endpointFinalizer])];
    expect(outcome(observed({ controlPlane: deleting, links })).finalizer).toBeUndefined();
  });

  test("loses its finalizer when no link has an endpoint side, although there never was an alias", () => {
    const links = [link(["hypershift.openshift.io/azure-pls-cleanup"])];
    expect(outcome(observed({ controlPlane: deleting, links })).finalizer).toBe("remove");
  });

  test("loses its finalizer when there are no links", () => {
    expect(outcome(observed({ controlPlane: deleting, links: [] })).finalizer).toBe("remove");
  });

  test("is let go even while it is paused", () => {
    const world = observed({ controlPlane: deleting, links: [], pause: { paused: true } });
    expect(outcome(world).finalizer).toBe("remove");
  });
});
