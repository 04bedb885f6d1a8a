import { randomBytes } from "node:crypto";
import { beforeAll } from "vitest";
import { type Api, at, eventually, type Thing } from "./api.ts";

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A kind that a suite makes for itself, in a group that no other has. */
export interface Widgets {
  group: string;
  apiVersion: string;
  crd: string;
  /** Where they are, of all namespaces where none is said. */
  path(namespace?: string, name?: string, subresource?: string): string;
  /** One of them, not yet sent. */
  widget(name: string, fields?: object): Thing;
}

export interface WidgetOptions {
  /** Schema of `spec`; any field where nothing is said. */
  spec?: object;
  /** Schema of `status`. */
  status?: object;
  /** The whole schema, instead of those two. */
  schema?: object;
  scope?: "Namespaced" | "Cluster";
  /** More fields of the one version, such as its columns. */
  version?: object;
  names?: object;
}

/** Installs a kind before the suite's first test. */
export function withWidgets(api: Api, options: WidgetOptions = {}): Widgets {
  const widgets = newWidgets();
  beforeAll(async () => {
    await api.ok("POST", crds, crdOf(widgets, options));
    await served(api, widgets);
  }, 30_000);
  return widgets;
}

/** Installs a kind within a test. */
export async function installWidgets(api: Api, options: WidgetOptions = {}): Promise<Widgets> {
  const widgets = newWidgets();
  await api.ok("POST", crds, crdOf(widgets, options));
  await served(api, widgets);
  return widgets;
}

/** A kind of a new group, known to nobody yet. */
export function newWidgets(): Widgets {
  const group = `w${randomBytes(4).toString("hex")}.example.com`;
  const apiVersion = `${group}/v1`;
  return {
    group,
    apiVersion,
    crd: at(crds, `widgets.${group}`),
    path: (namespace, name, subresource) => {
      const within = namespace === undefined ? "" : `/namespaces/${namespace}`;
      return at(`/apis/${apiVersion}${within}/widgets`, name, subresource);
    },
    widget: (name, fields = {}) =>
      ({ apiVersion, kind: "Widget", metadata: { name }, ...fields }) as unknown as Thing,
  };
}

/** The CRD of a kind: names, one version, the status subresource. */
export function crdOf({ group }: Widgets, options: WidgetOptions = {}): object {
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const properties = { spec: options.spec ?? open, status: options.status ?? open };
  const names = {
    kind: "Widget",
    plural: "widgets",
    singular: "widget",
    listKind: "WidgetList",
    ...options.names,
  };
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: options.schema ?? { type: "object", properties } },
    subresources: { status: {} },
    ...options.version,
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${group}` },
    spec: { group, scope: options.scope ?? "Namespaced", names, versions: [version] },
  };
}

/** A CRD is accepted before its kind can be used. */
export function served(api: Api, widgets: Widgets): Promise<unknown> {
  return eventually(() => api.ok("GET", widgets.path()));
}
