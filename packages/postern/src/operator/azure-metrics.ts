import type { Clock } from "@postern/core/clock.ts";
import type { Registry } from "@prometheus-io/client";
import { Gauge } from "@prometheus-io/client";
import type { BudgetStates } from "../azure/budget.ts";
import type { EntraOptions } from "../azure/entra.ts";
import { boundedLabel } from "../kube/metrics.ts";

const kinds = ["reads", "writes", "deletes", "dnsReads"] as const;

/** What Azure lets this process send now, by subscription: of several identities the one with the least left. */
export function showBudgets(registry: Registry, states: () => readonly BudgetStates[]): void {
  const subscriptionLabel = boundedLabel(1_000);
  const gauge = (name: string, help: string, fill: (gauge: Gauge<string>) => void) =>
    new Gauge({
      name,
      help,
      labelNames: ["subscription", "kind"],
      registers: [registry],
      collect() {
        this.reset();
        fill(this);
      },
    });
  const each = (use: (labels: Record<string, string>, state: BudgetStates["reads"]) => void) => {
    for (const state of states())
      for (const kind of kinds)
        use({ subscription: subscriptionLabel(state.subscription), kind }, state[kind]);
  };
  gauge(
    "postern_azure_budget_remaining",
    "Requests that may be sent to Azure now, by the tightest limit",
    (all) => {
      const least = new Map<string, { labels: Record<string, string>; remaining: number }>();
      each((labels, { remaining }) => {
        const key = `${labels.subscription} ${labels.kind}`;
        if (remaining < (least.get(key)?.remaining ?? Number.POSITIVE_INFINITY))
          least.set(key, { labels, remaining });
      });
      for (const { labels, remaining } of least.values()) all.set(labels, remaining);
    },
  );
  gauge("postern_azure_budget_waiting", "Requests to Azure that wait for the budget", (all) =>
    each((labels, { waiting }) => all.inc(labels, waiting.change + waiting.retry + waiting.drift)),
  );
}

/** A certificate that has not been used for so long belongs to an identity that was deleted, or signs in otherwise now. */
const unusedMs = 86_400_000;

/** When the certificates expire by which this process signs in to Azure. Of a client secret only Entra knows that. */
export function showCertificates(
  registry: Registry,
  clock: Clock,
): NonNullable<EntraOptions["onCertificate"]> {
  const clientLabel = boundedLabel(1_000);
  const used = new Map<string, { expiresAt: Date; at: number }>();
  new Gauge({
    name: "postern_azure_credential_expiry_timestamp_seconds",
    help: "When the certificate of an Azure identity expires, in seconds since the epoch",
    labelNames: ["client_id"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [client, { expiresAt, at }] of used)
        if (clock.now() - at > unusedMs) used.delete(client);
        else this.set({ client_id: client }, expiresAt.getTime() / 1_000);
    },
  });
  return ({ clientId }, expiresAt) =>
    used.set(clientLabel(clientId), { expiresAt, at: clock.now() });
}
