import type { Drawn } from "@postern/core/dashboard/picture.ts";
import type { LoadBalancer } from "../../azure/gateways/load-balancers.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import { backendsOf } from "../trace-balancer.ts";

/** The machines that answer behind a link service, below their load balancer. */
export function backendPart(given: {
  cluster: string;
  /** The node of the load balancer. */
  under: string;
  network: string | undefined;
  balancer: LoadBalancer | undefined;
  service: PrivateLinkService | undefined;
}): Pick<Drawn, "nodes" | "lines"> {
  const { cluster, under, network, balancer, service } = given;
  // Without a link service nobody knows which frontend counts.
  if (balancer === undefined || service === undefined) return { nodes: [], lines: [] };
  const { rules, pools, members } = backendsOf(balancer, service);
  const problem =
    rules.length === 0
      ? { state: "broken" as const, reason: "NoRule", message: "the frontend has no rule" }
      : { state: "absent" as const, reason: "NoBackends", message: "the pool has no machines" };
  const state = rules.length > 0 && members > 0 ? { state: "ok" as const } : problem;
  const id = `${under}|backend`;
  return {
    nodes: [
      {
        id,
        kind: "backend",
        label: pools.map(({ name }) => name).join(", ") || "none",
        cluster,
        under,
        ...(network && { network }),
        ...state,
        facts: { machines: String(members) },
        ...(pools[0]?.id && { azureId: pools[0].id }),
      },
    ],
    lines: [{ from: id, to: under, state: state.state }],
  };
}
