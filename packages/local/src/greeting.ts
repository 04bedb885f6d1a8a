import { apiVersionOf } from "@postern/core/kind.ts";
import type { Local, LocalSettings } from "./local.ts";

/** What a person reads first: where things are, and what to try. */
export function greeting(local: Local, { speed }: LocalSettings): string {
  const { ready, folder, scenarioIgnored, older } = local;
  const rows = [
    ["dashboard", ready.dashboard.url],
    ["Kubernetes", ready.kubernetes.url],
    ["kubeconfig", ready.kubeconfig],
    ...(ready.azure
      ? [["Azure", `${ready.azure.resourceManagerHttp}, ${speed} times as fast`]]
      : []),
    ["operator", ready.operator.url],
    ["its log", ready.operator.log],
    ["data", folder.persistent ? folder.path : "kept nowhere; --data keeps it"],
  ];
  const lines = rows.map(([name = "", value = ""]) => `  ${name.padEnd(10)}  ${value}`);
  const ignored = `The scenario ${ready.scenario} was not applied:
${folder.path} was begun with another one.
Start with --reset to begin anew with this one.

`;
  const aside = `Kept aside, because it could not be read, or belonged to what could not:
${folder.aside.map((file) => `  ${file}\n`).join("")}
`;
  const missing = `The cluster does not serve these, and what needs them waits for them:
${older.map((kind) => `  ${kind.plural} of ${apiVersionOf(kind)}\n`).join("")}
`;
  const notes = [
    scenarioIgnored ? ignored : "",
    folder.aside.length > 0 ? aside : "",
    older.length > 0 ? missing : "",
  ].join("");
  return `${notes}Postern is ready after ${process.uptime().toFixed(1)} s; stop it with Ctrl-C.
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
