import { nameOf, resourceGroupOf, subscriptionOf } from "@postern/core/resource-id.ts";
import { Counter, Gauge, type Registry } from "@prometheus-io/client";
import { AzureError } from "../../../azure/errors.ts";
import { foundRecords } from "../../../private-dns/records/observed.ts";
import { isPublicZone } from "../../../private-dns/zone/observed.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { methodOf } from "./request-methods.ts";

const controller = "dns-operator-azure";

/** The numbers of the operator before us, under its names, so that its dashboards work. */
export class DnsMetrics {
  readonly #zones: Gauge<string>;
  readonly #sums: Gauge<string>;
  readonly #records: Gauge<string>;
  readonly #requests: Counter<string>;
  readonly #errors: Counter<string>;
  // What each cluster shows, and how many show the same.
  readonly #shown = new Map<string, readonly Series[]>();
  readonly #users = new Map<string, number>();

  constructor(registry: Registry) {
    const describe = (name: string, help: string, labelNames: string[]) => ({
      name: `dns_operator_azure_${name}`,
      help,
      labelNames,
      registers: [registry],
    });
    const zone = ["controller", "zone", "type"];
    const location = ["resource_group", "tenant_id", "subscription_id"];
    this.#zones = new Gauge(
      describe("zone_info", "DNS zones of clusters, each 1", [...zone, ...location]),
    );
    this.#sums = new Gauge(describe("zone_records_sum", "Record sets in a zone", zone));
    this.#records = new Gauge(
      describe("record_set_info", "Address records of clusters, each 1", [
        ...zone,
        "fqdn",
        "ip",
        "ttl",
      ]),
    );
    this.#requests = new Counter(
      describe("api_request_total", "Requests to Azure for the names of clusters", [
        "controller",
        "method",
      ]),
    );
    this.#errors = new Counter(
      describe("api_request_errors_total", "Those of them that failed", ["method"]),
    );
  }

  /** Count a request; that something is absent is an answer and no error. */
  async countRequest<T>(verb: string, path: string, answer: Promise<T>): Promise<T> {
    const method = methodOf(verb, path);
    this.#requests.inc({ controller, method });
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof AzureError && error.absent)) this.#errors.inc({ method });
      throw error;
    }
  }

  /** Show what was observed of a cluster's zones, and nothing that was shown of it before. */
  show(key: string, observed: Observed, tenants: Tenants = {}): void {
    const shown = observed.zones.flatMap((zone) => this.#seriesOf(zone, tenants));
    this.delete(key);
    for (const series of shown) {
      series.gauge.set(series.labels, series.value);
      this.#users.set(idOf(series), (this.#users.get(idOf(series)) ?? 0) + 1);
    }
    if (shown.length > 0) this.#shown.set(key, shown);
  }

  /** Show nothing of a cluster any more. What another one shows too stays: many have a zone of the same name. */
  delete(key: string): void {
    for (const series of this.#shown.get(key) ?? []) {
      const remaining = (this.#users.get(idOf(series)) ?? 1) - 1;
      if (remaining > 0) this.#users.set(idOf(series), remaining);
      else {
        this.#users.delete(idOf(series));
        series.gauge.remove(series.labels);
      }
    }
    this.#shown.delete(key);
  }

  #seriesOf(zone: ZoneInRole, tenants: Tenants): Series[] {
    const { id, role, observation } = zone;
    if (observation.state !== "exists") return [];
    const type = isPublicZone(id) ? "public" : "private";
    const labels = { controller, zone: nameOf(id), type };
    const info = {
      ...labels,
      resource_group: resourceGroupOf(id) ?? "",
      tenant_id: tenantFor(role, tenants) ?? "",
      subscription_id: subscriptionOf(id) ?? "",
    };
    if (role === "base") {
      // Of its record sets only those of the cluster are read: how many there are is the zone's own count.
      const { recordSets } = observation.resource;
      const sum = { gauge: this.#sums, labels, value: recordSets ?? 0 };
      return [
        { gauge: this.#zones, labels: info, value: 1 },
        ...(recordSets === undefined ? [] : [sum]),
      ];
    }
    const found = foundRecords(zone);
    const addresses = found.flatMap(({ found: { type: of, name, values, ttlSeconds } }) =>
      of === "A"
        ? values.map((ip) => ({ fqdn: `${name}.${nameOf(id)}`, ip, ttl: String(ttlSeconds ?? "") }))
        : [],
    );
    return [
      { gauge: this.#zones, labels: info, value: 1 },
      { gauge: this.#sums, labels, value: found.length },
      ...addresses.map((each) => ({
        gauge: this.#records,
        labels: { ...labels, ...each },
        value: 1,
      })),
    ];
  }
}

/** The tenants by whose identities zones are reached, where an AzureClusterIdentity says them. */
export interface Tenants {
  cluster?: string | undefined;
  management?: string | undefined;
}

/** No identity says the tenant of the base zone. */
function tenantFor(role: ZoneInRole["role"], { cluster, management }: Tenants): string | undefined {
  if (role === "base") return undefined;
  return role === "toWorkload" ? management : cluster;
}

/** One number, by its labels. */
interface Series {
  gauge: Gauge<string>;
  labels: Record<string, string>;
  value: number;
}

function idOf({ labels }: Series): string {
  return JSON.stringify(labels);
}
