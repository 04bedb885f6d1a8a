import * as dagre from "@dagrejs/dagre";
import type { Drawing, LaidOut } from "./layout.ts";

/** Lays a picture out, beside the page and not in it: a large one must not stop the page. */
self.onmessage = ({
  data: { number, drawing },
}: MessageEvent<{ number: number; drawing: Drawing }>) => {
  self.postMessage({ number, laidOut: layOut(drawing) });
};

function layOut({ nodes, lines, networks }: Drawing): LaidOut {
  const graph = new dagre.graphlib.Graph({ compound: true });
  graph.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 56, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of networks) graph.setNode(`network ${id}`, {});
  for (const { id, width, height, network } of nodes) {
    graph.setNode(id, { width, height });
    if (network !== undefined) graph.setParent(id, `network ${network}`);
  }
  for (const { from, to } of lines) graph.setEdge(from, to);
  dagre.layout(graph);
  const box = (id: string) => {
    const { x, y, width, height } = graph.node(id) as {
      x: number;
      y: number;
      width: number;
      height: number;
    };
    return { id, x: x - width / 2, y: y - height / 2, width, height };
  };
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    nodes: nodes.map(({ id }) => box(id)),
    networks: networks.map(({ id }) => ({ ...box(`network ${id}`), id })),
    lines: lines.map(({ from, to }) => {
      const { points } = graph.edge(from, to) as { points: { x: number; y: number }[] };
      return { from, to, points };
    }),
  };
}
