import type { Resource } from "../resource.ts";
import { ageColumn, builtIn, nameColumn } from "./built-in.ts";
import { flag, list, listBy } from "./fields.ts";
import { localReference, objectReference } from "./references.ts";

/** The kind that stands for a program which speaks to the API. */
export const serviceAccount: Resource = builtIn({
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  shortNames: ["sa"],
  namespaced: true,
  description: "The identity of a program that speaks to the API.",
  properties: {
    automountServiceAccountToken: flag("Whether pods of this account are given a token."),
    imagePullSecrets: list(
      localReference("A Secret with which images are fetched."),
      "The Secrets with which images of pods of this account are fetched.",
    ),
    secrets: listBy(
      ["name"],
      objectReference("A Secret that pods of this account may use."),
      "The Secrets that pods of this account may use.",
    ),
  },
  columns: [nameColumn, ageColumn],
  subresources: [
    {
      name: "token",
      group: "authentication.k8s.io",
      version: "v1",
      kind: "TokenRequest",
      verbs: ["create"],
    },
  ],
});
