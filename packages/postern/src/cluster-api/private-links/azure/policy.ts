import type { EndpointPolicy } from "../../../private-link/endpoint/policy.ts";
import type { LinkServicePolicy } from "../../../private-link/link-service/policy.ts";
import { commonMessages, describeAll } from "../../../private-link/policy.ts";
import type { Subject } from "../observed.ts";
import { reasons } from "../reasons.ts";
import { conditionOfScope, foreignEndpointsAnnotation } from "../spec/managed.ts";

/** When to observe again, at the latest, whether the management cluster has deleted its endpoints. */
const awaitManagementMs = 15_000;

const shared = {
  reasons: {
    create: reasons.creating,
    change: reasons.changing,
    replace: reasons.replacing,
    delete: reasons.removing,
    failed: {
      create: reasons.notMade,
      change: reasons.notChanged,
      delete: reasons.notRemoved,
    },
  },
  whyReplaced: (differences: string) =>
    `it is recreated: ${differences}, which Azure cannot change in place`,
};

const messagesOf = (noun: string) =>
  commonMessages({ noun, created: "created", replaced: "is being replaced" });

/** How the private links of an AzureCluster are called and reported. */
export function linkPolicy({ foreignEndpoints, graceMs }: Subject): LinkServicePolicy {
  return {
    ...shared,
    messages: messagesOf("private link"),
    condition: conditionOfScope.links,
    steps: {
      create: "create link service",
      change: "update link service",
      delete: "delete link service",
    },
    describe: describeAll({
      frontends: "its load balancer frontends differ",
      region: "it is in another region",
      natSubnet: "its first NAT address is in another subnet",
      natAddresses: "its NAT addresses differ",
      visibility: "its visible subscriptions differ",
      autoApproval: "its auto-approved subscriptions differ",
      speaksProxyProtocol: "it speaks the proxy protocol",
      lacksProxyProtocol: "it does not speak the proxy protocol",
      tags: "its tags differ",
    }),
    deletion: {
      policy: foreignEndpoints,
      isOwn: () => graceMs > 0,
      tenantMs: graceMs,
      longestWaitMs: awaitManagementMs,
      refused: reasons.foreignEndpoints,
      refusal: (name, connected) =>
        `private link ${name} cannot be deleted · endpoints are connected to it: ${connected.join(", ")} · ask their owners to delete them, or set the annotation ${foreignEndpointsAnnotation} to disconnect`,
      message: (name, why) => beingRemoved("private link", name, why),
      waitingMessage: (name) =>
        beingRemoved("private link", name, "the management cluster deletes its endpoints first"),
    },
  };
}

/** How the private endpoints of an AzureCluster are called and reported. */
export const endpointPolicy: EndpointPolicy = {
  ...shared,
  messages: messagesOf("private endpoint"),
  condition: conditionOfScope.endpoints,
  steps: {
    create: "create private endpoint",
    change: "update private endpoint",
    delete: "delete private endpoint",
  },
  describe: describeAll({
    subnet: "it is in another subnet",
    region: "it is in another region",
    connections: "it is connected to another link service",
    disconnected: "its connection was removed from the link service",
    approval: "its approval mode differs",
    interfaceName: "its network interface has another name",
    addresses: "its IP addresses differ",
    securityGroups: "it is in other application security groups",
    tags: "its tags differ",
  }),
  deletionMessage: (name, why) => beingRemoved("private endpoint", name, why),
};

function beingRemoved(noun: string, name: string, why: string): string {
  return `${noun} ${name} is being deleted · ${why}`;
}
