import type { ServerResponse } from "node:http";
import { type Clock, realClock } from "@postern/core/clock.ts";
import type { JournalStep } from "@postern/core/dashboard/journal-step.ts";
import { redactData } from "@postern/core/redact.ts";
import type { SourceOptions } from "./source.ts";

/** Changes that come together are told together. */
const gatherMs = 300;
/** Proxies and browsers give up on a stream that is silent; and what changes in Azure alone is found by reading again. */
const pulseMs = 15_000;

/**
 * What is new, to every page that is open, by server-sent events: `change` (look again), `step` and `pulse`. While no page is
 * open it listens to nothing.
 */
export class Stream {
  readonly #source: SourceOptions;
  readonly #clock: Clock;
  readonly #open = new Map<ServerResponse, () => Promise<unknown>>();
  #stops: (() => void)[] = [];
  #cancelChange: (() => void) | undefined;
  #pulse: (() => void) | undefined;

  constructor(source: SourceOptions) {
    this.#source = source;
    this.#clock = source.clock ?? realClock;
  }

  /** Keep a page up to date until it goes, or until it is refused: that is asked with each pulse. */
  serve(response: ServerResponse, refusal: () => Promise<unknown>): void {
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    response.write(`retry: 1000\nevent: change\ndata: {}\n\n`);
    if (this.#open.size === 0) this.#begin();
    this.#open.set(response, refusal);
    response.on("close", () => {
      this.#open.delete(response);
      if (this.#open.size === 0) this.#end();
    });
  }

  /** Watch the present runtime instead of the one before, and have every page read everything again. */
  renew(): void {
    if (this.#open.size === 0) return;
    this.#end();
    this.#begin();
    this.#say("change", {});
  }

  close(): void {
    this.#end();
    for (const response of this.#open.keys()) response.end();
    this.#open.clear();
  }

  #begin(): void {
    const { journal, runtime } = this.#source;
    const caches = runtime()?.caches.all() ?? [];
    this.#stops = [
      journal().listen((step) => this.#step(step)),
      ...caches.map((cache) => cache.onChange(() => this.#changed())),
      () => this.#pulse?.(),
    ];
    this.#beat();
  }

  #beat(): void {
    this.#pulse = this.#clock.after(this.#source.pulseMs ?? pulseMs, () => {
      this.#say("pulse", {});
      this.#closeRefused();
      this.#beat();
    });
  }

  /** While a page is open its token may expire, and its user may lose the permission. */
  #closeRefused(): void {
    for (const [response, refusal] of this.#open)
      refusal().then(
        (refused) => {
          if (refused) response.end();
        },
        () => response.end(),
      );
  }

  #end(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#cancelChange?.();
    this.#cancelChange = undefined;
  }

  #step(step: JournalStep): void {
    this.#say("step", step);
    this.#changed();
  }

  #changed(): void {
    this.#cancelChange ??= this.#clock.after(gatherMs, () => {
      this.#cancelChange = undefined;
      this.#say("change", {});
    });
  }

  #say(event: string, data: unknown): void {
    const text = `event: ${event}\ndata: ${JSON.stringify(redactData(data))}\n\n`;
    for (const response of this.#open.keys()) {
      // A page that does not read is dropped: it asks again when it comes back.
      if (response.writableLength > 1_000_000) response.destroy();
      else response.write(text);
    }
  }
}
