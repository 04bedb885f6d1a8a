/** What happens to a machine of which it is told beforehand. */
export const eventTypes = ["Freeze", "Reboot", "Redeploy", "Preempt", "Terminate"] as const;

/** One of them. */
export type EventType = (typeof eventTypes)[number];

/** An event to be told of. */
export interface EventAsked {
  type: EventType;
  /** The names of the machines that it happens to. */
  resources: readonly string[];
  /** How long there is before it happens, if nobody agrees before; Azure's own notice if not given. */
  noticeMs?: number;
  description?: string;
  source?: "Platform" | "User";
  /** How long the machine is away; -1 where nobody knows. Freezes are told to take seconds. */
  durationSeconds?: number;
}

interface ScheduledEvent extends Required<Omit<EventAsked, "noticeMs">> {
  id: string;
  notBefore: number;
  status: "Scheduled" | "Started";
}

/** https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#event-scheduling */
const noticeMs: Readonly<Record<EventType, number>> = {
  Freeze: 15 * 60_000,
  Reboot: 15 * 60_000,
  Redeploy: 10 * 60_000,
  Preempt: 30_000,
  Terminate: 5 * 60_000,
};

/** The scheduled events of machines that are told together: those of a scale set, or one alone. */
export class ScheduledEvents {
  readonly #now: () => number;
  readonly #guid: () => string;
  readonly #events = new Map<string, ScheduledEvent>();
  #incarnation = 1;

  constructor(options: { now: () => number; guid: () => string }) {
    this.#now = options.now;
    this.#guid = options.guid;
  }

  /** Tell of an event; gives its id. */
  schedule(asked: EventAsked): string {
    const id = this.#guid().toUpperCase();
    this.#events.set(id, {
      id,
      type: asked.type,
      resources: asked.resources,
      description: asked.description ?? "",
      source: asked.source ?? "Platform",
      durationSeconds: asked.durationSeconds ?? (asked.type === "Freeze" ? 5 : -1),
      notBefore: this.#now() + (asked.noticeMs ?? noticeMs[asked.type]),
      status: "Scheduled",
    });
    this.#incarnation++;
    return id;
  }

  /** The event is over, or will not be. */
  end(id: string): void {
    if (this.#events.delete(id)) this.#incarnation++;
  }

  /** Agree that an event begins now. False where there is none of this id. */
  start(id: string): boolean {
    this.#settle();
    const event = this.#events.get(id.toUpperCase());
    if (!event) return false;
    this.#begin(event);
    return true;
  }

  /** Whether an event has begun; undefined where it is none any more. */
  started(id: string): boolean | undefined {
    this.#settle();
    const event = this.#events.get(id);
    return event && event.status === "Started";
  }

  /** What a machine is told. */
  document(): Record<string, unknown> {
    this.#settle();
    return {
      DocumentIncarnation: this.#incarnation,
      Events: [...this.#events.values()].map((event) => ({
        EventId: event.id,
        EventStatus: event.status,
        EventType: event.type,
        ResourceType: "VirtualMachine",
        Resources: event.resources,
        // A time only while it is still to come.
        NotBefore: event.status === "Started" ? "" : new Date(event.notBefore).toUTCString(),
        Description: event.description,
        EventSource: event.source,
        DurationInSeconds: event.durationSeconds,
      })),
    };
  }

  #settle(): void {
    const now = this.#now();
    for (const event of this.#events.values()) if (event.notBefore <= now) this.#begin(event);
  }

  #begin(event: ScheduledEvent): void {
    if (event.status === "Started") return;
    event.status = "Started";
    this.#incarnation++;
  }
}
