import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { conditions } from "../../../names.ts";
import { endpointSubnetOf } from "../../spec/facts.ts";

const ending = "-privateendpoint";

/**
 * Tells of which links the endpoints of the management cluster have changed since it was last asked: of two hundred clusters
 * only those need to look. When CAPZ comes to say that all endpoints are ready, those that changed lately are reported again.
 */
export function changedEndpoints(): (management: AzureCluster) => string[] {
  let last = new Map<string, string>();
  let wasReady = false;
  let unready = new Set<string>();
  return ({ spec, status }) => {
    const endpoints = endpointSubnetOf(spec.networkSpec?.subnets)?.endpoints ?? [];
    const now = new Map(endpoints.map((each) => [each.name, JSON.stringify(each)]));
    const names = new Set([...last.keys(), ...now.keys()]);
    const changed = new Set([...names].filter((name) => last.get(name) !== now.get(name)));
    last = now;
    for (const name of changed) unready.add(name);
    const condition = status?.conditions?.find(({ type }) => type === conditions.privateEndpoints);
    const isReady = condition?.status === "True";
    if (isReady && !wasReady) {
      for (const name of unready) changed.add(name);
      unready = new Set();
    }
    wasReady = isReady;
    return [...changed].flatMap((name) =>
      name.endsWith(ending) ? [name.slice(0, -ending.length)] : [],
    );
  };
}
