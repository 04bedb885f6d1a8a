import { describe, expect, test } from "vitest";
import { type CreateOptions, hostedClusterOf, needsOf } from "./hosted-cluster.ts";

const id = (last: number) => `00000000-0000-4000-8000-00000000000${last}`;
const vnetId = `/subscriptions/${id(1)}/resourceGroups/one/providers/Microsoft.Network/virtualNetworks/v`;
const base: CreateOptions = {
  namespace: "clusters",
  baseDomain: "example.com",
  location: "westeurope",
  tenantId: id(2),
  subscriptionId: id(1),
  resourceGroup: "one",
  vnetId,
  subnetId: `${vnetId}/subnets/w`,
  controlPlaneClientId: id(3),
  endpointAccess: "Public",
  oauthPublishingStrategy: "Route",
};
const made = (over: Partial<CreateOptions> = {}) =>
  hostedClusterOf("one", { ...base, ...over }).spec;
const azure = (over: Partial<CreateOptions> = {}) => made(over).platform.azure;

/** How each service is published: its type and, where it has one, its name. */
function published(over: Partial<CreateOptions>): Record<string, string> {
  return Object.fromEntries(
    made(over).services.map(({ service, servicePublishingStrategy }) => {
      const { type, route, loadBalancer } = servicePublishingStrategy as {
        type: string;
        route?: { hostname: string };
        loadBalancer?: { hostname: string };
      };
      const { hostname } = route ?? loadBalancer ?? {};
      return [service, hostname ? `${type} ${hostname}` : type];
    }),
  );
}

describe("a private zone", () => {
  const zone = (name: string) =>
    `/subscriptions/s/resourceGroups/one/providers/Microsoft.Network/privateDnsZones/${name}`;

  test.each(["one.example.com", "Example.com", "apps.one.example.com"])(
    "above the names of the cluster is accepted: %s",
    (name) => {
      expect(made({ privateZoneId: zone(name) }).dns).toMatchObject({ privateZoneID: zone(name) });
    },
  );

  test.each([
    ["that is no parent of the names", zone("two.example.com"), "use the zone one.example.com"],
    ["whose name only ends alike", zone("ample.com"), "is not a parent of *.apps.one.example.com"],
    ["that is no zone", "/subscriptions/s", "--private-zone-id: "],
  ])("%s is rejected", (_, privateZoneId, message) => {
    expect(() => made({ privateZoneId })).toThrow(message);
  });
});

test.each([
  ["PublicAndPrivate", undefined, 1],
  ["PublicAndPrivate", "example.com", 0],
  ["Private", undefined, 0],
] as const)(
  "%s with the external domain %s needs so many things beside it: %i",
  (endpointAccess, domain, count) => {
    const given = { ...base, endpointAccess, ...(domain && { externalDnsDomain: domain }) };
    const needs = needsOf(given);
    expect(needs).toHaveLength(count);
    for (const each of needs)
      expect(each).toContain("a Route controller in the management cluster");
  },
);

test.each([
  [
    "a base domain with a dot at its end",
    { baseDomain: "example.com." },
    "--base-domain ends with a dot",
  ],
  [
    "a base domain that is no zone",
    { externalDnsDomain: "internal", endpointAccess: "Private" },
    "2 to 34 labels",
  ],
] as const)("%s is rejected before anything is created", (_, over, message) => {
  expect(() => made(over)).toThrow(message);
});

test("everything that is wrong is in one message", () => {
  const wrong = () =>
    hostedClusterOf("Blue_x", {
      ...base,
      namespace: "Bad_NS",
      baseDomain: "exa mple.com",
      tenantId: "aa",
      subscriptionId: "bb",
      resourceGroup: "one.",
      vnetId: "foo",
      subnetId: vnetId,
      controlPlaneClientId: "nope",
      privateZoneId: "zone",
      endpointAccess: "Public",
      endpointAccessPrivateNatSubnetId: "nat",
      endpointAccessPrivateAdditionalAllowedSubscriptions: ["cc"],
    });
  expect(wrong).toThrow(/^13 options are invalid: \(1\) the name of the cluster must be at most/);
  for (const option of [
    "--namespace must be at most 63 lower-case letters, digits and dashes",
    "--base-domain must be lower-case letters, digits, dashes and dots",
    "--tenant-id must be an id such as 0",
    "--subscription-id must be an id such as 0",
    "--resource-group must be the name of a resource group",
    '--vnet-id: "foo" is not a valid resource id',
    `--subnet-id: "${vnetId}" is not a valid resource id`,
    "--control-plane-client-id must be an id such as 0",
    '--endpoint-access-private-nat-subnet-id: "nat" is not a valid resource id',
    "--endpoint-access-private-additional-allowed-subscriptions must be an id such as 0",
    "set --endpoint-access to Private or PublicAndPrivate",
    '--private-zone-id: "zone" is not a valid resource id',
  ])
    expect(wrong).toThrow(option);
});

describe("the topology", () => {
  test("of a public cluster is said, and it has no private part", () => {
    expect(azure()).toMatchObject({ topology: "Public" });
    expect(azure()).not.toHaveProperty("private");
  });

  test.each(["Private", "PublicAndPrivate"] as const)(
    "%s has a private link, with the property that HyperShift's CRD requires",
    (endpointAccess) => {
      expect(azure({ endpointAccess })).toMatchObject({
        topology: endpointAccess,
        private: {
          type: "PrivateLink",
          privateLink: { additionalAllowedSubscriptions: [base.subscriptionId] },
        },
      });
    },
  );

  test("names the NAT subnet and the further subscriptions where they are given", () => {
    const given = {
      endpointAccess: "Private",
      endpointAccessPrivateNatSubnetId: `${vnetId}/subnets/nat`,
      endpointAccessPrivateAdditionalAllowedSubscriptions: [id(4), id(5)],
    } as const;
    expect(
      azure({
        ...given,
        endpointAccessPrivateAdditionalAllowedSubscriptions: [
          ...given.endpointAccessPrivateAdditionalAllowedSubscriptions,
        ],
      }).private,
    ).toEqual({
      type: "PrivateLink",
      privateLink: {
        natSubnetID: `${vnetId}/subnets/nat`,
        additionalAllowedSubscriptions: [id(4), id(5)],
      },
    });
  });

  test("of a public cluster takes no flag of a private link", () => {
    expect(() => made({ endpointAccessPrivateNatSubnetId: `${vnetId}/subnets/nat` })).toThrow(
      "set --endpoint-access to Private or PublicAndPrivate",
    );
  });
});

describe("the services", () => {
  const domain = "public.example.net";
  test.each([
    ["a public cluster", {}, "LoadBalancer"],
    ["one that is both", { endpointAccess: "PublicAndPrivate" }, "Route"],
    ["a private one", { endpointAccess: "Private" }, "Route"],
  ] as const)("of %s publish the API server where it can be reached", (_what, over, type) => {
    expect(published(over)).toEqual({
      APIServer: type,
      OAuthServer: "Route",
      Konnectivity: "Route",
      Ignition: "Route",
    });
  });

  test("of a public cluster have all four names of an external domain", () => {
    expect(published({ externalDnsDomain: domain })).toEqual({
      APIServer: `Route api-one.${domain}`,
      OAuthServer: `Route oauth-one.${domain}`,
      Konnectivity: `Route konnectivity-one.${domain}`,
      Ignition: `Route ignition-one.${domain}`,
    });
  });

  test.each(["Private", "PublicAndPrivate"] as const)(
    "of a cluster that is %s have names for the API and OAuth only",
    (endpointAccess) => {
      expect(published({ endpointAccess, externalDnsDomain: `${domain}.` })).toEqual({
        APIServer: `Route api-one.${domain}`,
        OAuthServer: `Route oauth-one.${domain}`,
        Konnectivity: "Route",
        Ignition: "Route",
      });
    },
  );

  test("have OAuth on a load balancer where that is asked for, with its name there", () => {
    const over = { oauthPublishingStrategy: "LoadBalancer", externalDnsDomain: domain } as const;
    expect(published(over).OAuthServer).toBe(`LoadBalancer oauth-one.${domain}`);
  });
});

test.each(["one.example.com", "example.com", "EXAMPLE.com.", "two.example.com"])(
  "an external domain %s is accepted: what lies above the cluster's own domain gets zones for single hosts",
  (externalDnsDomain) => {
    expect(() => made({ externalDnsDomain, endpointAccess: "Private" })).not.toThrow();
  },
);
