import type { Rule } from "./schema.ts";

/**
 * The rules between the fields of `spec.platform.azure` that say who reaches the API server.
 * They hold for both spellings, and for a change from one to the other.
 *
 *     topology                     private     endpointAccess, privateConnectivity
 *     absent, Public               forbidden   the same as topology and private.privateLink;
 *     PublicAndPrivate, Private    required    never beside them
 *
 *     was → becomes                 absent   Public   PublicAndPrivate   Private
 *     absent                        yes      yes      no                 no
 *     Public                        no       yes      no                 no
 *     PublicAndPrivate, Private     no       no       yes                yes
 */

const privateByAccess = (azure: string) =>
  `(has(${azure}.endpointAccess) && ${azure}.endpointAccess.type != 'Public')`;

const isPrivate = (azure: string) => `(has(${azure}.private) || ${privateByAccess(azure)})`;

const linked = (azure: string) =>
  `(has(${azure}.private) && ${azure}.private.type == 'PrivateLink') || ${privateByAccess(azure)}`;

const usesSwift = (azure: string) => `(has(${azure}.private) && ${azure}.private.type == 'Swift')`;

const shipped = (azure: string) => `(has(${azure}.topology) || has(${azure}.private))`;

const documented = (azure: string) =>
  `(has(${azure}.endpointAccess) || has(${azure}.privateConnectivity))`;

/**
 * For the first path that is there, what `then` makes of it; for none, an empty text.
 * Without CEL's optionals: the API server cannot bound the cost of comparing them.
 */
function firstOf(azure: string, paths: string[], then = (path: string) => `${azure}.${path}`) {
  const picks = paths.map((path) => {
    const words = path.split(".");
    const steps = words.map((_, at) => `has(${azure}.${words.slice(0, at + 1).join(".")})`);
    return `${steps.join(" && ")} ? ${then(path)} : `;
  });
  return `(${picks.join("")}'')`;
}

const topologyOf = (azure: string) => firstOf(azure, ["topology", "endpointAccess.type"]);

const natSubnetPaths = [
  "private.privateLink.natSubnetID",
  "endpointAccess.private.natSubnetID",
  "privateConnectivity.natSubnetID",
];
const natSubnetOf = (azure: string) => firstOf(azure, natSubnetPaths);
const natSubnetPlace = (azure: string) => firstOf(azure, natSubnetPaths, (path) => `'${path}'`);

const spelling: Rule[] = [
  {
    rule: `!(${shipped("self")} && ${documented("self")})`,
    message:
      "endpointAccess and privateConnectivity are another spelling of topology and private: keep topology and private, and remove the others",
    reason: "FieldValueForbidden",
  },
  {
    rule: `!has(self.privateConnectivity) || ${privateByAccess("self")}`,
    message:
      "privateConnectivity is only for endpointAccess of type Private or PublicAndPrivate: set that type, or remove it",
    fieldPath: ".privateConnectivity",
    reason: "FieldValueForbidden",
  },
  {
    rule: "!has(self.privateConnectivity) || !has(self.endpointAccess) || !has(self.endpointAccess.private)",
    message:
      "privateConnectivity is another spelling of endpointAccess.private: keep that, and remove privateConnectivity",
    fieldPath: ".privateConnectivity",
    reason: "FieldValueForbidden",
  },
];

const presence: Rule[] = [
  {
    rule: "!has(self.topology) || self.topology == 'Public' || has(self.private)",
    message:
      "private is required with topology Private or PublicAndPrivate: add it with type PrivateLink",
    fieldPath: ".private",
    reason: "FieldValueRequired",
  },
  {
    rule: "!has(self.private) || (has(self.topology) && self.topology != 'Public')",
    message:
      "private is only for topology Private or PublicAndPrivate: set that topology, or remove it",
    fieldPath: ".private",
    reason: "FieldValueForbidden",
  },
  {
    rule: `!has(self.cloud) || self.cloud != 'AzureStackCloud' || !(${linked("self")})`,
    message:
      "AzureStackCloud has no private link services: use another cloud, or topology Public without private",
    fieldPath: ".cloud",
  },
  {
    rule: [
      `!(${linked("self")})`,
      "!has(self.azureAuthenticationConfig.workloadIdentities)",
      "has(self.azureAuthenticationConfig.workloadIdentities.controlPlaneOperator)",
    ].join(" || "),
    message:
      "workloadIdentities.controlPlaneOperator is required with a private link: add it with the clientID of the identity that creates the endpoint",
    fieldPath: ".azureAuthenticationConfig.workloadIdentities.controlPlaneOperator",
    reason: "FieldValueRequired",
  },
];

const transitions: Rule[] = [
  {
    rule: `${isPrivate("self")} == ${isPrivate("oldSelf")}`,
    message:
      "private cannot be added to a cluster or removed from it: restore the old value, or create a new cluster",
    fieldPath: ".private",
  },
  {
    rule: `${topologyOf("oldSelf")} == '' || ${topologyOf("self")} != ''`,
    message: "topology cannot be removed once it is set: restore its value",
    fieldPath: ".topology",
  },
  {
    rule: [
      `${topologyOf("self")} == ''`,
      `${topologyOf("oldSelf")} == ''`,
      `(${topologyOf("self")} == 'Public') == (${topologyOf("oldSelf")} == 'Public')`,
    ].join(" || "),
    message:
      "topology cannot change between Public and the private ones: restore its value, or create a new cluster",
    fieldPath: ".topology",
  },
  {
    rule: [
      `!(${usesSwift("oldSelf")} && ${privateByAccess("self")})`,
      `!(${privateByAccess("oldSelf")} && ${usesSwift("self")})`,
    ].join(" && "),
    message:
      "private.type cannot change with its spelling, and endpointAccess means PrivateLink: restore the old value, or create a new cluster",
    fieldPath: ".private",
  },
  {
    // Where it stays in its place, the field's own rule answers.
    rule: [
      `${natSubnetPlace("self")} == ${natSubnetPlace("oldSelf")}`,
      `${natSubnetOf("oldSelf")} == ''`,
      `${natSubnetOf("self")} == ${natSubnetOf("oldSelf")}`,
    ].join(" || "),
    message:
      "natSubnetID cannot be removed, nor change with its spelling: restore the old value, or create a new cluster",
  },
];

/** All of them, to be put on `spec.platform.azure`. */
export const accessRules: readonly Rule[] = [...spelling, ...presence, ...transitions];
