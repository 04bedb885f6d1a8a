import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { linkSpec } from "./link-spec-rows.ts";
import {
  group,
  mustBeDomain,
  mustBeId,
  mustBeIp,
  type Over,
  type Row,
  tooLong,
  tooShort,
  uuid,
} from "./row.ts";

const kind = azurePrivateLinkService;
const providers = `${group}/providers/Microsoft.Network`;
const alias = `pls-x.${uuid}.westeurope.azure.privatelinkservice`;
const mustBeAlias =
  "must be an alias in Azure's form: {name}.{guid}.{region}.azure.privatelinkservice";

const ids: [field: string, word: string][] = [
  ["internalLoadBalancerID", "loadBalancers"],
  ["privateLinkServiceID", "privateLinkServices"],
  ["privateEndpointID", "privateEndpoints"],
  ["privateDNSZoneID", "privateDnsZones"],
  ["baseDomainDNSZoneID", "privateDnsZones"],
];

const condition = (over: Over = {}) => ({
  type: "AzurePLSCreated",
  status: "True",
  reason: "AzureSuccess",
  message: "",
  lastTransitionTime: "2026-08-22T12:00:00Z",
  ...over,
});
const conditions = (count: number) =>
  Array.from({ length: count }, (_, at) => condition({ type: `Type${at}` }));

const accepted: [says: string, status: Over][] = [
  [
    "a status with every field",
    {
      ...Object.fromEntries(ids.map(([field, word]) => [field, `${providers}/${word}/x.y`])),
      privateLinkServiceAlias: alias,
      privateEndpointIP: "10.1.0.4",
      dnsZoneName: "blue.hypershift.local",
      conditions: [condition({ observedGeneration: 1 })],
    },
  ],
  ["IPv6: the address of an endpoint", { privateEndpointIP: "fd00::4" }],
  ["the alias of a service in upper case", { privateLinkServiceAlias: alias.toUpperCase() }],
  ["a status with ten conditions", { conditions: conditions(10) }],
  ["a condition without a generation", { conditions: [condition()] }],
  [
    "a condition with a domain before its type",
    { conditions: [condition({ type: "example.com/Ready" })] },
  ],
  [
    "zone ids cut at 265 characters: the longest zone in the longest resource group",
    {
      privateDNSZoneID: `/subscriptions/${uuid}/resourceGroups/${"g".repeat(90)}/providers/Microsoft.Network/privateDnsZones/${"z".repeat(253)}`,
    },
  ],
  ...ids.flatMap(([field, word]): [string, Over][] => [
    [
      `case sensitivity: ${field} as Azure may answer it, in lower case`,
      { [field]: `${providers}/${word}/x`.toLowerCase() },
    ],
    [
      `case sensitivity: ${field} in upper case`,
      { [field]: `${providers}/${word}/x`.toUpperCase() },
    ],
  ]),
];

const refused: [says: string, status: Over, field: string, ...messages: string[]][] = [
  ["an empty status", {}, "", "should have at least 1 properties"],
  ...ids.map(([field, word]): [string, Over, string, string] => [
    `${field} of another type`,
    { [field]: `${providers}/applicationGateways/x` },
    field,
    mustBeId(`Microsoft.Network/${word}`),
  ]),
  [
    "a load balancer in a subscription that is no UUID",
    { internalLoadBalancerID: `${providers}/loadBalancers/x`.replace(uuid, "mine") },
    "internalLoadBalancerID",
    mustBeId("Microsoft.Network/loadBalancers"),
  ],
  ...ids.flatMap(([field, word]): [string, Over, string, ...string[]][] => [
    [
      `an empty ${field}`,
      { [field]: "" },
      field,
      tooShort(1),
      mustBeId(`Microsoft.Network/${word}`),
    ],
    [
      `${field} longer than any id`,
      { [field]: `${providers}/${word}/${"x".repeat(1000)}` },
      field,
      tooLong(1024),
    ],
  ]),
  [
    "an empty alias",
    { privateLinkServiceAlias: "" },
    "privateLinkServiceAlias",
    tooShort(1),
    mustBeAlias,
  ],
  [
    "an alias longer than any",
    { privateLinkServiceAlias: `${"x".repeat(200)}${alias}` },
    "privateLinkServiceAlias",
    tooLong(253),
  ],
  [
    "an alias with a dot in its name",
    { privateLinkServiceAlias: `a.${alias}` },
    "privateLinkServiceAlias",
    mustBeAlias,
  ],
  [
    "an alias with another end",
    { privateLinkServiceAlias: alias.replace(".azure", "") },
    "privateLinkServiceAlias",
    mustBeAlias,
  ],
  [
    "an id for an alias",
    { privateLinkServiceAlias: `${providers}/privateLinkServices/x` },
    "privateLinkServiceAlias",
    mustBeAlias,
  ],
  ["an empty address", { privateEndpointIP: "" }, "privateEndpointIP", tooShort(1), mustBeIp],
  ["a name for an address", { privateEndpointIP: "endpoint" }, "privateEndpointIP", mustBeIp],
  ["a longer address", { privateEndpointIP: "1".repeat(40) }, "privateEndpointIP", tooLong(39)],
  ["a zone's name with a dot behind", { dnsZoneName: "x.local." }, "dnsZoneName", mustBeDomain],
  ["an empty zone's name", { dnsZoneName: "" }, "dnsZoneName", tooShort(1), mustBeDomain],
  ["a longer zone's name", { dnsZoneName: "z".repeat(254) }, "dnsZoneName", tooLong(253)],
  ["no condition in the list", { conditions: [] }, "conditions", "should have at least 1 items"],
  ["eleven conditions", { conditions: conditions(11) }, "conditions", "must have at most 10 items"],
  [
    "two conditions of one type",
    { conditions: [condition(), condition({ status: "False" })] },
    "conditions[1]",
    'Duplicate value: {"type":"AzurePLSCreated"}',
  ],
  [
    "a condition that is neither true nor false nor unknown",
    { conditions: [condition({ status: "Maybe" })] },
    "conditions[0].status",
    'Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
  ],
  [
    "a condition with no reason",
    { conditions: [condition({ reason: "" })] },
    "conditions[0].reason",
    tooShort(1),
  ],
  [
    "a condition whose reason is a sentence",
    { conditions: [condition({ reason: "it failed" })] },
    "conditions[0].reason",
    "should match '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'",
  ],
  [
    "a condition whose message is a book",
    { conditions: [condition({ message: "x".repeat(32_769) })] },
    "conditions[0].message",
    tooLong(32_768),
  ],
  ...["type", "status", "reason", "message", "lastTransitionTime"].map(
    (field): [string, Over, string, string] => [
      `a condition without ${field}`,
      { conditions: [condition({ [field]: undefined })] },
      `conditions[0].${field}`,
      "Required value",
    ],
  ),
  [
    "a condition whose type is a sentence",
    { conditions: [condition({ type: "it is ready" })] },
    "conditions[0].type",
    "should match '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$'",
  ],
  [
    "a condition whose type is longer",
    { conditions: [condition({ type: "x".repeat(317) })] },
    "conditions[0].type",
    tooLong(316),
  ],
  [
    "a condition whose reason is longer",
    { conditions: [condition({ reason: "x".repeat(1025) })] },
    "conditions[0].reason",
    tooLong(1024),
  ],
  [
    "a condition whose time is no time",
    { conditions: [condition({ lastTransitionTime: "yesterday" })] },
    "conditions[0].lastTransitionTime",
    'must be of type date-time: "yesterday"',
  ],
  [
    "a condition of a generation below zero",
    { conditions: [condition({ observedGeneration: -1 })] },
    "conditions[0].observedGeneration",
    "should be greater than or equal to 0",
  ],
];

/** All rows about the status of a link. */
export const linkStatusRows: Row[] = [
  ...accepted.map(
    ([says, status]): Row => ({ says: `${says} is accepted`, kind, spec: linkSpec(), status }),
  ),
  ...refused.map(
    ([says, status, field, ...messages]): Row => ({
      says: `${says} is refused`,
      kind,
      spec: linkSpec(),
      status,
      refused: messages.map((message) => [field === "" ? "status" : `status.${field}`, message]),
    }),
  ),
];
