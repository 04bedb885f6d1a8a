import type { Application } from "@postern/azure-simulator/entra/application.ts";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { type Clock, realClock } from "@postern/core/clock.ts";
import { lastSegment } from "@postern/core/resource-id.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { cachedTokens } from "postern/azure/tokens.ts";
import type { DataFolder } from "./data-folder.ts";
import { LocalError } from "./local-error.ts";
import type { OperatorOptions } from "./operator.ts";
import type { ScenarioOperator } from "./scenario.ts";

/** The Azure identities of the operator and of the user at the keyboard. Real Azure takes them from the environment. */
export interface Identities {
  operatorEnvironment: Record<string, string>;
  userEnvironment: Record<string, string>;
  /** The ARM client of the user. */
  userArm: Arm | undefined;
  /** The object id of the operator. */
  operatorId: string | undefined;
  /** The options of the cloud provider, which gives Services their load balancers. */
  cloudProvider(clock: Clock): OperatorOptions["cloudProvider"];
}

/** The identities of a scenario. */
export function identitiesOf(
  wanted: ScenarioOperator,
  simulator: Simulator | undefined,
  folder: DataFolder,
): Identities {
  if (!simulator)
    return {
      operatorEnvironment: {},
      userEnvironment: {},
      userArm: undefined,
      operatorId: undefined,
      cloudProvider: () => undefined,
    };
  const { managementGroup, loadBalancers: at } = wanted;
  const operator = applicationNamed(simulator, wanted.identity);
  const user = applicationNamed(simulator, wanted.person);
  return {
    operatorEnvironment: environmentOf(simulator, folder, operator, managementGroup),
    userEnvironment: environmentOf(simulator, folder, user, managementGroup),
    userArm: armFor(simulator, user, realClock),
    operatorId: operator.objectId,
    cloudProvider: (clock) =>
      at && { arm: armFor(simulator, applicationNamed(simulator, at.identity), clock), at },
  };
}

/** An application by its name; the scenario was checked to have it, but a folder may hold an older one. */
function applicationNamed({ directory }: Simulator, name: string): Application {
  const found = directory.save().applications.find((each) => each.displayName === name);
  if (found) return found;
  throw new LocalError(
    "DataUnreadable",
    `application '${name}' does not exist in the data folder · the folder was created with another scenario · start over with --reset, or use another folder with --data`,
  );
}

/** The environment in which a program acts in this Azure as an application. */
function environmentOf(
  simulator: Simulator,
  folder: DataFolder,
  application: Application,
  managementGroup: string,
): Record<string, string> {
  return {
    AZURE_RESOURCE_MANAGER_ENDPOINT: simulator.url,
    AZURE_AUTHORITY_HOST: simulator.httpsUrl ?? "",
    AZURE_CA_FILE: folder.file("azure-ca.pem"),
    AZURE_TENANT_ID: application.tenant,
    AZURE_CLIENT_ID: application.appId,
    AZURE_CLIENT_SECRET: application.secrets[0]?.value ?? "",
    AZURE_SUBSCRIPTION_ID: managementGroup.split("/")[2] ?? "",
    AZURE_RESOURCE_GROUP: lastSegment(managementGroup),
  };
}

/** An ARM client with tokens issued in this process, without a secret. */
function armFor(simulator: Simulator, application: Application, clock: Clock): Arm {
  const lifetimeMs = 3_600_000;
  const token = async () => ({
    token: simulator.directory.tokenFor(application, { forMs: lifetimeMs }),
    expiresAtMs: clock.now() + lifetimeMs,
  });
  const credential = cachedTokens(application.objectId, token, clock);
  const cloud = customCloud({ resourceManager: simulator.url });
  return new Arm({ cloud, credential, clock, userAgent: "postern-local" });
}
