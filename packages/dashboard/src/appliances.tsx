import { Glyph } from "./state.tsx";
import type { Node } from "./types.ts";

/** Gateway load balancers, and the appliances in their pools by the names of their machines. */
export function Appliances({ nodes }: { nodes: readonly Node[] }) {
  const gateways = nodes.filter(({ kind, under }) => kind === "load-balancer" && !under);
  const below = (id: string) => nodes.filter(({ under }) => under === id);
  if (gateways.length === 0) return null;
  return (
    <section>
      <h2>Appliances</h2>
      <ul class="appliances">
        {gateways.map((gateway) => (
          <li key={gateway.id} class="card" data-gateway={gateway.label}>
            <p>
              <Glyph state={gateway.state} /> Gateway load balancer <strong>{gateway.label}</strong>
            </p>
            {below(gateway.id).map((pool) => (
              <p key={pool.id}>
                <Glyph state={pool.state} /> Pool <strong>{pool.label}</strong>{" "}
                <span class="quiet">
                  {pool.message ??
                    `${pool.facts.members} ${pool.facts.members === "1" ? "member" : "members"}`}
                </span>
                <span class="members">
                  {below(pool.id).map((each) => (
                    <span key={each.id} class="member" title={each.reason}>
                      <Glyph state={each.state} /> {each.label}{" "}
                      <span class="quiet">{each.facts.address}</span>
                    </span>
                  ))}
                </span>
              </p>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}
