import type { About, BudgetLine, ClusterPage, JournalStep, Picture } from "./types.ts";

/** Ask the server for a page of data. What it refuses is an error with its own words. */
async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(path, { headers: { accept: "application/json" } });
  return read(answer);
}

async function read<T>(answer: Response): Promise<T> {
  const data = (await answer.json().catch(() => ({}))) as T & { error?: string };
  if (!answer.ok) throw new Error(data.error ?? `the server answered ${answer.status}`);
  return data;
}

export const about = () => ask<About>("/api/about");
export const overview = () => ask<Picture>("/api/overview");
export const budget = () => ask<BudgetLine[]>("/api/budget");
export const cluster = (key: string) =>
  ask<ClusterPage>(`/api/clusters/${key.split("/").map(encodeURIComponent).join("/")}`);

/** Do something; only local mode has anything to do. The answer says what was done. */
export async function act(name: string, target: string): Promise<string> {
  const answer = await fetch(`/api/actions/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-postern": "1" },
    body: JSON.stringify({ target }),
  });
  return (await read<{ said: string }>(answer)).said;
}

/** What is heard from the server while the page is open. */
export interface Heard {
  change(): void;
  step(step: JournalStep): void;
  /** Whether the server can be heard. */
  connected(yes: boolean): void;
}

const againMs = 2_000;

/** Listen until the answer is called. When the server is heard again everything is asked for anew. */
export function listen(heard: Heard): () => void {
  let events: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    events = new EventSource("/api/stream");
    events.addEventListener("open", () => heard.connected(true));
    events.addEventListener("error", () => {
      heard.connected(false);
      // The browser connects again by itself, but not to one that has refused it once, as a proxy does meanwhile.
      if (events.readyState === EventSource.CLOSED) timer = setTimeout(open, againMs);
    });
    events.addEventListener("change", () => heard.change());
    // What changes in Azure alone is told by nobody, and an answer may come from lists of some seconds ago.
    events.addEventListener("pulse", () => heard.change());
    events.addEventListener("step", (event) => heard.step(JSON.parse(event.data) as JournalStep));
  };
  open();
  return () => {
    clearTimeout(timer);
    events.close();
  };
}
