import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { guidFrom } from "@postern/azure-simulator/state/guid.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { controlPlaneAccount, controlPlaneNamespace } from "postern/hosted/names.ts";
import type { Scenario, ScenarioObject } from "./scenario.ts";
import { scenarioError } from "./scenario-node.ts";

/** Further hosted clusters: copies of the first one of a scenario, with all that lies in its resource group. */
export interface MoreClusters {
  /** What must be in Azure before. */
  prepare(simulator: Simulator, issuer: string): void;
  objects: ScenarioObject[];
}

/** The clusters `more-<from>` to `more-<to>`, for load. */
export function moreClusters(scenario: Scenario, from: number, to: number): MoreClusters {
  const pattern = scenario.objects.find(({ object }) => object.kind === "HostedCluster");
  if (to >= from && pattern === undefined)
    throw scenarioError(
      { file: scenario.file, line: 1, column: 1 },
      "--clusters copies the first HostedCluster, but the scenario has none",
    );
  const names = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => nameOf(from + i));
  return {
    objects: names.map((name) => pattern && copy(pattern, pattern, name)).filter(isThere),
    prepare(simulator, issuer) {
      if (pattern === undefined) return;
      for (const name of names) prepare(simulator, scenario, pattern, name, issuer);
    },
  };
}

function nameOf(number: number): string {
  return `more-${String(number).padStart(3, "0")}`;
}

/** The group, the network and what else of the pattern's is in Azure; the rights in it, and who may prove to be it. */
function prepare(
  simulator: Simulator,
  { azure }: Scenario,
  pattern: ScenarioObject,
  name: string,
  issuer: string,
): void {
  const { name: called } = pattern.object.metadata;
  const isIn = (id: unknown) => new RegExp(`/resourceGroups/${called}(/|$)`, "i").test(String(id));
  for (const { value } of azure?.resources ?? []) {
    if (!isIn(value.id)) continue;
    const { id, ...body } = renamed(value, called, name) as JsonObject & { id: string };
    if (simulator.store.get(id) === undefined) simulator.change(id, body);
  }
  const applications = simulator.directory.save().applications;
  for (const { value } of azure?.roleAssignments ?? []) {
    const { objectId } = applications.find((each) => each.displayName === value.principal) ?? {};
    const role = [...simulator.roles.definitions()].find((each) => each.roleName === value.role);
    if (!isIn(value.scope) || objectId === undefined || role === undefined) continue;
    const scope = renamed(value.scope, called, name) as string;
    simulator.change(
      `${scope}/providers/Microsoft.Authorization/roleAssignments/${guidFrom(`${scope} ${role.name} ${objectId}`)}`,
      {
        properties: {
          roleDefinitionId: `/providers/Microsoft.Authorization/roleDefinitions/${role.name}`,
          principalId: objectId,
        },
      },
    );
  }
  const clientId = clientIdOf(pattern);
  const application = applications.find(({ appId }) => appId === clientId);
  const namespace = controlPlaneNamespace(String(pattern.object.metadata.namespace), name);
  if (application)
    simulator.directory.federate(application.objectId, {
      name,
      issuer,
      subject: `system:serviceaccount:${namespace}:${controlPlaneAccount}`,
      audiences: ["api://AzureADTokenExchange"],
    });
}

function clientIdOf({ object }: ScenarioObject): string | undefined {
  const text = JSON.stringify(object);
  return /"controlPlaneOperator":\{"clientID":"([^"]+)"/.exec(text)?.[1];
}

function copy(pattern: ScenarioObject, { object }: ScenarioObject, name: string): ScenarioObject {
  const made = renamed(object, pattern.object.metadata.name, name) as ScenarioObject["object"];
  return { ...pattern, object: made };
}

/** The same with another name wherever the first stands as a word. */
function renamed(value: unknown, from: string, to: string): unknown {
  const word = new RegExp(`\\b${from}\\b`, "g");
  return JSON.parse(JSON.stringify(value).replace(word, to));
}

function isThere<T>(value: T | undefined): value is T {
  return value !== undefined;
}
