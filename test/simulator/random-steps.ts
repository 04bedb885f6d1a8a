import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { fc } from "../setup/random.ts";
import { subscription } from "./small-world.ts";

/** One thing that a client does. Names come from small pools, so that clients meet. */
export interface Step {
  method: "PUT" | "DELETE" | "PATCH" | "POST";
  path: string;
  body?: JsonObject;
}

const location = "westeurope";
const groupOf = (g: number) => `/subscriptions/${subscription}/resourceGroups/g${g}`;
const networkOf = (g: number) => `${groupOf(g)}/providers/Microsoft.Network`;
const computeOf = (g: number) => `${groupOf(g)}/providers/Microsoft.Compute`;
const subnetOf = (g: number, v: number, s: number) =>
  `${networkOf(g)}/virtualNetworks/v${v}/subnets/s${s}`;

const few = fc.nat({ max: 2 });
const two = fc.nat({ max: 1 });
/** Two groups, of which the second is deleted now and then. */
const group = two;

function deletable(steps: fc.Arbitrary<Step>, weight: number): fc.Arbitrary<Step> {
  return fc
    .tuple(steps, fc.nat({ max: weight }))
    .map(([step, dice]) => (dice === 0 ? { method: "DELETE", path: step.path } : step));
}

const subnetBody = (s: number, policies: boolean): JsonObject => ({
  addressPrefix: `10.0.${s}.0/28`,
  ...(policies && { privateLinkServiceNetworkPolicies: "Disabled" }),
});

const groups = fc.constantFrom<Step>(
  { method: "PUT", path: groupOf(0), body: { location } },
  { method: "PUT", path: groupOf(1), body: { location } },
  { method: "PUT", path: groupOf(1), body: { location } },
  { method: "DELETE", path: groupOf(1) },
);

function networkStep(g: number, v: number, subnets: readonly number[]): Step {
  return {
    method: "PUT",
    path: `${networkOf(g)}/virtualNetworks/v${v}`,
    body: {
      location,
      properties: {
        addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
        subnets: subnets.map((s) => ({ name: `s${s}`, properties: subnetBody(s, s === 1) })),
      },
    },
  };
}

const networks = fc
  .tuple(group, few, fc.subarray([0, 1, 2], { minLength: 2 }))
  .map(([g, v, subnets]) => networkStep(g, v, subnets));

const subnets = fc.tuple(group, few, few).map(
  ([g, v, s]): Step => ({
    method: "PUT",
    path: subnetOf(g, v, s),
    body: { properties: subnetBody(s, s === 1) },
  }),
);

const interfaces = fc.tuple(group, few, few, few, group).map(
  ([g, n, v, s, far]): Step => ({
    method: "PUT",
    path: `${networkOf(g)}/networkInterfaces/n${n}${s}`,
    body: {
      location,
      properties: {
        ipConfigurations: [{ name: "c", properties: { subnet: { id: subnetOf(far, v, s) } } }],
      },
    },
  }),
);

function balancerStep(g: number, l: number, v: number): Step {
  return {
    method: "PUT",
    path: `${networkOf(g)}/loadBalancers/l${l}`,
    body: {
      location,
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: [
          { name: "f", properties: { subnet: { id: subnetOf(g, v, 0) } } },
        ],
        backendAddressPools: [{ name: "p" }],
      },
    },
  };
}

const balancers = fc.tuple(group, few, few).map(([g, l, v]) => balancerStep(g, l, v));

function serviceStep(g: number, p: number, l: number, v: number): Step {
  return {
    method: "PUT",
    path: `${networkOf(g)}/privateLinkServices/p${p}`,
    body: {
      location,
      properties: {
        loadBalancerFrontendIpConfigurations: [
          { id: `${networkOf(g)}/loadBalancers/l${l}/frontendIPConfigurations/f` },
        ],
        ipConfigurations: [{ name: "nat", properties: { subnet: { id: subnetOf(g, v, 1) } } }],
        visibility: { subscriptions: ["*"] },
      },
    },
  };
}

const services = fc.tuple(group, few, few, few).map(([g, p, l, v]) => serviceStep(g, p, l, v));

const endpoints = fc.tuple(group, few, few, few, few, fc.boolean(), group, group).map(
  ([g, e, v, s, p, manual, far, service]): Step => ({
    method: "PUT",
    path: `${networkOf(g)}/privateEndpoints/e${e}`,
    body: {
      location,
      properties: {
        subnet: { id: subnetOf(far, v, s) },
        [manual ? "manualPrivateLinkServiceConnections" : "privateLinkServiceConnections"]: [
          {
            name: "c",
            properties: { privateLinkServiceId: `${networkOf(service)}/privateLinkServices/p${p}` },
          },
        ],
      },
    },
  }),
);

const zones = fc.tuple(group, few).map(
  ([g, z]): Step => ({
    method: "PUT",
    path: `${networkOf(g)}/privateDnsZones/z${z}.example`,
    body: { location: "global", properties: {} },
  }),
);

const links = fc.tuple(group, few, few).map(
  ([g, z, v]): Step => ({
    method: "PUT",
    path: `${networkOf(g)}/privateDnsZones/z${z}.example/virtualNetworkLinks/k${v}`,
    body: {
      location: "global",
      properties: {
        virtualNetwork: { id: `${networkOf(g)}/virtualNetworks/v${v}` },
        registrationEnabled: false,
      },
    },
  }),
);

const records = fc.tuple(group, few, few).map(
  ([g, z, r]): Step => ({
    method: "PUT",
    path: `${networkOf(g)}/privateDnsZones/z${z}.example/A/r${r}`,
    body: { properties: { ttl: 30, aRecords: [{ ipv4Address: `10.9.0.${r}` }] } },
  }),
);

const zoneGroups = fc.tuple(group, few, few).map(
  ([g, e, z]): Step => ({
    method: "PUT",
    path: `${networkOf(g)}/privateEndpoints/e${e}/privateDnsZoneGroups/default`,
    body: {
      properties: {
        privateDnsZoneConfigs: [
          {
            name: "z",
            properties: { privateDnsZoneId: `${networkOf(g)}/privateDnsZones/z${z}.example` },
          },
        ],
      },
    },
  }),
);

const hardware = { hardwareProfile: { vmSize: "Standard_D2s_v3" } };
const storageProfile = {
  imageReference: { publisher: "p", offer: "o", sku: "s", version: "latest" },
  osDisk: { createOption: "FromImage" },
};

const machines = fc.tuple(group, few, few, few, group, fc.boolean()).map(
  ([g, m, n, s, far, owned]): Step => ({
    method: "PUT",
    path: `${computeOf(g)}/virtualMachines/m${m}`,
    body: {
      location,
      properties: {
        ...hardware,
        storageProfile,
        networkProfile: {
          networkInterfaces: [
            {
              id: `${networkOf(far)}/networkInterfaces/n${n}${s}`,
              ...(owned && { properties: { deleteOption: "Delete" } }),
            },
          ],
        },
      },
    },
  }),
);

/** A scale set cannot become of the other kind, so its name says of which it is. */
const scaleSetOf = (g: number, flexible: boolean, x: number) =>
  `${computeOf(g)}/virtualMachineScaleSets/${flexible ? "flexible" : "uniform"}${x}`;

const scaleSets = fc
  .tuple(group, fc.boolean(), two, fc.nat({ max: 3 }), few, few, fc.boolean(), fc.boolean())
  .map(
    ([g, flexible, x, capacity, v, s, pooled, automatic]): Step => ({
      method: "PUT",
      path: scaleSetOf(g, flexible, x),
      body: {
        location,
        sku: { name: "Standard_D2s_v3", capacity },
        properties: {
          orchestrationMode: flexible ? "Flexible" : "Uniform",
          ...(!flexible && { upgradePolicy: { mode: automatic ? "Automatic" : "Manual" } }),
          virtualMachineProfile: {
            storageProfile,
            networkProfile: {
              networkInterfaceConfigurations: [
                {
                  name: "nic",
                  properties: {
                    primary: true,
                    ipConfigurations: [
                      {
                        name: "c",
                        properties: {
                          subnet: { id: subnetOf(g, v, s) },
                          ...(pooled && {
                            loadBalancerBackendAddressPools: [
                              { id: `${networkOf(g)}/loadBalancers/l${v}/backendAddressPools/p` },
                            ],
                          }),
                        },
                      },
                    ],
                  },
                },
              ],
            },
          },
        },
      },
    }),
  );

const instances = fc
  .tuple(
    group,
    two,
    fc.nat({ max: 5 }),
    fc.constantFrom("delete", "manualupgrade", "start", "deallocate", "remove"),
  )
  .map(([g, x, i, what]): Step => {
    const scaleSet = scaleSetOf(g, false, x);
    const instance = `${scaleSet}/virtualMachines/${i}`;
    if (what === "remove") return { method: "DELETE", path: instance };
    return what === "start" || what === "deallocate"
      ? { method: "POST", path: `${instance}/${what}` }
      : { method: "POST", path: `${scaleSet}/${what}`, body: { instanceIds: [String(i)] } };
  });

const publicZoneOf = (g: number, z: number) => `${networkOf(g)}/dnsZones/w${z}.example`;

const publicZones = fc
  .tuple(group, two)
  .map(
    ([g, z]): Step => ({ method: "PUT", path: publicZoneOf(g, z), body: { location: "global" } }),
  );

/** Of two types that cannot be at one name together. */
const publicRecords = fc.tuple(group, two, two, fc.boolean()).map(
  ([g, z, r, named]): Step => ({
    method: "PUT",
    path: `${publicZoneOf(g, z)}/${named ? "CNAME" : "A"}/r${r}`,
    body: {
      properties: named
        ? { TTL: 30, CNAMERecord: { cname: "elsewhere.example" } }
        : { TTL: 30, ARecords: [{ ipv4Address: `192.0.2.${r}` }] },
    },
  }),
);

/** Any step, those that others need more often. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: groups },
  { weight: 5, arbitrary: deletable(networks, 6) },
  { weight: 3, arbitrary: deletable(subnets, 2) },
  { weight: 5, arbitrary: deletable(interfaces, 3) },
  { weight: 4, arbitrary: deletable(balancers, 6) },
  { weight: 4, arbitrary: deletable(services, 5) },
  { weight: 6, arbitrary: deletable(endpoints, 4) },
  { weight: 2, arbitrary: deletable(zones, 6) },
  { weight: 2, arbitrary: deletable(links, 4) },
  { weight: 2, arbitrary: deletable(records, 4) },
  { weight: 2, arbitrary: deletable(zoneGroups, 4) },
  { weight: 5, arbitrary: deletable(machines, 4) },
  { weight: 5, arbitrary: deletable(scaleSets, 6) },
  { weight: 4, arbitrary: instances },
  { weight: 2, arbitrary: deletable(publicZones, 6) },
  { weight: 3, arbitrary: deletable(publicRecords, 4) },
);

/** What makes most of the steps possible. */
export const firstSteps: readonly Step[] = [0, 1].flatMap((g): Step[] => [
  { method: "PUT", path: groupOf(g), body: { location } },
  ...[0, 1, 2].flatMap((i) => [
    networkStep(g, i, [0, 1, 2]),
    balancerStep(g, i, i),
    serviceStep(g, i, i, i),
  ]),
]);
