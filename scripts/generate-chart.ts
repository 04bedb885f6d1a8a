// Writes charts/postern and deploy/ from packages/postern/src/install and the values of deploy/values; with --check it
// only compares.
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { definitions } from "@postern/core/definitions.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import { settingsFrom } from "postern/install/install-settings.ts";
import { objectsOf, parts } from "postern/install/objects.ts";
import { rules } from "postern/install/rules.ts";
import type { Settings } from "postern/install/settings.ts";
import { parse, stringify } from "yaml";
import { helmCondition, helmDocuments } from "./chart/helm-template.ts";
import { helmTest } from "./chart/helm-test.ts";
import { valueRows, valuesSchema, valuesYaml } from "./chart/values.ts";

const root = join(import.meta.dirname, "..");
const made = "# Made by scripts/generate-chart.ts from packages/postern/src/install. Do not edit.";
const { version } = JSON.parse(
  readFileSync(join(root, "packages/postern/package.json"), "utf8"),
) as { version: string };

/** The configurations that every form is made and compared for. */
export function configurations(): Map<string, Settings> {
  const files = readdirSync(join(root, "deploy/values")).sort();
  return new Map(
    files.map((file) => [
      file.replace(/\.yaml$/, ""),
      settingsFrom(parse(readFileSync(join(root, "deploy/values", file), "utf8"))),
    ]),
  );
}

/** The objects of a configuration, in the namespace that every form has by default. */
export function configured(settings: Settings): KubeObject[] {
  return objectsOf(settings, { namespace: "postern", version });
}

/** Every file that is made: its path → its text. */
export function wantedFiles(): Map<string, string> {
  return new Map([...chartFiles(), ...deployFiles()]);
}

function chartFiles(): [string, string][] {
  const templates = Object.entries(parts()).map(([name, part]): [string, string] => [
    `templates/${name}.yaml`,
    `{{- /* ${made.slice(2)} */ -}}\n${helmDocuments(part)}`,
  ]);
  const files: [string, string][] = [
    ["Chart.yaml", chartYaml()],
    ["values.yaml", valuesYaml()],
    ["values.schema.json", valuesSchema()],
    ["README.md", readme()],
    [".helmignore", ".*\n*.tgz\n"],
    ["templates/validate.yaml", validation()],
    ["templates/NOTES.txt", notes],
    ["templates/tests/doctor.yaml", helmDocuments(helmTest())],
    ...templates,
  ];
  return files.map(([path, text]) => [`charts/postern/${path}`, text]);
}

function chartYaml(): string {
  const own = definitions.filter(({ standIn }) => !standIn);
  const annotations = {
    "artifacthub.io/license": "Apache-2.0",
    "artifacthub.io/category": "networking",
    "artifacthub.io/operator": "true",
    "artifacthub.io/operatorCapabilities": "Seamless Upgrades",
    "artifacthub.io/prerelease": "true",
    "artifacthub.io/containsSecurityUpdates": "false",
    "artifacthub.io/crds": stringify(
      own.map(({ kind, version: served, plural, group, description }) => ({
        kind,
        version: served,
        name: `${plural}.${group}`,
        displayName: kind,
        description,
      })),
    ),
    "artifacthub.io/changes": stringify([
      { kind: "added", description: "The chart: hosted control planes, Cluster API, or both." },
    ]),
  };
  const chart = {
    apiVersion: "v2",
    name: "postern",
    type: "application",
    description: "Private connectivity for Kubernetes control planes on Azure",
    version,
    appVersion: version,
    // ValidatingAdmissionPolicies are stable since then.
    kubeVersion: ">=1.30.0-0",
    keywords: ["azure", "private-link", "hypershift", "cluster-api", "dns"],
    annotations,
  };
  return `${made}\n${stringify(chart, { lineWidth: 0 })}`;
}

/** The rules between settings: all that are violated are reported together. */
function validation(): string {
  const checks = rules.map(
    ({ violated, message }) =>
      `{{- if ${helmCondition(violated)} }}{{- $violations = append $violations ${JSON.stringify(message)} }}{{- end }}`,
  );
  return [
    `{{- /* ${made.slice(2)} */ -}}`,
    "{{- $violations := list }}",
    ...checks,
    '{{- if $violations }}{{- fail (printf "%d settings are invalid:\\n%s" (len $violations) (join "\\n" $violations)) }}{{- end }}',
    "",
  ].join("\n");
}

const notes = `Postern {{ .Chart.AppVersion }} is installed in namespace {{ .Release.Namespace }}.

Wait until it is ready, and check it:

  kubectl rollout status -n {{ .Release.Namespace }} deployment/postern-operator
  helm test -n {{ .Release.Namespace }} {{ .Release.Name }}
{{- if .Values.azure.clientId }}

The identity {{ .Values.azure.clientId }} needs a federated credential for
system:serviceaccount:{{ .Release.Namespace }}:postern-operator, with the audience api://AzureADTokenExchange.
{{- end }}
`;

function readme(): string {
  return `# Helm chart of Postern

Made by \`npm run generate\` from the settings of \`postern install\`. The [guide](../../docs/guides/install.md) leads through an installation.

\`\`\`sh
helm install postern charts/postern --namespace postern --create-namespace --values values.yaml
helm test postern --namespace postern    # runs postern doctor in the cluster
\`\`\`

[deploy/values](../../deploy/values) has values for five configurations. A typo is rejected: \`values.schema.json\` knows every value, and editors complete them by it.
The names of objects are fixed, because the operator and its admission policies know each other by them: there is one release in a cluster.

## Kinds

They are templates and not in \`crds/\`, which Helm never upgrades. \`crds.enabled: false\` leaves them to somebody else, \`crds.keep: false\` deletes them, and all objects
of them, with the release. Where HyperShift brings the kind AzurePrivateLinkService itself, set \`crds.enabled: false\`.

## Values

| value | default | what it does |
| --- | --- | --- |
${valueRows().join("\n")}
`;
}

function deployFiles(): [string, string][] {
  const all = new Map(
    [...configurations()].map(([name, settings]) => [name, configured(settings).map(yamlOf)]),
  );
  const lists = [...all.values()];
  const shared = (lists[0] ?? []).filter((text) => lists.every((list) => list.includes(text)));
  const kustomize = "deploy/kustomize";
  return [
    ["deploy/install.yaml", `${installHead}\n${joined(all.get("hosted") ?? [])}`],
    [`${kustomize}/base/kustomization.yaml`, kustomization(["objects.yaml"])],
    [`${kustomize}/base/objects.yaml`, `${made}\n${joined(shared)}`],
    ...[...all].flatMap(([name, texts]): [string, string][] => [
      [
        `${kustomize}/overlays/${name}/kustomization.yaml`,
        kustomization(["../../base", "objects.yaml"]),
      ],
      [
        `${kustomize}/overlays/${name}/objects.yaml`,
        `${made}\n${joined(texts.filter((text) => !shared.includes(text)))}`,
      ],
    ]),
  ];
}

const installHead = `${made}
# Hosted control planes beside HyperShift. Fill in the image, AZURE_SUBSCRIPTION_ID, AZURE_RESOURCE_GROUP and the client id,
# which is in three places; postern install and the chart do that for you.`;

function kustomization(resources: string[]): string {
  const object = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources,
  };
  return `${made}\n${stringify(object)}`;
}

function yamlOf(object: KubeObject): string {
  return stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 });
}

function joined(texts: readonly string[]): string {
  return texts.join("---\n");
}

/** The files that are missing, stale, or made by nobody. */
export function outOfStep(): string[] {
  const wanted = wantedFiles();
  const stale = [...wanted].filter(([path, text]) => read(path) !== text).map(([path]) => path);
  return [...stale, ...surplus(wanted)];
}

function surplus(wanted: Map<string, string>): string[] {
  return globSync("{charts,deploy/kustomize}/**/*", { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !wanted.has(path));
}

function read(path: string): string | undefined {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;
}

if (import.meta.main) {
  if (process.argv.includes("--check")) {
    for (const path of outOfStep()) {
      console.error(`${path} is out of step: run npm run generate`);
      process.exitCode = 1;
    }
  } else {
    const wanted = wantedFiles();
    for (const path of surplus(wanted)) rmSync(join(root, path));
    for (const [path, text] of wanted) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  }
}
