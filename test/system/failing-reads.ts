import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { MakeFeature } from "postern/kube/runtime.ts";
import type { KubernetesProxy } from "../chaos/kubernetes-proxy.ts";
import { ManualClock } from "../manual-clock.ts";

/** Early: the error comes before every other answer. Late: it comes when all other requests have been answered. */
export type Mode = "early" | "late";

/** Reads outside of features: watches, and what the runtime reads before it writes a status. */
const runtime = "runtime";
/** The name for features that are not part of Postern. Their reads do not fail. */
export const standIn = "stand-in";

/** The same read has other ids and versions each time. */
function shapeOf(path: string): string {
  return path
    .toLowerCase()
    .replace(/[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}/g, "*")
    .replace(/\b([0-9a-f]{32}|a[0-9a-f]{31})\b/g, "*")
    .replace(/&timeoutseconds=\d+/, "")
    .replace(/resourceversion=\d+/, "resourceversion=*");
}

function withoutQuery(path: string): string {
  return path.replace(/[?].*$/, "");
}

/**
 * Fails every read of Azure and Kubernetes once for each feature that makes it. At one instant of a manual clock at most one
 * read of a feature fails, so that the failure meets reads that succeed.
 */
export class FailingReads {
  readonly failed = new Set<string>();
  /** Requests to Kubernetes that are answered when the clock moves. */
  waiting = 0;
  readonly #mode: Mode;
  readonly #seen = new Set<string>();
  readonly #feature = new AsyncLocalStorage<string>();
  /** The feature that last sent a request to a path. */
  readonly #senders = new Map<string, string>();
  /** Until when no other read of a feature fails. */
  readonly #aloneUntil = new Map<string, number>();
  #clock = new ManualClock();

  constructor(mode: Mode) {
    this.#mode = mode;
  }

  /** Record which feature sends each request of this process, until the returned function is called. */
  recordSenders(): () => void {
    const record = (message: unknown) => {
      const { path } = (message as { request: { path: string } }).request;
      this.#senders.set(withoutQuery(shapeOf(path)), this.#feature.getStore() ?? runtime);
    };
    const channels = ["http.client.request.start", "undici:request:create"];
    for (const each of channels) subscribe(each, record);
    return () => {
      for (const each of channels) unsubscribe(each, record);
    };
  }

  /** The same feature; its requests are recorded under a name. */
  named(make: MakeFeature, name?: string): MakeFeature {
    return (parts) => {
      const made = make(parts);
      const { feature } = made;
      const run = <T>(act: () => T) => this.#feature.run(name ?? feature.name, act);
      return {
        ...made,
        feature: {
          ...feature,
          observe: (object, reconcile) => run(() => feature.observe(object, reconcile)),
          apply: (step, context, reconcile) => run(() => feature.apply(step, context, reconcile)),
        },
      };
    };
  }

  /** Fail reads of a world from now on. */
  strike(world: { clock: ManualClock; simulator: Simulator; kubernetes: KubernetesProxy }): void {
    this.#clock = world.clock;
    this.#aloneUntil.clear();
    this.waiting = 0;
    this.#strikeAzure(world.simulator);
    this.#strikeKubernetes(world.kubernetes);
  }

  /** The paths that were read, and have failed for no feature. */
  missed(): string[] {
    const failed = new Set([...this.failed].map((read) => read.slice(read.indexOf(" ") + 1)));
    return [...this.#seen].filter((path) => !failed.has(path));
  }

  #strikeAzure({ faults }: Simulator): void {
    // Without a rule the simulator does not ask.
    faults.add({ match: { path: "nowhere" }, effect: { kind: "slow", ms: 0 } });
    faults.strike = ({ method, path, action }) => {
      if (method !== "GET" || action === "") return undefined;
      const fails = this.#fails(path);
      if (!fails) return this.#waits(fails) ? { kind: "slow", ms: 1 } : undefined;
      return {
        kind: "answer",
        status: 500,
        body: { error: { code: "InternalServerError", message: "This read fails." } },
        // The ARM client retries a read only where the wait is shorter.
        headers: { "Retry-After": "6" },
        ...(this.#waits(fails) && { ms: 1 }),
      };
    };
  }

  #strikeKubernetes(proxy: KubernetesProxy): void {
    proxy.intercept = async ({ method, url = "", socket }) => {
      if (method !== "GET") return undefined;
      const fails = this.#fails(url);
      if (url.includes("watch=true")) {
        if (!fails) return undefined;
        if (!this.#waits(fails)) return 500;
        this.#clock.after(1, () => void socket.destroy());
        return undefined;
      }
      if (this.#waits(fails)) {
        this.waiting++;
        await new Promise<void>((resolve) => this.#clock.after(1, resolve));
        this.waiting--;
      }
      return fails ? 500 : undefined;
    };
  }

  /** Whether an answer waits for the clock, which moves when everything else is at rest. */
  #waits(fails: boolean): boolean {
    return (this.#mode === "late") === fails;
  }

  #fails(path: string): boolean {
    const shape = shapeOf(path);
    const feature = this.#senders.get(withoutQuery(shape)) ?? runtime;
    if (feature === standIn) return false;
    this.#seen.add(shape);
    const read = `${feature} ${shape}`;
    if (this.failed.has(read)) return false;
    // Reads of the runtime are independent of each other.
    const among = feature === runtime ? read : feature;
    const now = this.#clock.now();
    if (now <= (this.#aloneUntil.get(among) ?? 0)) return false;
    this.#aloneUntil.set(among, this.#mode === "late" ? now + 1 : now);
    this.failed.add(read);
    return true;
  }
}
