import { subscribe } from "node:diagnostics_channel";

/** The requests of this process that wait for an answer. Watches never end and do not count. */
let open = 0;
let started = 0;

const counted = new WeakSet<object>();

function begin(request: object, path: string): void {
  if (/[?&]watch=(1|true)/.test(path)) return;
  counted.add(request);
  open++;
  started++;
}

function end(request: object): void {
  if (counted.delete(request)) open--;
}

type Message = { request: { path: string } };

const on = (channel: string, then: (message: Message) => void) =>
  subscribe(channel, (message) => then(message as Message));

on("http.client.request.start", ({ request }) => {
  begin(request, request.path);
  // A request that is destroyed has neither an answer nor always an error.
  (request as unknown as NodeJS.EventEmitter).once("close", () => end(request));
});
on("undici:request:create", ({ request }) => begin(request, request.path));
for (const channel of ["undici:request:trailers", "undici:request:error"])
  on(channel, ({ request }) => end(request));

/** How many turns of the event loop an answer may take to reach its reader in this process and become the next request. */
const turns = 12;

/** What takes longer than this is a loop: it writes again and again without waiting. */
const mostTurns = 6_000;

/** Wait until no request is under way and nothing follows from the last answer. Everything runs in this process. */
export async function settled(): Promise<void> {
  let before = started;
  for (let calm = 0, all = 0; calm < turns; all++) {
    await new Promise((resolve) => setImmediate(resolve));
    calm = open === 0 && started === before ? calm + 1 : 0;
    before = started;
    if (all > mostTurns)
      throw new Error(`it does not come to rest: ${open} requests are open, ${started} were made`);
  }
}
