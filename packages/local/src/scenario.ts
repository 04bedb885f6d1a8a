import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Place, Seed } from "@postern/azure-simulator/state/seed-entry.ts";
import { readSeed, seedIn } from "@postern/azure-simulator/state/seed-file.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { parseResourceId, type ResourceId, ResourceIdError } from "@postern/core/resource-id.ts";
import type { ClusterApiFlags } from "postern/operator/cluster-api.ts";
import { isMap, isScalar, type YAMLMap } from "yaml";
import { LocalError, reasonOf } from "./local-error.ts";
import {
  entriesOf,
  fieldsOf,
  neededText,
  type Part,
  readParts,
  scenarioError,
  textOf,
} from "./scenario-node.ts";

/** A world to start with: what is in Azure, what is in Kubernetes, and who works on it. */
export interface Scenario {
  file: string;
  /** Tells one scenario from another. */
  digest: string;
  azure: Seed | undefined;
  objects: ScenarioObject[];
  operator: ScenarioOperator;
  appliances: ScenarioAppliance[];
}

/** An object of Kubernetes, and where it stands. */
export interface ScenarioObject {
  object: JsonObject & {
    apiVersion: string;
    kind: string;
    metadata: JsonObject & { name: string };
  };
  at: Place;
}

/** How the operator is set up. */
export interface ScenarioOperator {
  /** The application that it acts as. */
  identity: string;
  /** The application that a person's commands act as; the operator's where nothing is said. */
  person: string;
  /** The resource group of the management cluster. */
  managementGroup: ResourceId;
  /** Where Services get their load balancers; without it nobody gives them any. */
  loadBalancers:
    | {
        identity: string;
        subnet: ResourceId;
        location: string;
        /** The network interfaces of the machines behind them. */
        machines: ResourceId[];
      }
    | undefined;
  clusterApi: ClusterApiFlags;
}

/** A machine on which an agent runs. */
export interface ScenarioAppliance {
  machine: ResourceId;
  pool: string;
  at: Place;
}

/** In a checkout the examples lie at its root, and the build puts them beside `dist`. */
const root = import.meta.url.endsWith(".ts") ? "../../../" : "../";

/** The scenarios that come with Postern. */
export const shipped = ["demo", "empty"] as const;

/** Read a scenario: one that comes with Postern, or a file. */
export function readScenario(name: string): Scenario {
  const file = shipped.some((each) => each === name)
    ? fileURLToPath(new URL(`${root}examples/local/${name}.yaml`, import.meta.url))
    : name;
  const text = readText(file, `use ${shipped.join(", ")} or a YAML file with --scenario`);
  return scenarioIn(text, file);
}

type ReadText = (file: string, remedy: string) => string;

/** The scenario in a text. */
export function scenarioIn(text: string, file: string): Scenario {
  const [whole, second] = readParts(text, file);
  if (second) throw scenarioError(second.place(), "a scenario must be a single YAML document");
  if (!whole || whole.node === null)
    throw scenarioError(
      { file, line: 1, column: 1 },
      "the file is empty; see examples/local/demo.yaml for an example",
    );
  const fields = fieldsOf(whole, "a scenario", ["azure", "kubernetes", "operator", "appliances"]);
  const azure = fields.get("azure");
  const operator = fields.get("operator");
  if (!operator) throw scenarioError(whole.place(), "a scenario must have 'operator'");
  // A file that is named in it is a part of it: with another text it is another scenario.
  const texts = [text];
  const read: ReadText = (named, remedy) => {
    const found = readText(named, remedy);
    texts.push(found);
    return found;
  };
  const seed = azure && seedOf(azure, text, read);
  const kubernetes = entriesOf(fields.get("kubernetes"), "kubernetes");
  const objects = kubernetes.flatMap((each) => objectsOf(each, read));
  const appliances = entriesOf(fields.get("appliances"), "appliances");
  if (!seed && appliances[0])
    throw scenarioError(appliances[0].place(), "appliances require machines in 'azure'");
  return {
    file,
    digest: hash("sha256", texts.join("\0")),
    azure: seed,
    objects,
    operator: operatorOf(operator, seed),
    appliances: appliances.map(applianceOf),
  };
}

function seedOf(part: Part, text: string, read: ReadText): Seed {
  if (!isMap(part.node)) throw scenarioError(part.place(), "azure must be a map");
  const elsewhere = part.node.get("seed", true);
  if (elsewhere === undefined)
    return seedIn(part.node, text, (node) => part.place(node ?? part.node));
  const fields = fieldsOf(part, "azure, with a seed,", ["seed"]);
  const file = fileBeside(part, neededText(fields, "seed", part, "azure"));
  return readSeed(read(file, `correct azure.seed in ${part.file}`), file);
}

/** An object as it is, or the objects of a file. */
function objectsOf(part: Part, read: ReadText): ScenarioObject[] {
  if (isScalar(part.node)) {
    const file = fileBeside(part, textOf(part, "the name of a file") ?? "");
    const text = read(file, `correct ${part.file}:${part.place().line}`);
    return readParts(text, file)
      .filter(({ node }) => node !== null)
      .map(objectOf);
  }
  return [objectOf(part)];
}

function objectOf(part: Part): ScenarioObject {
  const { node } = part;
  if (!isMap(node)) throw scenarioError(part.place(), "a Kubernetes object must be a map");
  for (const field of ["apiVersion", "kind"])
    if (typeof node.get(field) !== "string")
      throw scenarioError(part.place(), `a Kubernetes object must have a string '${field}'`);
  const metadata = node.get("metadata", true) as YAMLMap | undefined;
  if (!isMap(metadata) || typeof metadata.get("name") !== "string")
    throw scenarioError(part.place(), `this ${String(node.get("kind"))} must have a metadata.name`);
  return { object: node.toJSON() as ScenarioObject["object"], at: part.place() };
}

function operatorOf(part: Part, seed: Seed | undefined): ScenarioOperator {
  const known = ["identity", "person", "managementGroup", "loadBalancers", "clusterApi"];
  const fields = fieldsOf(part, "operator", known);
  const identity = applicationIn(fields, "identity", part, "operator", seed);
  const balancers = fields.get("loadBalancers");
  return {
    identity,
    person: fields.has("person")
      ? applicationIn(fields, "person", part, "operator", seed)
      : identity,
    managementGroup: idIn(fields, "managementGroup", part, "operator"),
    loadBalancers: balancers && loadBalancersOf(balancers, seed),
    clusterApi: clusterApiOf(fields.get("clusterApi")),
  };
}

function loadBalancersOf(part: Part, seed: Seed | undefined): ScenarioOperator["loadBalancers"] {
  const name = "operator.loadBalancers";
  const fields = fieldsOf(part, name, ["identity", "subnet", "location", "machines"]);
  return {
    identity: applicationIn(fields, "identity", part, name, seed),
    subnet: idIn(fields, "subnet", part, name),
    location: neededText(fields, "location", part, name),
    machines: entriesOf(fields.get("machines"), `${name}.machines`).map((each) =>
      idOf(each, `${name}.machines`),
    ),
  };
}

/** The name of an application, which must be one of those in Azure. */
function applicationIn(
  fields: Map<string, Part>,
  field: string,
  of: Part,
  name: string,
  seed: Seed | undefined,
): string {
  const called = neededText(fields, field, of, name);
  if (!seed || seed.applications.some(({ value }) => value.name === called)) return called;
  throw scenarioError(
    fields.get(field)?.place() ?? of.place(),
    `${name}.${field} is '${called}', but azure has no application with that name`,
  );
}

function clusterApiOf(part: Part | undefined): ClusterApiFlags {
  if (part === undefined) return {};
  const name = "operator.clusterApi";
  const known = ["managementCluster", "gates", "baseDomain", "baseDomainResourceGroup"];
  const fields = fieldsOf(part, name, known);
  const cluster = neededText(fields, "managementCluster", part, name);
  const [namespace, called, more] = cluster.split("/");
  if (!namespace || !called || more !== undefined)
    throw scenarioError(
      fields.get("managementCluster")?.place() ?? part.place(),
      `${name}.managementCluster must be NAMESPACE/NAME`,
    );
  const gates = entriesOf(fields.get("gates"), `${name}.gates`).map(
    (each) => textOf(each, "a gate") ?? "",
  );
  const baseDomain = textOf(fields.get("baseDomain"), `${name}.baseDomain`);
  const group = textOf(fields.get("baseDomainResourceGroup"), `${name}.baseDomainResourceGroup`);
  return {
    managementClusterName: called,
    managementClusterNamespace: namespace,
    ...(gates.length > 0 && { azureClusterGates: gates }),
    ...(baseDomain !== undefined && { baseDomain }),
    ...(group !== undefined && { baseDomainResourceGroup: group }),
  };
}

function applianceOf(part: Part): ScenarioAppliance {
  const fields = fieldsOf(part, "an appliance", ["machine", "pool"]);
  return {
    machine: idIn(fields, "machine", part, "an appliance"),
    pool: neededText(fields, "pool", part, "an appliance"),
    at: part.place(),
  };
}

function idIn(fields: Map<string, Part>, field: string, of: Part, name: string): ResourceId {
  neededText(fields, field, of, name);
  return idOf(fields.get(field) ?? of, `${name}.${field}`);
}

function idOf(part: Part, name: string): ResourceId {
  try {
    return parseResourceId(textOf(part, name) ?? "");
  } catch (error) {
    if (!(error instanceof ResourceIdError)) throw error;
    throw scenarioError(part.place(), `${name} must be an Azure resource id: ${error.message}`);
  }
}

function fileBeside({ file }: Part, name: string): string {
  return resolve(dirname(file), name);
}

function readText(file: string, remedy: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new LocalError(
      "ScenarioUnreadable",
      `cannot read the scenario ${file} · ${reasonOf(cause)} · ${remedy}`,
      { cause },
    );
  }
}
