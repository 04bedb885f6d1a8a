import { useEffect, useMemo, useState } from "preact/hooks";
import { type Box, type LaidOut, layOut } from "./layout.ts";
import { symbols, words } from "./state.tsx";
import type { Picture as Data, Line, Node, State } from "./types.ts";

const width = 196;
const height = 46;
/** Smaller than this nobody could read it. */
const leastScale = 0.75;

const kinds: Record<Node["kind"], string> = {
  cluster: "cluster",
  "load-balancer": "load balancer",
  "link-service": "link service",
  endpoint: "endpoint",
  zone: "private zone",
  record: "record",
  pool: "pool",
  appliance: "appliance",
};

/** The topology: networks as regions, things as nodes, and lines that carry their state. */
export function Picture(props: {
  picture: Data;
  chosen: string | undefined;
  choose: (node: Node) => void;
}) {
  const { picture, chosen, choose } = props;
  const drawing = useMemo(() => drawingOf(picture), [picture]);
  // Where nothing but states has changed everything stays where it is.
  const shape = JSON.stringify(drawing);
  const [laidOut, setLaidOut] = useState<{ shape: string; at: LaidOut | undefined }>();
  useEffect(() => {
    let wanted = true;
    const { nodes, lines, networks } = drawing;
    void layOut({ nodes, lines, networks }).then((at) => {
      if (wanted) setLaidOut({ shape, at });
    });
    return () => {
      wanted = false;
    };
  }, [shape]);
  if (laidOut === undefined) return <p class="quiet">laying it out …</p>;
  const { at } = laidOut;
  if (at === undefined) return <p class="quiet">it cannot be drawn; postern tree shows it</p>;
  const nodes = new Map(picture.nodes.map((node) => [node.id, node]));
  const lines = new Map(linesOf(picture).map((line) => [`${line.from} ${line.to}`, line]));
  const names = new Map(picture.networks.map((network) => [network.id, network]));
  return (
    <figure class="picture">
      <svg
        width={at.width}
        height={at.height}
        viewBox={`0 0 ${at.width} ${at.height}`}
        style={{ minWidth: `${Math.round(at.width * leastScale)}px` }}
        data-drawn={at.nodes.length}
      >
        <title>Topology</title>
        {at.networks.map((box) => {
          const network = names.get(box.id);
          return (
            <g key={box.id} class="network">
              <rect x={box.x} y={box.y} width={box.width} height={box.height} rx="12" />
              <text x={box.x + 10} y={box.y + 14}>
                {network?.label} {network?.blocks.join(" ")}
              </text>
            </g>
          );
        })}
        {at.lines.map(({ from, to, points }) => {
          const line = lines.get(`${from} ${to}`);
          return line ? <Edge key={`${from} ${to}`} line={line} points={points} /> : null;
        })}
        {at.nodes.map((box) => {
          const node = nodes.get(box.id);
          return node ? (
            <NodeBox
              key={box.id}
              node={node}
              box={box}
              chosen={chosen === box.id}
              choose={() => choose(node)}
            />
          ) : null;
        })}
      </svg>
    </figure>
  );
}

function Edge({ line, points }: { line: Line; points: { x: number; y: number }[] }) {
  const [first, ...rest] = points;
  if (first === undefined) return null;
  const middle = points[Math.floor(points.length / 2)] ?? first;
  return (
    <g class={`line ${line.state}`}>
      <path d={`M${first.x},${first.y} ${rest.map(({ x, y }) => `L${x},${y}`).join(" ")}`} />
      {line.state === "ok" ? null : (
        <text x={middle.x} y={middle.y - 4} text-anchor="middle">
          {symbols[line.state]} {line.label ?? ""}
        </text>
      )}
    </g>
  );
}

function NodeBox(props: { node: Node; box: Box; chosen: boolean; choose: () => void }) {
  const { node, box, chosen, choose } = props;
  const fact = node.facts.address ?? node.facts.members ?? node.facts.access ?? "";
  return (
    // biome-ignore lint/a11y/useSemanticElements: there is no button inside a picture.
    <g
      class={`node ${node.kind} ${node.state}${chosen ? " chosen" : ""}`}
      role="button"
      tabindex={0}
      aria-pressed={chosen}
      onClick={choose}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose();
      }}
    >
      <title>
        {kinds[node.kind]} {node.label}, {words[node.state]}
        {node.reason ? `, ${node.reason}` : ""}
      </title>
      <rect x={box.x} y={box.y} width={box.width} height={box.height} rx="8" />
      <text class="kind" x={box.x + 10} y={box.y + 17}>
        {kinds[node.kind]} {fact === node.label ? "" : fact}
      </text>
      <text class="label" x={box.x + 10} y={box.y + 35}>
        {short(node.label)}
      </text>
      <text class="mark" x={box.x + box.width - 18} y={box.y + 18}>
        {symbols[node.state]}
      </text>
    </g>
  );
}

function short(text: string): string {
  return text.length <= 22 ? text : `${text.slice(0, 12)}…${text.slice(-8)}`;
}

/** What hangs under something but has no line of its own is joined to it, or it would float. */
function linesOf({ nodes, lines }: Data): Line[] {
  const joined = new Set(lines.flatMap(({ from, to }) => [`${from} ${to}`, `${to} ${from}`]));
  const more = nodes.flatMap(({ id, under, state }): Line[] =>
    under === undefined || joined.has(`${under} ${id}`)
      ? []
      : [{ from: under, to: id, state: calm(state) }],
  );
  // A record leads back to its endpoint. Drawn forward it would turn the picture round.
  const kindOf = new Map(nodes.map(({ id, kind }) => [id, kind]));
  const isBack = ({ from, to }: Line) =>
    kindOf.get(from) === "record" && kindOf.get(to) === "endpoint";
  const turned = lines.filter((line) => !isBack(line));
  return [...turned, ...more];
}

function calm(state: State): State {
  return state === "broken" || state === "absent" ? state : "ok";
}

function drawingOf(picture: Data) {
  const there = new Set(picture.networks.map(({ id }) => id));
  return {
    nodes: picture.nodes.map(({ id, network }) => ({
      id,
      width,
      height,
      network: network !== undefined && there.has(network) ? network : undefined,
    })),
    lines: linesOf(picture).map(({ from, to }) => ({ from, to })),
    networks: picture.networks.map(({ id }) => ({ id })),
  };
}
