import type { MetricsCollector } from "./metrics.ts";

interface Series {
  help: string;
  type: "counter" | "gauge";
}

/** What the agent counts, under the names that it has for Prometheus. */
export const agentSeries = {
  postern_agent_registered: {
    help: "1 while this machine is a member of the backend pool",
    type: "gauge",
  },
  postern_agent_registration_seconds: {
    help: "How long the last registration took",
    type: "gauge",
  },
  postern_agent_registrations_total: { help: "Registrations that came about", type: "counter" },
  postern_agent_retries_total: {
    help: "Steps that were tried again, by what was done and the code of the reason",
    type: "counter",
  },
  postern_agent_registrations_lost_total: {
    help: "Times that the registration was found missing",
    type: "counter",
  },
  postern_agent_registrations_repaired_total: {
    help: "Times that a missing registration was made again",
    type: "counter",
  },
  postern_agent_imds_errors_total: {
    help: "Requests to the instance metadata service without a good answer, by status",
    type: "counter",
  },
  postern_agent_probes_total: {
    help: "Health probes that were answered, by status",
    type: "counter",
  },
  postern_agent_tunnel_packets_total: {
    help: "Packets that a tunnel carried, by link and direction; only of links that the agent made",
    type: "counter",
  },
  postern_agent_unhandled_rejections_total: {
    help: "Promises that were rejected without a handler, each a bug",
    type: "counter",
  },
} as const satisfies Record<string, Series>;

type Name = keyof typeof agentSeries;

/** What is known before anything happened: not how long a registration took, and nothing that has labels. */
const fromZero: readonly Name[] = [
  "postern_agent_registered",
  "postern_agent_registrations_total",
  "postern_agent_registrations_lost_total",
  "postern_agent_registrations_repaired_total",
  "postern_agent_unhandled_rejections_total",
];

/**
 * Plain numbers, and their text for Prometheus. The library that the operator uses for this costs as much start-up time as
 * Node itself, and the agent has a dozen numbers.
 */
export function agentMetrics(): MetricsCollector & {
  unhandledRejection(): void;
  text(): string;
} {
  const values = new Map<Name, Map<string, number>>();
  for (const name of Object.keys(agentSeries) as Name[]) values.set(name, new Map());
  const set = (name: Name, value: number, labels = "") => values.get(name)?.set(labels, value);
  const count = (name: Name, labels = "") => {
    const series = values.get(name);
    series?.set(labels, (series.get(labels) ?? 0) + 1);
  };
  for (const name of fromZero) set(name, 0);
  return {
    registered: (is) => set("postern_agent_registered", is ? 1 : 0),
    registeredAfter(seconds) {
      set("postern_agent_registration_seconds", seconds);
      count("postern_agent_registrations_total");
    },
    retried: (what, code) =>
      count("postern_agent_retries_total", `{what=${quoted(what)},code=${quoted(code)}}`),
    missing: () => count("postern_agent_registrations_lost_total"),
    repaired: () => count("postern_agent_registrations_repaired_total"),
    imdsFailed: (status) => count("postern_agent_imds_errors_total", `{status=${quoted(status)}}`),
    probed: (status) => count("postern_agent_probes_total", `{status=${quoted(String(status))}}`),
    tunnelPackets: (link, direction, packets) =>
      set(
        "postern_agent_tunnel_packets_total",
        packets,
        `{link=${quoted(link)},direction=${quoted(direction)}}`,
      ),
    unhandledRejection: () => count("postern_agent_unhandled_rejections_total"),
    text: () =>
      [...values]
        .flatMap(([name, series]) => [
          `# HELP ${name} ${agentSeries[name].help}`,
          `# TYPE ${name} ${agentSeries[name].type}`,
          ...[...series].map(([labels, value]) => `${name}${labels} ${value}`),
        ])
        .join("\n")
        .concat("\n"),
  };
}

/** As the text format of Prometheus wants it. */
function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
