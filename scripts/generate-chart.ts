// Writes charts/postern, deploy/ and files of monitoring/ from packages/postern/src/install and the values of deploy/values; with --check it
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
import type { KubeObject } from "@postern/core/kind.ts";
import { settingsFrom } from "postern/install/install-settings.ts";
import { grafanaDashboard } from "postern/install/objects/grafana-dashboard.ts";
import { objectsOf, parts } from "postern/install/objects.ts";
import { rules } from "postern/install/rules.ts";
import { mergeSettings, type Settings } from "postern/install/settings.ts";
import { parse, stringify } from "yaml";
import { chartYaml } from "./chart/chart-yaml.ts";
import { helmCondition, helmDocuments } from "./chart/helm-template.ts";
import { helmTest } from "./chart/helm-test.ts";
import { olmBundle } from "./chart/olm-bundle.ts";
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

/** One of them. */
export function configurationOf(name: string): Settings {
  const found = configurations().get(name);
  if (found === undefined) throw new Error(`there is no deploy/values/${name}.yaml`);
  return found;
}

/** The objects of a configuration, in the namespace that every form has by default. */
export function configured(settings: Settings): KubeObject[] {
  return objectsOf(settings, { namespace: "postern", version });
}

/** Every file that is made: its path → its text. */
export function wantedFiles(): Map<string, string> {
  return new Map([...chartFiles(), ...deployFiles(), ...monitoringFiles()]);
}

function chartFiles(): [string, string][] {
  const templates = Object.entries(parts()).map(([name, part]): [string, string] => [
    `templates/${name}.yaml`,
    `{{- /* ${made.slice(2)} */ -}}\n${helmDocuments(part)}`,
  ]);
  const files: [string, string][] = [
    ["Chart.yaml", `${made}\n${chartYaml({ version })}`],
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
    '{{- if $violations }}{{- fail (printf "%d %s invalid:\\n%s" (len $violations) (ternary "setting is" "settings are" (eq (len $violations) 1)) (join "\\n" $violations)) }}{{- end }}',
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

[deploy/values](../../deploy/values) has values for several configurations. A typo is rejected: \`values.schema.json\` knows every value, and editors complete them by it.
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
  const bundle = olmBundle(configured(configurationOf("olm")), { version });
  return [
    ...[...bundle].map(([path, text]): [string, string] => [
      `deploy/olm/${path}`,
      `${made}\n${text}`,
    ]),
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

/** What Prometheus and Grafana read, for installations whose settings leave it out. */
function monitoringFiles(): [string, string][] {
  const enabled = settingsFrom(
    mergeSettings(configurationOf("hosted"), {
      metrics: {
        podMonitor: { enabled: true, tokenSecret: { name: "prometheus-token" } },
        prometheusRule: { enabled: true },
      },
    }),
  );
  const textOf = (kind: string) =>
    configured(enabled)
      .filter((object) => object.kind === kind)
      .map(yamlOf)
      .join("---\n");
  return [
    ["monitoring/prometheus-rule.yaml", `${made}\n${textOf("PrometheusRule")}`],
    [
      "monitoring/pod-monitor.yaml",
      `${made}\n# The Secret prometheus-token has a token of a ServiceAccount with the ClusterRole postern-metrics-reader.\n${textOf("PodMonitor")}`,
    ],
    ["monitoring/grafana-dashboard.json", `${JSON.stringify(grafanaDashboard, undefined, 2)}\n`],
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
  return globSync("{charts,deploy/{kustomize,olm}}/**/*", { cwd: root, withFileTypes: true })
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
