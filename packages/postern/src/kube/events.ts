import { createHash } from "node:crypto";
import { type Clock, dateBy, realClock } from "@postern/core/clock.ts";
import { apiVersionOf, type Kind, type KubeObject } from "@postern/core/kind.ts";
import { cut } from "@postern/core/redact.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import type { KubeClient } from "./client.ts";
import { KubeError } from "./errors.ts";
import type { Log } from "./log.ts";

/** Something that happened to an object, recorded once. */
export interface NewEvent {
  type: "Normal" | "Warning";
  /** One CamelCase word or two. */
  reason: string;
  /** What was done or tried. */
  action: string;
  note: string;
}

interface EventObject extends KubeObject {
  [field: string]: unknown;
}

/** events.k8s.io/v1 Event. */
export const eventKind: Kind<EventObject> = {
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};

const sameEventMs = 6 * 60_000;
const remembered = 4096;
/** The server counts bytes. */
const longestNote = 1024;
/** Few at once and not too many waiting: events must not hold up what matters. */
const atOnce = 4;
const longestQueue = 1000;

/** An event that has yet to be written. */
interface Waiting {
  controller: string;
  kind: Kind;
  object: KubeObject;
  entry: NewEvent;
}

interface Recent {
  name: string;
  namespace: string;
  at: number;
  count: number;
  entry: number;
  /** Done when the server has it. */
  created: Promise<unknown>;
}

/**
 * Writes events. The same one again within six minutes is not written again: its count goes up, and that is
 * written when it has doubled, so that a loop cannot flood the API server. An event that cannot be written is
 * logged and forgotten: it never holds up the work.
 */
export class EventRecorder {
  readonly #client: KubeClient;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #instance: string;
  readonly #recent = new Map<string, Recent>();
  readonly #waiting: Waiting[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #dropped = 0;

  constructor(options: { client: KubeClient; log: Log; instance: string; clock?: Clock }) {
    this.#client = options.client;
    this.#log = options.log;
    this.#instance = options.instance;
    this.#clock = options.clock ?? realClock;
  }

  /** Tell an event about an object, in the name of a controller. It is written when its turn comes. */
  record(controller: string, kind: Kind, object: KubeObject, entry: NewEvent): void {
    if (this.#waiting.length >= longestQueue) {
      this.#dropped++;
      return;
    }
    this.#waiting.push({ controller, kind, object, entry });
    this.#pump();
  }

  /** Resolves when every recorded event is written. */
  async flush(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** How many were not written because too many were recorded at once. */
  get dropped(): number {
    return this.#dropped;
  }

  #pump(): void {
    while (this.#underWay.size < atOnce) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      const { controller, entry } = next;
      const writing = this.#write(next)
        .catch((err: unknown) =>
          this.#log.warn({ controller, reason: entry.reason, err }, "event not written"),
        )
        .finally(() => {
          this.#underWay.delete(writing);
          this.#pump();
        });
      this.#underWay.add(writing);
    }
  }

  async #write({ controller, kind, object, entry }: Waiting): Promise<void> {
    const { namespace = "default", name, uid = "" } = object.metadata;
    const note = cutToBytes(messageInSentences(cut(entry.note, 4 * longestNote)), longestNote);
    const id = createHash("sha256")
      .update(
        [controller, kind.kind, namespace, name, uid, entry.type, entry.reason, note].join("\0"),
      )
      .digest("hex")
      .slice(0, 16);
    const now = this.#clock.now();
    const before = this.#recent.get(id);
    if (before && now - before.at < sameEventMs && (await this.#requeue(before, now))) return;
    const event = this.#event(
      controller,
      kind,
      object,
      { ...entry, note },
      `${name.slice(0, 200)}.${id}.${Math.floor(now).toString(36)}`,
    );
    const created = this.#client.create(eventKind, event);
    this.#remember(id, {
      name: event.metadata.name,
      namespace,
      at: now,
      count: 1,
      entry: 1,
      // Without the event itself, which would stay in memory as long as this.
      created: created.then(
        () => {},
        () => {},
      ),
    });
    await created;
  }

  /** Count an event up; false where the server has forgotten it. */
  async #requeue(event: Recent, now: number): Promise<boolean> {
    event.at = now;
    event.count++;
    if (event.count < event.entry * 2) return true;
    event.entry = event.count;
    const series = { count: event.count, lastObservedTime: micro(dateBy(this.#clock)) };
    const place = { kind: eventKind, namespace: event.namespace, name: event.name };
    try {
      await event.created;
      await this.#client.patch(place, "merge", { series });
      return true;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return false;
      throw error;
    }
  }

  #event(
    controller: string,
    kind: Kind,
    object: KubeObject,
    entry: NewEvent,
    name: string,
  ): EventObject {
    const { namespace = "default", uid, resourceVersion } = object.metadata;
    return {
      metadata: { name, namespace },
      eventTime: micro(dateBy(this.#clock)),
      reportingController: `postern.io/${controller}`,
      reportingInstance: this.#instance.slice(0, 128),
      action: entry.action,
      reason: entry.reason,
      type: entry.type,
      note: entry.note,
      regarding: {
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        ...(object.metadata.namespace && { namespace }),
        name: object.metadata.name,
        ...(uid && { uid }),
        ...(resourceVersion && { resourceVersion }),
      },
    };
  }

  #remember(id: string, event: Recent): void {
    this.#recent.delete(id);
    this.#recent.set(id, event);
    if (this.#recent.size <= remembered) return;
    const oldest = this.#recent.keys().next().value;
    if (oldest !== undefined) this.#recent.delete(oldest);
  }
}

/** A time with six digits after the second, as Kubernetes' MicroTime wants it. */
export function micro(time: number | Date): string {
  return new Date(time).toISOString().replace("Z", "000Z");
}

/** The beginning of a text that fits into so many bytes, without half a character at its end. */
function cutToBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  return Buffer.from(text)
    .subarray(0, bytes)
    .toString()
    .replace(/\ufffd+$/, "");
}
