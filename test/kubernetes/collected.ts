import { afterAll, beforeAll } from "vitest";
import { clusterAt, describeOnCluster } from "../setup/cluster.ts";
import { type Plane, startPlane } from "../setup/plane.ts";
import { type Api, apiOf } from "./api.ts";

/**
 * Cases on an API server of their own, with the controllers that delete. Beside the one of the run they
 * do not run, because other suites name owners that are not there.
 */
export function describeCollected(name: string, suite: (api: Api) => void): void {
  describeOnCluster(name, () => {
    let plane: Plane | undefined;
    let current: Api | undefined;
    beforeAll(async () => {
      plane = await startPlane({ collects: true });
      current = apiOf(clusterAt(plane.address));
    }, 120_000);
    afterAll(() => plane?.stop());
    const api = new Proxy({} as Api, {
      get: (_none, key) => Reflect.get(current ?? {}, key),
    });
    suite(api);
  });
}
