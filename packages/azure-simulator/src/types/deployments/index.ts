import type { Address } from "../../arm/address.ts";
import { object, oneOf, tags } from "../../arm/fields.ts";
import type { Operation } from "../../arm/operations.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Principal, ResourceType, World } from "../../arm/resource-type.ts";
import { guidFrom } from "../../state/guid.ts";
import type { Json, JsonObject } from "../../state/store.ts";
import { evaluate, invalidTemplate, mapped } from "./expressions.ts";
import { type Declared, readTemplate, type Template } from "./template.ts";

/**
 * Deployments of templates. Their resources are written as the deployment is accepted, as requests of whoever asks for
 * it; its operation says how that ended.
 */
export const deployments: ResourceType = {
  type: "Microsoft.Resources/deployments",
  dialect: "deployments",
  within: "resourceGroup",
  put: "async",
  putsAnew: true,
  delete: "async",
  accept({ body, properties, world, asker, address, groupLocation, id }) {
    const template = read(properties, address, groupLocation, { world, asker });
    return {
      top: tags(body),
      properties: {},
      carryOut(deployment) {
        let outputs: JsonObject = {};
        const error = ending(() => {
          const failed = writeAll(template, asker, world);
          if (!failed) outputs = template.outputs();
          return failed;
        });
        const { details } = described(template, id, world);
        const ended = {
          ...(!error && { outputs }),
          outputResources: template.resources.map((each) => ({ id: each.id })).sort(byId),
          ...(error && {
            error: { ...error, details: error.details.map((each) => ({ ...each })) },
          }),
        };
        // As texts: what a deployment wrote is not used by it.
        const texts = { details: JSON.stringify(details), ended: JSON.stringify(ended) };
        world.store.put(Object.assign(deployment, { properties: texts }));
        return error;
      },
    };
  },
  listedIn: "group",
  show(deployment) {
    const { details, ended } = deployment.properties;
    return {
      details: undefined,
      ended: undefined,
      ...parsed(details),
      provisioningState: deployment.state === "Updating" ? "Accepted" : deployment.state,
      ...(deployment.state !== "Updating" && { duration: "PT1S", ...parsed(ended) }),
    };
  },
  posts: {
    validate: {
      action: "Microsoft.Resources/deployments/validate/action",
      long: false,
      isOfNew: true,
      run({ world, asker, address, body }) {
        const properties = object(body, "properties") ?? {};
        const group = world.store.get(address.groupKey ?? "");
        const location = group && String(group.top.location);
        const template = read(properties, address, location, { world, asker });
        const name = address.names[0] ?? "";
        const id = `${group?.id}/providers/${this.action.split("/").slice(0, 2).join("/")}/${name}`;
        const { details } = described(template, id, world);
        return { id, name, properties: { ...details, provisioningState: "Succeeded" } };
      },
    },
  },
  differences: [
    "Only deployments to a group, in mode Incremental, of templates in the request; no loops, nested or linked templates, no what-if.",
    "A template whose values exceed 16 MB during evaluation is rejected; Azure has a limit of 4 MB for the template with its values.",
    "The functions of templates are parameters, variables, resourceId, reference, concat, format, toLower, toUpper, if, equals, not, empty, resourceGroup and subscription.",
    "All resources of a template exist when the deployment is accepted, created one after the other and without their own operations; Azure writes them while the deployment runs.",
    "Failures are in the details of the operation's error; the operations of a deployment cannot be listed (not done).",
  ],
};

function read(
  properties: JsonObject,
  { subscription = "", resourceGroup = "", names: [name = ""] }: Address,
  location: string | undefined,
  { world, asker }: { world: World; asker: Principal },
): Template {
  // The pattern of Azure's OpenAPI document; a word has letters and digits of any script.
  if (!/^[-\p{L}\p{N}_.()]{1,64}$/u.test(name))
    throw new Refusal(
      400,
      "InvalidDeploymentName",
      `The deployment name '${name.slice(0, 70)}' is not valid. It must have 1 to 64 letters, digits, hyphens, underscores, periods and parentheses.`,
    );
  const mode = oneOf(properties, "mode", ["Incremental", "Complete"], "Incremental");
  if (mode === "Complete")
    throw new Refusal(
      501,
      "NotSupportedBySimulator",
      "The simulator deploys in mode Incremental only. What it does is listed in docs/reference/simulator.md.",
      { by: "gateway" },
    );
  if (properties.templateLink !== undefined)
    throw invalidTemplate("the simulator cannot fetch a template by its link");
  const shown = (id: string) => world.shown(id, asker);
  return readTemplate(properties, {
    subscription,
    resourceGroup,
    location: location ?? null,
    shown,
  });
}

function writeAll(
  { resources, scope }: Template,
  asker: Principal,
  world: World,
): Operation["error"] {
  for (const { id, apiVersion, body } of resources) {
    const whole = evaluate(body, scope) as JsonObject;
    const error = world.write(id, whole, asker, apiVersion);
    if (error) return failed(error.code, error.message);
  }
  return undefined;
}

/** How a deployment ended: what is refused while it runs fails it. */
function ending(run: () => Operation["error"]): Operation["error"] {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return failed(error.code, error.message);
  }
}

function failed(code: string, message: string): NonNullable<Operation["error"]> {
  return {
    code: "DeploymentFailed",
    message:
      "At least one resource deployment operation failed. Please list deployment operations for details. Please see https://aka.ms/arm-deployment-operations for usage details.",
    details: [{ code, message }],
  };
}

/** What a deployment says of its template. */
function described(
  { resources, parameters, hash, types }: Template,
  id: string,
  world: World,
): { details: JsonObject } {
  const shownParameters = mapped(parameters, (value, name) =>
    shownParameter(types.get(name) ?? "String", value),
  );
  return {
    details: {
      templateHash: hash,
      parameters: shownParameters,
      mode: "Incremental",
      timestamp: new Date(world.now()).toISOString(),
      duration: "PT0S",
      correlationId: guidFrom(`${id} ${hash}`),
      providers: providersOf(resources),
      dependencies: resources.filter((each) => each.dependsOn.length > 0).map(dependency),
    },
  };
}

function shownParameter(type: string, value: Json | undefined): JsonObject {
  return type.startsWith("Secure") ? { type } : { type, value };
}

function providersOf(resources: readonly Declared[]): JsonObject[] {
  const found = new Map<string, Map<string, Set<string | null>>>();
  for (const { type, body } of resources) {
    const [namespace = "", ...words] = type.split("/");
    const types = found.get(namespace) ?? new Map<string, Set<string | null>>();
    found.set(namespace, types);
    const places = types.get(words.join("/")) ?? new Set();
    types.set(
      words.join("/"),
      places.add(typeof body.location === "string" ? body.location : null),
    );
  }
  return [...found].map(([namespace, types]) => ({
    namespace,
    resourceTypes: [...types].map(([resourceType, places]) => ({
      resourceType,
      locations: [...places],
    })),
  }));
}

function dependency(resource: Declared): JsonObject {
  return { dependsOn: resource.dependsOn.map(named), ...named(resource.id) };
}

/** An id with the type and the name that are in it. */
function named(id: string): JsonObject {
  const [, path = ""] = id.split("/providers/");
  const [provider = "", ...rest] = path.split("/");
  const words = rest.filter((_, i) => i % 2 === 0);
  const names = rest.filter((_, i) => i % 2 === 1);
  return { id, resourceType: [provider, ...words].join("/"), resourceName: names.join("/") };
}

function parsed(text: Json | undefined): JsonObject {
  return typeof text === "string" ? (JSON.parse(text) as JsonObject) : {};
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id.toLowerCase() < b.id.toLowerCase() ? -1 : 1;
}
