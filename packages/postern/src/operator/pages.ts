import type { Clock } from "@postern/core/clock.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { Gauge, type Registry } from "@prometheus-io/client";
import type { KubeClient } from "../kube/client.ts";
import { type Check, servePages } from "../kube/health.ts";
import type { Log } from "../kube/log.ts";
import { Access } from "../kube/serving/access.ts";
import { ServingCertificate } from "../kube/serving/certificate.ts";
import { isLoopback, type Listen, type Serving } from "../kube/serving/server.ts";

/** Where pages are served, and how. */
export interface PageFlags {
  /** Health pages; on a loopback address metrics too, where they have no address of their own. */
  listen: Listen;
  /** Metrics. */
  metrics?: Listen;
  /** The certificate of what is served elsewhere than on loopback; self-signed where there is none. */
  tlsCertFile?: string;
  tlsPrivateKeyFile?: string;
  /** Whether health pages show why a check fails also where others can reach them. */
  exposeDetails?: boolean;
  /** The dashboard, which is started later. */
  dashboard: Listen | false;
}

/** How a page that others can reach is protected: a token, over TLS. */
export interface Protection {
  access: Access;
  certificate: ServingCertificate;
}

/** The pages of an operator. */
export interface OperatorPages {
  url: string;
  metricsUrl: string | undefined;
  /** The protection of an address; none is needed on loopback. */
  protectionOf(listen: Listen): Protection | undefined;
  close(): Promise<void>;
}

/**
 * Serve health pages and metrics. The kubelet's probes have no token and check no certificate, so health has an address of its
 * own, as in the projects of controller-runtime.
 */
export async function startPages(
  flags: PageFlags,
  given: {
    client: KubeClient;
    log: Log;
    clock: Clock;
    registry: Registry;
    alive: () => Check[];
    ready: () => Check[];
  },
): Promise<OperatorPages> {
  const { client, log, clock, registry, alive, ready } = given;
  const files = filesOf(flags);
  const closing: (() => unknown)[] = [];
  const close = async () => {
    await Promise.all(closing.map((each) => each()));
  };
  const protect = async (): Promise<Protection> => {
    const certificate = await ServingCertificate.start({ files, clock, log });
    const access = new Access({ client, log, clock });
    closing.push(
      () => certificate.close(),
      () => access.close(),
    );
    showServingExpiry(registry, () => certificate.expiresAt);
    return { access, certificate };
  };
  const serving = async (pages: Parameters<typeof servePages>[0]): Promise<Serving> => {
    const served = await servePages(pages);
    closing.push(() => served.close());
    return served;
  };
  try {
    const elsewhere = [flags.metrics, flags.dashboard].some(
      (each) => each && !isLoopback(each.host),
    );
    const protection = elsewhere ? await protect() : undefined;
    const protectionOf = ({ host }: Listen) => (isLoopback(host) ? undefined : protection);
    const open = isLoopback(flags.listen.host);
    const details = flags.exposeDetails === true || open;
    const health = await serving({
      listen: flags.listen,
      health: { alive, ready, details, log },
      ...(open && !flags.metrics && { metrics: registry }),
    });
    const metrics =
      flags.metrics &&
      (await serving({
        listen: flags.metrics,
        metrics: registry,
        ...protectionOf(flags.metrics),
      }));
    const metricsUrl = metrics?.url ?? (open ? health.url : undefined);
    return { url: health.url, metricsUrl, protectionOf, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Register when the certificate expires. */
export function showServingExpiry(registry: Registry, expiresAtMs: () => number): void {
  new Gauge({
    name: "postern_serving_certificate_expiry_timestamp_seconds",
    help: "When the certificate of metrics and dashboard expires, in seconds since the epoch",
    registers: [registry],
    collect() {
      this.set(expiresAtMs() / 1_000);
    },
  });
}

function filesOf({ tlsCertFile: certFile, tlsPrivateKeyFile: keyFile }: PageFlags) {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined)
    throw new UsageError("--tls-cert-file and --tls-private-key-file must be set together");
  return { certFile, keyFile };
}
