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

/** The value of a key, in base64. A key may be called like something that every object has. */
export function secretValue(found: Secret | undefined, key: string): string | undefined {
  const data = found?.data ?? {};
  const value: unknown = Object.hasOwn(data, key) ? data[key] : undefined;
  return typeof value === "string" ? value : undefined;
}
