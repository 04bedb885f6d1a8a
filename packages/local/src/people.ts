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

/** Who acts in Azure, and by what. With a real Azure it is all left to the environment. */
export interface People {
  /** The environment of the operator, and that of the person at the keyboard. */
  operator: Record<string, string>;
  person: Record<string, string>;
  /** How the person reaches Azure from within this process. */
  road: Arm | undefined;
  /** Who the operator is to Azure. */
  operatorId: string | undefined;
  /** What gives Services their load balancers, because nobody else does. */
  cloudProvider(clock: Clock): OperatorOptions["cloudProvider"];
}

/** The people of a scenario. */
export function peopleOf(
  wanted: ScenarioOperator,
  simulator: Simulator | undefined,
  folder: DataFolder,
): People {
  if (!simulator)
    return {
      operator: {},
      person: {},
      road: undefined,
      operatorId: undefined,
      cloudProvider: () => undefined,
    };
  const { managementGroup, loadBalancers: at } = wanted;
  const operator = applicationNamed(simulator, wanted.identity);
  const person = applicationNamed(simulator, wanted.person);
  return {
    operator: environmentOf(simulator, folder, operator, managementGroup),
    person: environmentOf(simulator, folder, person, managementGroup),
    road: roadOf(simulator, person, realClock),
    operatorId: operator.objectId,
    cloudProvider: (clock) =>
      at && { arm: roadOf(simulator, applicationNamed(simulator, at.identity), clock), at },
  };
}

/** An application by its name; the scenario was checked to have it, but a folder may hold an older one. */
function applicationNamed({ directory }: Simulator, name: string): Application {
  const found = directory.save().applications.find((each) => each.displayName === name);
  if (found) return found;
  throw new LocalError(
    "DataUnreadable",
    `there is no application '${name}' in the Azure of this folder · it was begun with another scenario · start with --reset to begin anew, or give another folder to --data`,
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

/** The road of somebody for whom nobody checks a secret, because he is a part of this machine. */
function roadOf(simulator: Simulator, application: Application, clock: Clock): Arm {
  const lifetimeMs = 3_600_000;
  const token = async () => ({
    token: simulator.directory.tokenFor(application, { forMs: lifetimeMs }),
    expiresAtMs: clock.now() + lifetimeMs,
  });
  const credential = cachedTokens(application.objectId, token, clock);
  const cloud = customCloud({ resourceManager: simulator.url });
  return new Arm({ cloud, credential, clock, userAgent: "postern-local" });
}
