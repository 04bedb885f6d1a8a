import { wait } from "@postern/core/clock.ts";
import { isExplained } from "@postern/core/failure.ts";
import type { ApplianceContext } from "./context.ts";
import type { GWLBConfig } from "./gwlb-config.ts";

/** What ends this machine, as Azure says it beforehand. */
export interface EndingEvent {
  id: string;
  type: "Terminate" | "Preempt";
  /** Begun already: nobody waits for anybody any more. */
  started: boolean;
  notBefore?: string;
}

/** https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#version-and-region-availability */
const apiVersion = "2020-07-01";
const path = "/scheduledevents";
/** What the same page recommends; the service takes five requests a second of a machine, for everything. */
const pollMs = 1_000;
/** The first request switches the events on, which may take two minutes. */
const firstAnswerMs = 150_000;
const answerMs = 10_000;

type Machine = Pick<GWLBConfig, "vmName" | "resourceId" | "scaleSet">;

/**
 * Look every second whether Azure is about to end this machine. Then let it leave and, once it has, agree, so that nobody
 * waits for the rest of the notice. Gives the event, or undefined where the signal came first; once it leaves, it is not
 * ended by the signal any more. What could not leave does not agree: Azure waits to the end of the notice, and that time can
 * still help. If Azure withdraws the event meanwhile, the error of leaving is thrown: the machine goes on, but is not in its
 * pool as it was, and must join again.
 */
export async function watchScheduledEvents(
  ctx: ApplianceContext,
  machine: Machine,
  leave: (event: EndingEvent) => Promise<void>,
): Promise<EndingEvent | undefined> {
  const { clock, signal, log } = ctx;
  let failure: unknown;
  for (let timeoutMs = firstAnswerMs; !signal.aborted; ) {
    try {
      const what = "read the scheduled events";
      const document = await ctx.imds.ask({ what, path, apiVersion, timeoutMs, signal });
      timeoutMs = answerMs;
      const [event] = endingEvents(document, machine);
      if (event !== undefined) {
        log.info({ event: event.id, type: event.type }, "Azure ends this machine");
        await leave(event).catch((error: unknown) => {
          failure = error;
          throw error;
        });
        if (!event.started) await agree(ctx, event);
        return event;
      }
      if (failure !== undefined) break;
      await wait(clock, pollMs, signal);
    } catch (error) {
      if (signal.aborted) break;
      if (!isExplained(error)) throw error;
      const { reason, message } = error.explain();
      log.warn({ code: reason, error: message }, "a scheduled event could not be dealt with");
      await wait(clock, pollMs, signal).catch(() => undefined);
    }
  }
  if (failure !== undefined && !signal.aborted) throw failure;
  return undefined;
}

/** The events that end this machine. All machines of a placement group are told of one another's, which are left alone. */
export function endingEvents(document: unknown, machine: Machine): EndingEvent[] {
  const events = field(document, "Events");
  if (!Array.isArray(events)) return [];
  const own = new Set(namesOf(machine).map((name) => name.toLowerCase()));
  return events.flatMap((each: unknown) => {
    const [id, type, resources] = [
      field(each, "EventId"),
      field(each, "EventType"),
      field(each, "Resources"),
    ];
    if (typeof id !== "string" || (type !== "Terminate" && type !== "Preempt")) return [];
    if (!Array.isArray(resources)) return [];
    if (!resources.some((name) => typeof name === "string" && own.has(name.toLowerCase())))
      return [];
    const notBefore = field(each, "NotBefore");
    return [
      {
        id,
        type,
        started: field(each, "EventStatus") === "Started",
        ...(typeof notBefore === "string" && notBefore !== "" && { notBefore }),
      },
    ];
  });
}

/** An instance of a uniform scale set is `set_7` in events. */
function namesOf({ vmName, resourceId, scaleSet }: Machine): string[] {
  if (scaleSet?.mode !== "Uniform") return [vmName];
  return [vmName, `${scaleSet.name}_${resourceId.slice(resourceId.lastIndexOf("/") + 1)}`];
}

/** The machine has left by now: an agreement that fails costs Azure the rest of the notice and nothing else. */
async function agree({ imds, log }: ApplianceContext, { id }: EndingEvent): Promise<void> {
  const what = "agree to the scheduled event";
  const body = { StartRequests: [{ EventId: id }] };
  const once = { timeoutMs: answerMs, patienceMs: answerMs };
  try {
    await imds.ask({ what, path, apiVersion, method: "POST", body, ...once });
  } catch (error) {
    if (!isExplained(error)) throw error;
    log.warn({ event: id, error: error.explain().message }, "the event was not agreed to");
  }
}

function field(from: unknown, name: string): unknown {
  return typeof from === "object" && from !== null ? Reflect.get(from, name) : undefined;
}
