import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { managed, onAzure, published } from "./hosted-spec.ts";
import type { Over, Row } from "./row.ts";

const routes = ["APIServer", "OAuthServer", "Konnectivity", "Ignition"].map((service) =>
  published(service, "Route"),
);
const servicesStay =
  "services cannot change once the cluster is created: restore the old ones, or create a new cluster";

const serviceRefused: [
  says: string,
  service: string,
  type: string,
  azure: Over,
  message: string,
][] = [
  [
    "Konnectivity as LoadBalancer",
    "Konnectivity",
    "LoadBalancer",
    {},
    "Konnectivity must be published as Route on Azure: set its type to Route",
  ],
  [
    "Ignition as NodePort",
    "Ignition",
    "NodePort",
    {},
    "Ignition must be published as Route on Azure: set its type to Route",
  ],
  ...(
    [
      ["OAuthServer as NodePort", "NodePort", {}],
      [
        "OAuthServer as LoadBalancer with managed identities",
        "LoadBalancer",
        { azureAuthenticationConfig: managed },
      ],
    ] as const
  ).map(([says, type, azure]): [string, string, string, Over, string] => [
    says,
    "OAuthServer",
    type,
    azure,
    "OAuthServer must be published as Route on Azure, or as LoadBalancer with WorkloadIdentities: set its type",
  ]),
];

const notBehindLink =
  "APIServer cannot be published as LoadBalancer behind a private link, which serves the router's port only: set its type to Route";

const privately: [says: string, azure: Over][] = [
  ["Private", { topology: "Private", private: { type: "PrivateLink" } }],
  ["PublicAndPrivate", { topology: "PublicAndPrivate", private: { type: "PrivateLink" } }],
  ["Private in the documents' spelling", { endpointAccess: { type: "Private" } }],
];

function servicesChange(says: string, from: unknown, to: unknown, platform?: string): Row {
  const spec = (services: unknown) =>
    platform === undefined ? onAzure({}, { services }) : { platform: { type: platform }, services };
  return {
    says,
    kind: hostedCluster,
    spec: spec(from),
    becomes: spec(to),
    ...(says.endsWith("refused") ? { refused: [["spec.services", servicesStay]] } : {}),
  };
}

const accepted: { says: string; services: unknown }[] = [
  { says: "all parts as Route are accepted", services: routes },
  {
    says: "the API server as LoadBalancer is accepted",
    services: [published("APIServer", "LoadBalancer")],
  },
  {
    says: "OAuthServer as LoadBalancer with workload identities is accepted",
    services: [published("OAuthServer", "LoadBalancer", { loadBalancer: { hostname: "oauth.x" } })],
  },
];

/** Rows about how a HostedCluster publishes the parts of its control plane. */
export const serviceRows: Row[] = [
  ...accepted.map(
    ({ says, services }): Row => ({ says, kind: hostedCluster, spec: onAzure({}, { services }) }),
  ),

  {
    says: "Konnectivity as LoadBalancer on another platform is accepted",
    kind: hostedCluster,
    spec: { platform: { type: "AWS" }, services: [published("Konnectivity", "LoadBalancer")] },
  },
  ...serviceRefused.map(
    ([says, service, type, azure, message]): Row => ({
      says: `${says} is refused`,
      kind: hostedCluster,
      spec: onAzure(azure, { services: [published(service, type)] }),
      refused: [["spec.services", message]],
    }),
  ),
  ...privately.map(
    ([topology, azure]): Row => ({
      says: `the API server as LoadBalancer in a ${topology} cluster is refused`,
      kind: hostedCluster,
      spec: onAzure(azure, { services: [published("APIServer", "LoadBalancer")] }),
      refused: [["spec.services", notBehindLink]],
    }),
  ),
  {
    says: "the API server as LoadBalancer with Swift is accepted",
    kind: hostedCluster,
    spec: onAzure(
      {
        topology: "Private",
        private: { type: "Swift", swift: { podNetworkInstance: "one" } },
      },
      { services: [published("APIServer", "LoadBalancer")] },
    ),
  },
  {
    says: "an unknown part is refused",
    kind: hostedCluster,
    spec: onAzure({}, { services: [published("Mail", "Route")] }),
    refused: [
      [
        "spec.services[0].service",
        'Unsupported value: "Mail": supported values: "APIServer", "OAuthServer", "OIDC", "Konnectivity", "Ignition", "OVNSbDb"',
      ],
    ],
  },
  {
    says: "seven parts are refused",
    kind: hostedCluster,
    spec: onAzure({}, { services: Array(7).fill(published("APIServer", "Route")) }),
    refused: [["spec.services", "must have at most 6 items"]],
  },
  servicesChange("services that stay the same are accepted", routes, routes),
  servicesChange(
    "services with a setting that is not ours, which stays the same, are accepted",
    [published("APIServer", "LoadBalancer", { loadBalancer: { notOurs: "x" } })],
    [published("APIServer", "LoadBalancer", { loadBalancer: { notOurs: "x" } })],
  ),
  servicesChange(
    "another value of a setting that is not ours is refused",
    [published("APIServer", "LoadBalancer", { loadBalancer: { notOurs: "x" } })],
    [published("APIServer", "LoadBalancer", { loadBalancer: { notOurs: "y" } })],
  ),
  servicesChange("services that come are refused", undefined, routes),
  servicesChange("services that go are refused", routes, undefined),
  servicesChange("one part fewer is refused", routes, routes.slice(1)),
  servicesChange(
    "another type of publishing is refused",
    [published("APIServer", "Route")],
    [published("APIServer", "LoadBalancer")],
  ),
  servicesChange(
    "another hostname is refused",
    [published("APIServer", "Route", { route: { hostname: "api.a" } })],
    [published("APIServer", "Route", { route: { hostname: "api.b" } })],
  ),
  servicesChange(
    "a change of services on IBMCloud is accepted",
    routes,
    routes.slice(1),
    "IBMCloud",
  ),
  servicesChange("a change of services on another platform is refused", routes, [], "AWS"),
  {
    says: "a HostedControlPlane's services, which are copied, are not checked again: it is accepted",
    kind: hostedControlPlane,
    spec: onAzure({}, { services: [published("Konnectivity", "LoadBalancer")] }),
    becomes: onAzure({}, { services: routes }),
  },
];
