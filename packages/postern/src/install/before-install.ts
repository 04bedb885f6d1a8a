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
 * What `postern doctor --before-install` finds. Azure is checked where the environment has a credential for it: the
 * operator's own is seldom at hand. What is wrong in the cluster ends the command; what is wrong in Azure, or could not be
 * checked there, is shown.
 */
export async function checkBeforeInstall(
  session: Session,
  { azure }: Settings,
  print: (line: string) => void,
): Promise<void> {
  const cluster = await clusterFindings(session, true);
  const wrong = cluster.filter(({ verdict }) => verdict === "wrong");
  if (wrong.length > 0)
    throw new CommandFailure(`nothing was changed · ${wrong.map(lineOf).join("; ")}`);
  if (!credentials.some((name) => session.env[name])) {
    print(
      "Azure was not checked. Run postern doctor --before-install with the operator's credential.",
    );
    return;
  }
  // Where the operator will act, which need not be what the person's environment names.
  const env = {
    ...session.env,
    ...(azure.subscriptionId && { AZURE_SUBSCRIPTION_ID: azure.subscriptionId }),
    ...(azure.resourceGroup && { AZURE_RESOURCE_GROUP: azure.resourceGroup }),
  };
  const all = await diagnose({ ...session, env }, { beforeInstall: true });
  for (const finding of all.filter(({ verdict }) => verdict !== "ok"))
    print(`! ${lineOf(finding)}`);
}

function lineOf({ check, about, found, remedy }: Finding): string {
  return `${check}: ${about}: ${found}${remedy ? ` · ${remedy}` : ""}`;
}
