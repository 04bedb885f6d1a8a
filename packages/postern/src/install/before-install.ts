import { CommandFailure } from "../cli/command-failure.ts";
import { clusterFindings } from "../cli/doctor-cluster.ts";
import { diagnose } from "../cli/run-doctor.ts";
import type { Session } from "../cli/session.ts";
import type { Finding } from "../view/checks/check.ts";
import type { Settings } from "./settings.ts";

/** The variables by which a person has a credential for Azure at hand. */
const credentials = [
  "AZURE_CREDENTIALS_FILE",
  "AZURE_CLIENT_SECRET",
  "AZURE_CLIENT_CERTIFICATE_PATH",
  "AZURE_FEDERATED_TOKEN_FILE",
];

/**
 * What `postern doctor --before-install` finds. Azure is checked if the environment has a credential for it; the operator's own
 * is seldom at hand. A failed check of the cluster ends the command. What fails in Azure, or could not be checked there, is a warning.
 */
export async function checkBeforeInstall(session: Session, { azure }: Settings): Promise<string[]> {
  const cluster = await clusterFindings(session, true);
  const failed = cluster.filter(({ result }) => result === "failed");
  if (failed.length > 0)
    throw new CommandFailure(`nothing was changed · ${failed.map(lineOf).join("; ")}`);
  if (!credentials.some((name) => session.env[name]))
    return [
      "Azure was not checked. Run postern doctor --before-install with the operator's credential.",
    ];
  // Where the operator will act, which need not be what the person's environment names.
  const env = {
    ...session.env,
    ...(azure.subscriptionId && { AZURE_SUBSCRIPTION_ID: azure.subscriptionId }),
    ...(azure.resourceGroup && { AZURE_RESOURCE_GROUP: azure.resourceGroup }),
  };
  const all = await diagnose({ ...session, env }, { beforeInstall: true });
  return all.filter(({ result }) => result !== "ok").map(lineOf);
}

function lineOf({ check, about, found, remedy }: Finding): string {
  return `${check}: ${about}: ${found}${remedy ? ` · ${remedy}` : ""}`;
}
