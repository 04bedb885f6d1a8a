import { createHash } from "node:crypto";
import { type Clock, realClock } from "../model/clock.ts";
import { apiVersionOf, type Kind, type KubeObject } from "../model/kind.ts";
import type { KubeClient } from "./client.ts";
import type { Log } from "./log.ts";

/** Something that happened to an object, told once. */
export interface Told {
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
const longestNote = 1024;

/**
 * Writes events. The same one again within six minutes is not written anew: its count goes up, and that is
 * written when it has doubled, so that a loop cannot flood the API server. An event that cannot be written is
 * logged and forgotten: it never holds up the work.
 */
export class Events {
  readonly #client: KubeClient;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #instance: string;
  readonly #recent = new Map<
    string,
    { name: string; namespace: string; at: number; count: number; told: number }
  >();

  constructor(options: { client: KubeClient; log: Log; instance: string; clock?: Clock }) {
    this.#client = options.client;
    this.#log = options.log;
    this.#instance = options.instance;
    this.#clock = options.clock ?? realClock;
  }

  /** Tell an event about an object, in the name of a controller. */
  async tell(controller: string, kind: Kind, object: KubeObject, told: Told): Promise<void> {
    const { namespace = "default", name, uid = "" } = object.metadata;
    const note = told.note.slice(0, longestNote);
    const id = createHash("sha256")
      .update(
        [controller, kind.kind, namespace, name, uid, told.type, told.reason, note].join("\0"),
      )
      .digest("hex")
      .slice(0, 16);
    const now = this.#clock.now();
    const before = this.#recent.get(id);
    try {
      if (before && now - before.at < sameEventMs) return await this.#again(before, now);
      const event = this.#event(
        controller,
        kind,
        object,
        { ...told, note },
        `${name.slice(0, 200)}.${id}.${now.toString(36)}`,
      );
      this.#remember(id, { name: event.metadata.name, namespace, at: now, count: 1, told: 1 });
      await this.#client.create(eventKind, event);
    } catch (err) {
      this.#log.warn({ controller, reason: told.reason, err }, "event not written");
    }
  }

  async #again(
    event: { name: string; namespace: string; at: number; count: number; told: number },
    now: number,
  ): Promise<void> {
    event.at = now;
    event.count++;
    if (event.count < event.told * 2) return;
    event.told = event.count;
    const series = { count: event.count, lastObservedTime: micro(now) };
    await this.#client.patch(
      { kind: eventKind, namespace: event.namespace, name: event.name },
      "merge",
      { series },
    );
  }

  #event(
    controller: string,
    kind: Kind,
    object: KubeObject,
    told: Told,
    name: string,
  ): EventObject {
    const { namespace = "default", uid, resourceVersion } = object.metadata;
    return {
      metadata: { name, namespace },
      eventTime: micro(this.#clock.now()),
      reportingController: `postern.io/${controller}`,
      reportingInstance: this.#instance.slice(0, 128),
      action: told.action,
      reason: told.reason,
      type: told.type,
      note: told.note,
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

  #remember(
    id: string,
    event: { name: string; namespace: string; at: number; count: number; told: number },
  ): void {
    this.#recent.delete(id);
    this.#recent.set(id, event);
    if (this.#recent.size <= remembered) return;
    const oldest = this.#recent.keys().next().value;
    if (oldest !== undefined) this.#recent.delete(oldest);
  }
}

/** A time with six digits after the second, as Kubernetes' MicroTime wants it. */
export function micro(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
