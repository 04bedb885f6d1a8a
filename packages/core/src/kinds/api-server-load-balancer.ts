import { type Static, Type } from "typebox";
import { immutable, ip, keepUnknown, oneOf, type Rule, rules, text } from "./schema.ts";

/** What CAPZ lets a subnet, a load balancer, a link or an endpoint be called. */
export const resourceName = { pattern: "^[-\\w._]+$" } as const;

const natIpConfiguration = Type.Object(
  {
    allocationMethod: oneOf(["Static", "Dynamic"], "Whether the address is static or dynamic."),
    subnet: text("The subnet of the cluster that contains the address.", {
      minLength: 1,
      maxLength: 80,
    }),
    privateIPAddress: Type.Optional(ip("The address. Required with Static.")),
  },
  {
    description: "An address of the link service for network address translation.",
    ...keepUnknown,
    ...rules({
      rule: "self.allocationMethod != 'Static' || has(self.privateIPAddress)",
      message: "privateIPAddress is required with Static: add it, or set Dynamic",
      fieldPath: ".privateIPAddress",
      reason: "FieldValueRequired",
    }),
  },
);

const natIpConfigurations = (description: string, field: string) =>
  Type.Optional(
    Type.Array(natIpConfiguration, {
      description,
      minItems: 1,
      maxItems: 8,
      ...rules(immutable(field)),
    }),
  );

const subscriptions = (description: string) =>
  Type.Optional(
    Type.Array(text("A subscription.", { minLength: 1, maxLength: 64 }), {
      description,
      maxItems: 100,
    }),
  );

const onlyOneSpelling: Rule = {
  rule: "has(self.natIpConfigurations) != has(self.natIPConfigurations)",
  message:
    "set one of natIpConfigurations and natIPConfigurations, as the installed CAPZ spells it",
};

const sameSpelling: Rule = {
  rule: "has(self.natIpConfigurations) == has(oldSelf.natIpConfigurations)",
  message:
    "the NAT addresses of a link cannot change: restore the old list, or create a link with another name",
};

const autoApprovedAreAllowed: Rule = {
  rule: "!has(self.autoApprovedSubscriptions) || self.autoApprovedSubscriptions.all(s, has(self.allowedSubscriptions) && self.allowedSubscriptions.exists(a, a.lowerAscii() == s.lowerAscii()))",
  message: "every auto-approved subscription must be allowed: add it to allowedSubscriptions",
  fieldPath: ".autoApprovedSubscriptions",
};

const privateLink = Type.Object(
  {
    name: Type.String({
      description: "The name of the link service.",
      minLength: 1,
      maxLength: 80,
      ...resourceName,
    }),
    natIpConfigurations: natIpConfigurations(
      "The NAT addresses, in the spelling of the CAPZ fork that supports private links.",
      "natIpConfigurations",
    ),
    natIPConfigurations: natIpConfigurations(
      "The NAT addresses, in the spelling of CAPZ.",
      "natIPConfigurations",
    ),
    lbFrontendIPConfigNames: Type.Array(text("A frontend.", { minLength: 1, maxLength: 80 }), {
      description: "The frontends of the load balancer that the link service forwards to.",
      minItems: 1,
      maxItems: 16,
      "x-kubernetes-list-type": "set",
    }),
    allowedSubscriptions: subscriptions("Subscriptions that may request a connection."),
    autoApprovedSubscriptions: subscriptions(
      "Subscriptions whose connections are approved automatically.",
    ),
    enableProxyProtocol: Type.Optional(
      Type.Boolean({
        description: "Whether the proxy protocol is used to send the address of the client.",
      }),
    ),
  },
  {
    description: "A link service on the load balancer.",
    ...keepUnknown,
    ...rules(onlyOneSpelling, sameSpelling, autoApprovedAreAllowed),
  },
);

/** A private link on the load balancer of an API server, in either spelling. */
export type PrivateLink = Static<typeof privateLink>;

const frontend = Type.Object(
  {
    name: text("The name of the frontend.", { minLength: 1, maxLength: 80 }),
    privateIP: Type.Optional(text("The private address.", { maxLength: 39 })),
    publicIP: Type.Optional(
      Type.Object(
        {
          name: text("The name of the public address.", { maxLength: 80 }),
          dnsName: Type.Optional(text("The DNS name.", { maxLength: 253 })),
        },
        { description: "The public address.", ...keepUnknown },
      ),
    ),
  },
  { description: "A frontend of the load balancer.", ...keepUnknown },
);

const loadBalancerRules: Rule[] = [
  {
    rule: "self.type == 'Internal' || !has(self.privateLinks) || size(self.privateLinks) == 0",
    message: "private links require a load balancer of type Internal: remove them",
    fieldPath: ".privateLinks",
  },
  {
    rule: "self.type != 'Internal' || !has(self.frontendIPs) || (size(self.frontendIPs) == 1 && !has(self.frontendIPs[0].publicIP))",
    message: "an Internal load balancer must have one frontend, without a public IP address",
    fieldPath: ".frontendIPs",
  },
  {
    rule: "self.type != 'Internal' || oldSelf.?frontendIPs[?0].?privateIP.orValue('') in ['', self.?frontendIPs[?0].?privateIP.orValue('')]",
    message:
      "the address of an Internal load balancer cannot change once it is set: restore the old one",
    fieldPath: ".frontendIPs",
  },
  {
    // Without frontends CAPZ fills in one of a name of its own before it looks at the links.
    rule: "!has(self.privateLinks) || !has(self.frontendIPs) || self.privateLinks.all(l, l.lbFrontendIPConfigNames.all(n, self.frontendIPs.exists(f, f.name == n)))",
    message: "a private link refers to a frontend that does not exist: use one of frontendIPs",
    fieldPath: ".privateLinks",
  },
];

/** The load balancer before an API server. */
export const apiServerLoadBalancer = Type.Object(
  {
    id: Type.Optional(text("The id in Azure, once the resource exists.", { maxLength: 1024 })),
    name: Type.Optional(
      Type.String({
        description: "The name in Azure.",
        maxLength: 80,
        ...resourceName,
        ...rules(immutable("name")),
      }),
    ),
    type: Type.Optional(
      oneOf(["Internal", "Public"], "Whether the load balancer is internal or public.", {
        default: "Public",
        ...rules(immutable("type")),
      }),
    ),
    frontendIPs: Type.Optional(
      Type.Array(frontend, { description: "The address ranges.", maxItems: 16 }),
    ),
    privateLinks: Type.Optional(
      Type.Array(privateLink, {
        description:
          "The private link services of the load balancer. CAPZ itself does not create them.",
        maxItems: 8,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      }),
    ),
  },
  {
    description:
      "The load balancer of the API server. CAPZ omits it for clusters without a control plane.",
    ...keepUnknown,
    ...rules(...loadBalancerRules),
  },
);
