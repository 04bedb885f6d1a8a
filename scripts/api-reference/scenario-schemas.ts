import { knownFields, neededFields } from "@postern/azure-simulator/state/seed-file.ts";

type Json = Record<string, unknown>;

const text = (description: string): Json => ({ type: "string", description });
const texts = (description: string): Json => ({ ...list({ type: "string" }), description });
const list = (items: Json): Json => ({ type: "array", items });
const map = (description: string, properties: Json, required: string[] = []): Json => ({
  type: "object",
  description,
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});

/** What an entry of each list of a seed is, and what its fields are; which fields there are is known to the reader of seeds. */
const seedLists: Record<keyof typeof knownFields, { is: string; fields: Json }> = {
  tenants: {
    is: "Tenants of Microsoft Entra.",
    fields: { id: text("The id of the tenant."), name: text("Its name.") },
  },
  subscriptions: {
    is: "Subscriptions.",
    fields: {
      id: text("The id of the subscription."),
      tenant: text("The id of its tenant."),
      name: text("Its name."),
    },
  },
  issuers: {
    is: "Issuers of federated tokens.",
    fields: {
      issuer: text("The URL of the issuer."),
      keys: { description: "Its public keys, as a JSON Web Key Set has them.", ...list({}) },
    },
  },
  applications: {
    is: "Applications and managed identities.",
    fields: {
      name: text("The name by which the rest of the file refers to it."),
      tenant: text("The id of its tenant."),
      clientId: text("Its client id. Without it one is chosen."),
      objectId: text("The id of its service principal. Without it one is chosen."),
      secret: text("A client secret."),
      certificate: text("A certificate, in PEM."),
      federatedCredentials: {
        description: "Federated credentials: issuer, subject and audiences of each.",
        ...list({ type: "object" }),
      },
    },
  },
  roleAssignments: {
    is: "Role assignments.",
    fields: {
      principal: text("The name of an application, or the object id of a principal."),
      role: text("The name of a role, or the id of a role definition."),
      scope: text("The id of what it applies to."),
    },
  },
  resources: {
    is: "Resources and resource groups, written in this order as Resource Manager takes them.",
    fields: { id: text("The id of the resource.") },
  },
};

/** The schema of a seed of the simulator. */
export function seedSchema(): Json {
  const properties = Object.entries(knownFields).map(([name, known]) => {
    const { is, fields } = seedLists[name as keyof typeof seedLists];
    const shown = known ?? Object.keys(fields);
    const properties = Object.fromEntries(shown.map((field) => [field, fields[field] ?? {}]));
    const entry = map(is, properties, [...neededFields[name as keyof typeof neededFields]]);
    const open = known === undefined ? { ...entry, additionalProperties: true } : entry;
    return [name, { type: ["array", "null"], description: is, items: open }];
  });
  return map("What is in Azure before anything starts.", Object.fromEntries(properties));
}

/** The schema of a scenario; objects of the kinds in `refs` are checked by their own schemas. */
export function scenarioSchema(
  refs: readonly { apiVersion: string; kind: string; file: string }[],
): Json {
  const object = {
    type: "object",
    required: ["apiVersion", "kind", "metadata"],
    allOf: refs.map(({ apiVersion, kind, file }) => ({
      if: {
        required: ["apiVersion", "kind"],
        properties: { apiVersion: { const: apiVersion }, kind: { const: kind } },
      },
      // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
      then: { $ref: file },
    })),
  };
  const seedFile = map("A seed in a file of its own.", { seed: text("The file.") }, ["seed"]);
  return map(
    "What exists when local mode starts.",
    {
      azure: {
        description: "What is in Azure: a seed, or `seed` with the name of a file.",
        anyOf: [seedFile, { $ref: "simulator-seed.json" }],
      },
      kubernetes: {
        description: "Kubernetes objects, or names of files with objects.",
        ...list({ anyOf: [{ type: "string" }, object] }),
      },
      operator: operatorSchema(),
      appliances: {
        description: "Machines on which an agent runs.",
        ...list(
          map(
            "A machine.",
            { machine: text("The id of the machine."), pool: text("The backend pool to join.") },
            ["machine", "pool"],
          ),
        ),
      },
    },
    ["operator"],
  );
}

function operatorSchema(): Json {
  return map(
    "How the operator runs.",
    {
      identity: text("The application that the operator authenticates as."),
      person: text("The application of `postern` commands; default: that of the operator."),
      managementGroup: text("The id of the resource group of the management cluster."),
      loadBalancers: map(
        "Gives Services of type LoadBalancer an address; without it none gets one.",
        {
          identity: text("The application of the cloud provider."),
          subnet: text("The id of the subnet that addresses are taken from."),
          location: text("The region."),
          machines: texts("The ids of the network interfaces behind the load balancers."),
        },
        ["identity", "subnet", "location"],
      ),
      clusterApi: map(
        "Settings of Cluster API.",
        {
          managementCluster: text("NAMESPACE/NAME of the management cluster."),
          gates: texts("Conditions that clusters wait for."),
          baseDomain: text("The base domain of the clusters."),
          baseDomainResourceGroup: text("The resource group of the base domain's zone."),
        },
        ["managementCluster"],
      ),
    },
    ["identity", "managementGroup"],
  );
}
