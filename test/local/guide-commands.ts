import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../package/run-bin.ts";

const folder = join(root, "docs/guides");

/** Every guide, without its ending. */
export const guides = readdirSync(folder).map((file) => file.replace(/\.md$/, ""));

/** Commands that no test can run as they stand, and why. */
export const notRun: Record<string, string> = {
  "npm ci && npm start":
    "it fetches packages; what `npm start` runs, `npx postern local`, is run in every other form",
  "kubectl port-forward -n postern deployment/postern-operator 8081 8082":
    "it needs a kubelet that runs the Pods of a Deployment, and none of our API servers has one",
  "kubectl create clusterrolebinding postern-metrics-me --clusterrole postern-metrics-reader --serviceaccount default:default":
    "local mode serves no RBAC; test/system/page-access.test.ts asks for metrics with a token",
  "kubectl port-forward -n postern deployment/postern-operator 8443":
    "it needs a kubelet that runs the Pods of a Deployment, and none of our API servers has one",
  'curl -sk -H "Authorization: Bearer $(kubectl create token default -n default)" https://127.0.0.1:8443/metrics':
    "it needs that port-forward",
};

/** Guides whose commands need Azure, a registry and a real cluster. They are not run as they stand: each names the tests of what it does. */
export const elsewhere = [
  "air-gapped",
  "backup",
  "high-availability",
  "install",
  "migrate-from-cluster-api-operators",
  "migrate-from-hypershift",
  "monitoring",
  "openshift",
  "simulator-clients",
  "sovereign-clouds",
  "upgrade",
  "workload-identity",
];

/** Commands about kinds that local mode has not: `test/system/guides.test.ts` runs them on the real API server. */
export const runOnReal = [
  "kubectl delete deployment/postern-operator serviceaccount/postern-operator -n postern",
  "kubectl delete lease postern-operator -n postern",
  "kubectl delete rolebinding --all-namespaces --field-selector metadata.name=postern-control-plane",
  "kubectl delete -f manifests/admission -f manifests/rbac --ignore-not-found",
];

/** Commands that are refused, as the guide says, and the words of it. */
export const refused: Record<string, string> = {
  'kubectl patch hostedcluster green -n clusters --type merge -p \'{"spec":{"platform":{"azure":{"topology":"Secret"}}}}\'':
    "Unsupported value",
};

/** Commands that run until Ctrl-C, and what they have said when they are at work. */
export const endless: readonly [RegExp, RegExp][] = [
  [/^npx postern local\b/, /Postern is ready/],
  [/^npx postern operator\b/, /\bleading\b/],
  [/ --watch$/, /private-router/],
];

/** The commands of a guide in order: each line of its shell blocks, and with it those that it goes on in. */
export function commandsOf(guide: string): string[] {
  const text = readFileSync(join(folder, `${guide}.md`), "utf8");
  const blocks = [...text.matchAll(/^ *```(?:sh|bash)\n([\s\S]*?)^ *```/gm)];
  const lines = blocks.flatMap(([, block = ""]) =>
    block
      .replaceAll(/\\\n\s*/g, "")
      .trim()
      .split("\n"),
  );
  return lines.map((line) => line.replace(/ +#.*/, ""));
}

/** Those of a guide that local mode runs. */
export function runLocally(guide: string): string[] {
  return commandsOf(guide).filter((each) => !(each in notRun) && !runOnReal.includes(each));
}
