import type { GWLBConfig } from "../appliance/gwlb-config.ts";

/** How the output looks. */
export type OutputFormat = "text" | "json";

/** Print one thing: a line of JSON, or rows for people. */
export function show(output: OutputFormat, fields: Readonly<Record<string, unknown>>): void {
  process.stdout.write(output === "json" ? `${JSON.stringify(fields)}\n` : rows(fields));
}

/** Rows with the names in one column; what is not there has no row. */
export function rows(fields: Readonly<Record<string, unknown>>): string {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${plain(value)}\n`).join("");
}

/** What people want to know of the machine and its pool; JSON has everything. */
export function briefly(config: GWLBConfig): Record<string, unknown> {
  const { tunnels, probe } = config;
  return {
    machine: config.resourceId,
    address: config.privateIP,
    pool: config.backendPoolResourceId,
    frontend: config.frontendIPs.join(", ") || undefined,
    tunnels: tunnels.map((each) => `${each.type} ${each.port}/${each.identifier}`).join(", "),
    probe: probe && `${probe.protocol} ${probe.port} ${probe.path}`,
  };
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
