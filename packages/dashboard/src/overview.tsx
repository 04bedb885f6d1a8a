import { useMemo, useState } from "preact/hooks";
import { Actions } from "./actions.tsx";
import { Details } from "./details.tsx";
import { Picture } from "./picture.tsx";
import { Badge, NotRead, symbols, words } from "./state.tsx";
import { Steps } from "./steps.tsx";
import type { ActionButton, Picture as Data, JournalStep, Node, State } from "./types.ts";

/** Up to so many clusters the overview draws every piece; beyond that each cluster is one tile, and only what serves none is drawn. */
const mostDrawn = 8;
const order: State[] = ["broken", "absent", "pending", "working", "unknown", "ok"];

/** All clusters: how many are well, which are not, and the picture or the tiles. */
export function Overview(props: {
  picture: Data;
  steps: readonly JournalStep[];
  actions: readonly ActionButton[];
  act: (name: string, target: string) => Promise<void>;
}) {
  const { picture, steps, actions, act } = props;
  const [search, setSearch] = useState("");
  const [only, setOnly] = useState<State>();
  const [chosen, setChosen] = useState<Node>();
  const found = useMemo(
    () =>
      picture.clusters
        .filter(
          ({ key, state }) =>
            key.includes(search.trim().toLowerCase()) && (only ?? state) === state,
        )
        .sort(
          (a, b) => order.indexOf(a.state) - order.indexOf(b.state) || a.key.localeCompare(b.key),
        ),
    [picture, search, only],
  );
  const nodesOf = useMemo(() => {
    const byCluster = new Map<string, Node[]>();
    for (const node of picture.nodes) {
      if (node.cluster === undefined) continue;
      const nodes = byCluster.get(node.cluster) ?? [];
      nodes.push(node);
      byCluster.set(node.cluster, nodes);
    }
    return byCluster;
  }, [picture]);
  const drawn = useMemo(
    () => (picture.clusters.length <= mostDrawn ? picture : withoutClusters(picture)),
    [picture],
  );
  const held = chosen && drawn.nodes.find(({ id }) => id === chosen.id);
  return (
    <>
      <section class="bar" aria-label="Clusters">
        <h1>
          {picture.clusters.length} {picture.clusters.length === 1 ? "cluster" : "clusters"}
        </h1>
        <label class="search">
          <span class="hidden">Search clusters</span>
          <input
            type="search"
            placeholder="Search clusters"
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
        <fieldset class="filters" aria-label="Show only">
          {order.map((state) => {
            const count = picture.clusters.filter((each) => each.state === state).length;
            // The one that is pressed stays, or nobody could let it go when the last of its clusters has changed.
            return count === 0 && only !== state ? null : (
              <button
                key={state}
                type="button"
                class={state}
                aria-pressed={only === state}
                onClick={() => setOnly(only === state ? undefined : state)}
              >
                <span aria-hidden="true">{symbols[state]}</span> {count} {words[state]}
              </button>
            );
          })}
        </fieldset>
      </section>
      <NotRead unread={picture.unread} />
      <ul class="tiles" aria-label="Clusters">
        {found.map(({ key, state, access, reason }) => (
          <li key={key}>
            <a class={`tile ${state}`} href={`#/clusters/${key}`}>
              <strong>{key}</strong>
              <Chain nodes={nodesOf.get(key) ?? []} />
              <Badge state={state}>{state === "ok" ? undefined : reason}</Badge>
              <span class="quiet">{access}</span>
            </a>
          </li>
        ))}
      </ul>
      {found.length === 0 ? (
        <p class="quiet">
          {search.trim() !== ""
            ? "no cluster is called so"
            : only === undefined
              ? "there is no cluster yet"
              : `no cluster: ${words[only]}`}
        </p>
      ) : null}
      {drawn.nodes.length > 0 ? (
        <section aria-label="Picture" class="drawn">
          <Picture picture={drawn} chosen={held?.id} choose={setChosen} />
          {held ? (
            <Details node={held} actions={actions} act={act} close={() => setChosen(undefined)} />
          ) : null}
        </section>
      ) : null}
      <Actions actions={actions.filter(({ on }) => on === "nothing")} target="" act={act} />
      {steps.length > 0 ? (
        <section>
          <h2>What is being done</h2>
          <Steps steps={steps} />
        </section>
      ) : null}
    </>
  );
}

/** What serves no cluster of its own: gateways, their pools and the appliances in them. */
function withoutClusters(picture: Data): Data {
  const nodes = picture.nodes.filter(({ cluster }) => cluster === undefined);
  const kept = new Set(nodes.map(({ id }) => id));
  const networks = new Set(nodes.map(({ network }) => network));
  return {
    ...picture,
    nodes,
    lines: picture.lines.filter(({ from, to }) => kept.has(from) && kept.has(to)),
    networks: picture.networks.filter(({ id }) => networks.has(id)),
  };
}

const links: Node["kind"][] = ["load-balancer", "link-service", "endpoint"];

/** The chain of a cluster in little: a dot for each link of it. */
function Chain({ nodes }: { nodes: readonly Node[] }) {
  const states = links.map((kind) => {
    const all = nodes.filter((node) => node.kind === kind).map(({ state }) => state);
    return order.find((state) => all.includes(state));
  });
  const known = states.map((state) => (state === undefined ? "not there" : words[state]));
  return (
    <svg
      class="chain"
      viewBox="0 0 108 16"
      role="img"
      aria-label={`load balancer, link service, endpoint: ${known.join(", ")}`}
    >
      {states.map((state, at) => (
        <g key={links[at]} class={state ?? "unknown"}>
          {at === 0 ? null : <line x1={at * 46 - 38} x2={at * 46 + 2} y1="8" y2="8" />}
          <circle cx={at * 46 + 8} cy="8" r="6" />
        </g>
      ))}
    </svg>
  );
}
