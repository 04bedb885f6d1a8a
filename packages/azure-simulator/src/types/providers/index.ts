import type { Address } from "../../arm/address.ts";
import { Refusal } from "../../arm/refusal.ts";
import { unsupported } from "../../arm/refusals.ts";
import type { PostAction, ResourceType, World } from "../../arm/resource-type.ts";
import type { JsonObject, Resource } from "../../state/store.ts";

const type = "Microsoft.Resources/providers";

/** The types of each namespace that the simulator has something of. */
const typesOf: Readonly<Record<string, readonly string[]>> = {
  "Microsoft.Authorization": ["roleAssignments", "roleDefinitions", "permissions"],
  "Microsoft.Compute": ["virtualMachines", "virtualMachineScaleSets"],
  "Microsoft.ManagedIdentity": ["userAssignedIdentities"],
  "Microsoft.Network": [
    "virtualNetworks",
    "publicIPAddresses",
    "networkInterfaces",
    "loadBalancers",
    "privateLinkServices",
    "privateEndpoints",
    "privateDnsZones",
    "dnszones",
  ],
  "Microsoft.Resources": ["subscriptions", "resourceGroups", "deployments"],
  "Microsoft.Storage": ["storageAccounts"],
};

/** A version of each namespace or type that Azure has: clients that want to know one take it. Any is taken in requests. */
const versions: Readonly<Record<string, string>> = {
  "Microsoft.Authorization": "2022-04-01",
  "Microsoft.Compute": "2024-07-01",
  "Microsoft.ManagedIdentity": "2023-01-31",
  "Microsoft.Network": "2024-05-01",
  "Microsoft.Network/dnszones": "2018-05-01",
  "Microsoft.Network/privateDnsZones": "2024-06-01",
  "Microsoft.Resources": "2024-03-01",
  "Microsoft.Storage": "2023-05-01",
};

/** The namespaces that a subscription lists. */
export const namespaces: readonly string[] = Object.keys(typesOf);

const registration = { register: "Registered", unregister: "Unregistered" } as const;

function action(word: keyof typeof registration): PostAction {
  return {
    action: `${type}/${word}/action`,
    long: false,
    run({ world, address }) {
      const namespace = known("POST", address);
      const subscription = address.subscription ?? "";
      world.store.put(recordOf(namespace, subscription, registration[word]));
      return shownProvider(namespace, subscription, world);
    },
  };
}

/** Resource providers. All are registered until somebody takes a registration back. */
export const providers: ResourceType = {
  type,
  dialect: "resources",
  roleType: "Microsoft.Resources/subscriptions/providers",
  within: "subscription",
  read: ({ world, address }) =>
    shownProvider(known("GET", address), address.subscription ?? "", world),
  posts: { register: action("register"), unregister: action("unregister") },
  differences: [
    "All namespaces are registered from the start; Azure registers them on request. Registration takes no time.",
    "Only the namespaces of the types below; other Microsoft namespaces return 501.",
    "Types are listed with one api-version each, without their locations and aliases (not done).",
    "Azure rejects unregistering a namespace that has resources; the simulator does not.",
  ],
};

/** A provider as a subscription shows it. */
export function shownProvider(namespace: string, subscription: string, world: World): JsonObject {
  return {
    id: `/subscriptions/${subscription}/providers/${namespace}`,
    namespace,
    registrationPolicy: "RegistrationRequired",
    registrationState: stateOf(namespace, subscription, world),
    resourceTypes: (typesOf[namespace] ?? []).map((resourceType) => ({
      resourceType,
      locations: [],
      apiVersions: [versions[`${namespace}/${resourceType}`] ?? versions[namespace] ?? ""],
    })),
  };
}

/** Refuse to create anything of a namespace whose registration somebody took back. */
export function checkRegistered(namespace: string, subscription: string, world: World): void {
  if (stateOf(namespace, subscription, world) === "Registered") return;
  throw new Refusal(
    409,
    "MissingSubscriptionRegistration",
    `The subscription is not registered to use namespace '${namespace}'. See https://aka.ms/rps-not-found for how to register subscriptions.`,
    {
      by: "gateway",
      details: [
        {
          code: "MissingSubscriptionRegistration",
          message: `The subscription is not registered to use namespace '${namespace}'. See https://aka.ms/rps-not-found for how to register subscriptions.`,
        },
      ],
    },
  );
}

function stateOf(namespace: string, subscription: string, { store }: World): string {
  const record = store.get(keyOf(namespace, subscription));
  return String(record?.properties.registrationState ?? "Registered");
}

/** The namespace in an address. Azure has many of Microsoft's that the simulator knows nothing of. */
function known(method: string, address: Address): string {
  const [name = ""] = address.names;
  const namespace = namespaces.find((each) => each.toLowerCase() === name.toLowerCase());
  if (namespace !== undefined) return namespace;
  if (/^microsoft\./i.test(name)) throw unsupported(method, address);
  throw new Refusal(
    404,
    "InvalidResourceNamespace",
    `The resource namespace '${name.slice(0, 100)}' is invalid.`,
    { by: "gateway" },
  );
}

function keyOf(namespace: string, subscription: string): string {
  return `/subscriptions/${subscription}/providers/${namespace}`.toLowerCase();
}

function recordOf(namespace: string, subscription: string, registrationState: string): Resource {
  return {
    id: `/subscriptions/${subscription}/providers/${namespace}`,
    key: keyOf(namespace, subscription),
    type,
    name: namespace,
    top: {},
    properties: { registrationState },
    state: "Succeeded",
    version: 0,
    etag: "",
  };
}
