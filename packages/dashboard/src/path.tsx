import { duration } from "@postern/core/duration.ts";
import { Age, took } from "./ages.tsx";
import { otherConnections, type Path, type PathHop, pathsOf, stepsOn } from "./paths.ts";
import { Glyph, Name, Words, words } from "./state.tsx";
import type { JournalStep, Node, Picture } from "./types.ts";

/** The way of traffic from clients to the API server, one row for each private endpoint. */
export function Paths(props: {
  picture: Picture;
  steps: readonly JournalStep[];
  chosen: string | undefined;
  choose: (node: string | undefined) => void;
}) {
  const { picture, steps, chosen, choose } = props;
  const paths = pathsOf(picture);
  const others = otherConnections(picture);
  if (paths.length === 0) return <p class="quiet">It has no private link.</p>;
  return (
    <>
      {paths.map((path) => (
        <Row key={path.id} path={path} steps={steps} chosen={chosen} choose={choose} />
      ))}
      {others.length > 0 ? (
        <p class="others">
          Connections of others:{" "}
          {others.map((node) => (
            <button key={node.id} type="button" onClick={() => choose(node.id)}>
              <Glyph state={node.state} /> {node.label}{" "}
              <span class="quiet">{node.reason ?? ""}</span>
            </button>
          ))}
        </p>
      ) : null}
    </>
  );
}

function Row(props: {
  path: Path;
  steps: readonly JournalStep[];
  chosen: string | undefined;
  choose: (node: string | undefined) => void;
}) {
  const { path, steps, chosen, choose } = props;
  return (
    <ol class="path" aria-label="Path of traffic">
      {path.hops.map((hop) => (
        <li key={hop.title} class={`hop ${hop.state}`} data-hop={hop.title} data-state={hop.state}>
          <HopBox hop={hop} steps={steps} chosen={chosen} choose={choose} />
        </li>
      ))}
    </ol>
  );
}

function HopBox(props: {
  hop: PathHop;
  steps: readonly JournalStep[];
  chosen: string | undefined;
  choose: (node: string | undefined) => void;
}) {
  const { hop, steps, chosen, choose } = props;
  const [first] = hop.nodes;
  const isChosen = hop.nodes.some(({ id }) => id === chosen);
  const [last] = hop.nodes.flatMap((node) => stepsOn(node, steps)).toSorted(latest);
  const inside = (
    <>
      <span class="kind">{hop.title}</span>
      <span class="label">
        {first ? <Glyph state={hop.state} /> : null} <Name text={hop.label} />
      </span>
      <span class="fact">
        <Words text={hop.state === "ok" ? hop.fact : stateText(hop)} />
      </span>
      {last ? (
        <span class="fact">
          <Words text={last.do} />
          {last.endedAt ? (
            <>
              {" took "}
              <span class="duration">{took(last.at, last.endedAt)}</span>
              {", "}
              <Age time={last.at} />
            </>
          ) : (
            <>
              {" is running "}
              <Age time={last.at} as="for" />
              {last.expectedMs === undefined ? "" : `, of about ${duration(last.expectedMs)}`}
            </>
          )}
        </span>
      ) : null}
    </>
  );
  if (first === undefined) return <div class="box">{inside}</div>;
  return (
    <button
      type="button"
      class="box"
      aria-pressed={isChosen}
      onClick={() => choose(isChosen ? undefined : first.id)}
    >
      {inside}
    </button>
  );
}

function latest(a: JournalStep, b: JournalStep): number {
  return b.number - a.number;
}

function stateText({ state, nodes }: PathHop): string {
  const worst = nodes.find((node) => node.state === state);
  const reason = worst?.reason && !/^(notfound|success)$/i.test(worst.reason) ? worst.reason : "";
  return [words[state], reason].filter(Boolean).join(": ");
}

/** The node of a path that an id names. */
export function nodeIn(picture: Picture, id: string | undefined): Node | undefined {
  return id === undefined ? undefined : picture.nodes.find((node) => node.id === id);
}
