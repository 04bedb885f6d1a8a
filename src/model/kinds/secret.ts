import type { Kind, KubeObject } from "../kind.ts";

/** The part of a Secret that Postern reads. */
export interface Secret extends KubeObject {
  /** Base64. */
  data?: Record<string, string>;
}

/** The kind `Secret` of Kubernetes itself. */
export const secret: Kind<Secret> = {
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
};
