import type { About, ClusterPage, JournalStep, ObjectText, Overview } from "./types.ts";

/** By how much the server's clock is ahead of this one. */
let aheadMs = 0;

/** The time by the server's clock, from which ages are counted. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}

const unsureMs = 2_000;
/** The server gives up on Azure and Kubernetes before that, and says so. */
const longestMs = 70_000;

/** What the server refused, in its own words. */
export class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Get data from the server. What it refuses is an error with its own words. */
async function get<T>(path: string): Promise<T> {
  const answer = await fetch(path, {
    headers: { accept: "application/json" },
    signal: AbortSignal.timeout(longestMs),
  });
  const theirs = Date.parse(answer.headers.get("date") ?? "");
  // The header has whole seconds: only more than that is a difference.
  const off = theirs - Date.now();
  aheadMs = Number.isNaN(off) || Math.abs(off) < unsureMs ? 0 : off;
  return read(answer);
}

async function read<T>(answer: Response): Promise<T> {
  const data = (await answer.json().catch(() => ({}))) as T & { error?: string };
  if (!answer.ok)
    throw new Refused(answer.status, data.error ?? `the server answered ${answer.status}`);
  return data;
}

const path = (key: string) => key.split("/").map(encodeURIComponent).join("/");

export const about = () => get<About>("/api/about");
export const overview = () => get<Overview>("/api/overview");
export const cluster = (key: string) => get<ClusterPage>(`/api/clusters/${path(key)}`);
export const objects = (key: string) => get<ObjectText[]>(`/api/objects/${path(key)}`);

/** Inject a fault; only local mode has any. The answer says what was done. */
export async function inject(name: string, target: string): Promise<string> {
  const answer = await fetch(`/api/actions/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-postern": "1" },
    body: JSON.stringify({ target }),
  });
  return (await read<{ message: string }>(answer)).message;
}

/** Called with what the server sends while the page is open. */
export interface Listener {
  change(): void;
  step(step: JournalStep): void;
  connected(isConnected: boolean): void;
}

const reconnectMs = 1_000;

/** Listen to the server until the answer is called. */
export function listen(listener: Listener): () => void {
  let events: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    events = new EventSource("/api/stream");
    events.addEventListener("open", () => listener.connected(true));
    events.addEventListener("error", () => {
      listener.connected(false);
      // The browser connects again by itself, but not to one that has refused it once, as a proxy does meanwhile.
      if (events.readyState === EventSource.CLOSED) timer = setTimeout(open, reconnectMs);
    });
    events.addEventListener("change", () => listener.change());
    // No event tells of what changes in Azure alone.
    events.addEventListener("pulse", () => listener.change());
    events.addEventListener("step", (event) => listener.step(JSON.parse(event.data)));
  };
  open();
  return () => {
    clearTimeout(timer);
    events.close();
  };
}
