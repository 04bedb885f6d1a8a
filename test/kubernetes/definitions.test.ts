import type { Cause, Stored } from "@postern/kubernetes-embedded/resource.ts";
import { problemsOfCrd } from "@postern/kubernetes-embedded/schema/definition.ts";
import { expect, test } from "vitest";
import { describeApi, type Status } from "./api.ts";
import { brokenDefinitions } from "./broken-definitions.ts";

describeApi("definitions of kinds", (api) => {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All";

  test.each(Object.entries(brokenDefinitions))("%s comes to the same", async (_name, crd) => {
    const { status, body } = await api.request<Status>("POST", path, crd);
    expect(status).toBeOneOf([201, 422]);
    const plain = JSON.parse(JSON.stringify(crd)) as Stored;
    expect(told(problemsOfCrd(plain))).toEqual(told(body.details?.causes ?? []));
  });
});

/** Which fields are refused and why; the words about a rule that does not compile are those of a library. */
function told(causes: readonly Cause[]): string[] {
  return [...new Set(causes.map(({ reason, field }) => `${reason} ${field}`))].sort();
}
