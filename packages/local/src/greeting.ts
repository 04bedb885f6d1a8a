import { apiVersionOf } from "@postern/core/kind.ts";
import type { Local, LocalSettings } from "./local.ts";

/** What a person reads first: addresses, and what to try. */
export function greeting(local: Local, { speed }: LocalSettings): string {
  const { ready, folder, scenarioIgnored, older } = local;
  const rows = [
    ["dashboard", ready.dashboard.url],
    ["Kubernetes", ready.kubernetes.url],
    ["kubeconfig", ready.kubeconfig],
    ...(ready.azure ? [["Azure", `${ready.azure.resourceManagerHttp} (${speed}× speed)`]] : []),
    ["operator", ready.operator.url],
    ["log", ready.operator.log],
    ["data", folder.persistent ? folder.path : "temporary; to keep it, use --data"],
  ];
  const lines = rows.map(([name = "", value = ""]) => `  ${name.padEnd(10)}  ${value}`);
  const ignored = `Scenario ${ready.scenario} was not applied, because ${folder.path}
was created with another scenario. To start over with this one, use --reset.

`;
  const aside = `These files could not be read, or belong to files that could not, and were moved aside:
${folder.aside.map((file) => `  ${file}\n`).join("")}
`;
  const missing = `The cluster does not serve these kinds. What needs them waits until they are installed:
${older.map((kind) => `  ${kind.plural} of ${apiVersionOf(kind)}\n`).join("")}
`;
  const notes = [
    scenarioIgnored ? ignored : "",
    folder.aside.length > 0 ? aside : "",
    older.length > 0 ? missing : "",
  ].join("");
  return `${notes}Postern is ready after ${process.uptime().toFixed(1)} s. Stop it with Ctrl-C.
${lines.join("\n")}

Try in another terminal:
  export KUBECONFIG=${asWord(ready.kubeconfig)}
  kubectl get hostedclusters,azureclusters -A
  npx postern tree

`;
}

/** A path as one word to a shell. */
function asWord(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
