import { crdOf } from "@postern/core/crd.ts";
import { definitions } from "@postern/core/definitions.ts";
import { apiVersionOf } from "@postern/core/kind.ts";
import { expect, vi } from "vitest";
import type { Cluster } from "../../setup/cluster.ts";

/**
 * Makes our kinds known to the API server and waits until it serves all of them. The server is shared by
 * the run: applying the same CRD twice changes nothing.
 */
export async function installKinds(cluster: Cluster): Promise<void> {
  for (const definition of definitions) {
    const crd = crdOf(definition);
    const { status, body } = await cluster.request(
      "PATCH",
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}?fieldManager=tests&force=true`,
      crd,
      { contentType: "application/apply-patch+yaml" },
    );
    expect([200, 201], JSON.stringify(body)).toContain(status);
  }
  for (const definition of definitions) {
    const path = `/apis/${apiVersionOf(definition)}/${definition.plural}`;
    await vi.waitFor(
      async () => expect((await cluster.request("GET", path)).status, path).toBe(200),
      { timeout: 20_000, interval: 100 },
    );
  }
}
