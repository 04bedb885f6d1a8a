import {
  all,
  any,
  type Condition,
  item,
  not,
  type Reference,
  releaseNamespace,
  releaseVersion,
  setting,
  type TemplateMap,
  text,
} from "../template/template.ts";

/** The processes of an installation. Each has a Deployment, a ServiceAccount and a Lease of this name. */
export type Component = "postern-operator" | "postern-cluster-api" | "postern-control-plane";

/** Whether hosted control planes are served. */
export const hosted = setting("hosted.enabled");

/** Whether Cluster API is served by a process of its own. */
export const clusterApiApart: Condition = all(
  setting("clusterApi.enabled"),
  hosted,
  setting("splitRoles"),
);

/** Whether the process `postern-operator` serves Cluster API. */
export const clusterApiWithin: Condition = all(
  setting("clusterApi.enabled"),
  any(not(hosted), not(setting("splitRoles"))),
);

/** Whether link objects are written by processes for one control plane each. */
export const split: Condition = all(hosted, setting("splitRoles"));

/** The namespace of a component; that of a control plane is the item of a list. */
export function namespaceOf(component: Component): Reference {
  return component === "postern-control-plane" ? item("namespace") : releaseNamespace;
}

/** The labels that select the pods of a component. They can never change. */
export function selectorOf(component: Component): TemplateMap {
  return {
    "app.kubernetes.io/name": "postern",
    "app.kubernetes.io/component": component,
  };
}

/** The labels of every object. */
export const labels: TemplateMap = {
  "app.kubernetes.io/name": "postern",
  "app.kubernetes.io/part-of": "postern",
  "app.kubernetes.io/version": text`${releaseVersion}`,
};

/** The labels of an object of a component. */
export function labelsOf(component: Component): TemplateMap {
  return { ...labels, ...selectorOf(component) };
}
