import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readBody } from "../arm/body.ts";
import type { World } from "../arm/resource-type.ts";
import type { Traffic } from "../control/traffic.ts";
import type { Resource } from "../state/store.ts";
import { type ImdsAnswer, ImdsRefusal, identityRefused, refused } from "./answer.ts";
import { instanceDocument, scaleSetOf } from "./document.ts";
import { type EventAsked, ScheduledEvents } from "./events.ts";
import { identityToken } from "./identity.ts";
import { loadBalancerAnswer } from "./load-balancer.ts";
import { eventVersions, instanceVersions, newestVersions } from "./versions.ts";
import { walk } from "./walk.ts";

/** The metadata service of one machine. */
export interface Imds {
  /** Where the machine reaches it: what stands for `http://169.254.169.254`. */
  readonly url: string;
  /** The events that the machine and those with it are told of. */
  readonly events: ScheduledEvents;
  /** Tell of an event, of this machine if no others are named; gives its id. */
  schedule(event: Omit<EventAsked, "resources"> & { resources?: readonly string[] }): string;
  /** Answer everything with a status, such as 410 or 500, for a while. */
  fail(status: number, forMs: number): void;
  close(): Promise<void>;
}

/** For the support matrix: where the metadata service differs from Azure's. */
export const imdsDifferences: readonly string[] = [
  "Attested documents are not supported: 501.",
  "Each machine has a port on loopback instead of 169.254.169.254.",
  "Scheduled events are delivered from the first request on; Azure takes up to two minutes, and stops after a day without requests.",
  "An event starts when any machine approves it; Azure waits for all affected machines.",
  "The order of network interfaces is always the same; Azure guarantees no order.",
  "The messages for X-Forwarded-For, a repeated parameter and a leaf without format=text are our own: they are not documented.",
];

/** https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#rate-limiting */
const limits = { identity: 20, rest: 5 };

const boards = new WeakMap<World["store"], Map<string, ScheduledEvents>>();

/** Start the metadata service of a machine, on a port of its own on loopback. */
export async function startImds(
  { world, traffic }: { readonly world: World; readonly traffic?: Traffic },
  machineId: string,
  where: { host?: string; port?: number } = {},
): Promise<Imds> {
  const events = eventsOf(world, machineId);
  const failing = { status: 0, until: 0 };
  const buckets = { identity: bucket(limits.identity), rest: bucket(limits.rest) };
  const answer = (request: IncomingMessage, body: string | undefined): ImdsAnswer => {
    if (failing.until > world.now()) throw refused(failing.status, reasons[failing.status] ?? "");
    const asked = `http://imds${request.url ?? "/"}`;
    if (!URL.canParse(asked)) throw refused(400, "Bad request. The address is not valid");
    const url = new URL(asked);
    const path = url.pathname.toLowerCase().replace(/\/$/, "");
    const identity = path.startsWith("/metadata/identity");
    checkHeaders(request, identity);
    checkQuery(url.searchParams);
    if (!buckets[identity ? "identity" : "rest"](world.now()))
      throw refused(429, "Too many requests");
    const machine = world.store.get(machineId);
    if (!machine) throw refused(404, "Not found");
    return route({ world, machine, events }, request.method ?? "GET", path, url.searchParams, body);
  };
  const server = createServer((request, response) => {
    traffic?.came(response);
    const reply = (body: string | undefined) => send(response, () => answer(request, body));
    if (request.method === "GET") reply("");
    else readBody(request).then(reply, () => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(where.port ?? 0, where.host ?? "127.0.0.1", resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    events,
    schedule: (event) => {
      const name = world.store.get(machineId)?.name ?? "";
      return events.schedule({ ...event, resources: event.resources ?? [name] });
    },
    fail: (status, forMs) => {
      failing.status = status;
      failing.until = world.now() + forMs;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const reasons: Readonly<Record<number, string>> = {
  404: "Not found",
  410: "Gone",
  429: "Too many requests",
  500: "Internal server error",
};

interface Served {
  world: World;
  machine: Resource;
  events: ScheduledEvents;
}

function route(
  { world, machine, events }: Served,
  method: string,
  path: string,
  query: URLSearchParams,
  body: string | undefined,
): ImdsAnswer {
  const { store } = world;
  const [, root, category = "", ...rest] = path.split("/");
  if (root !== "metadata") throw refused(404, "Not found");
  if (method !== "GET" && !(method === "POST" && category === "scheduledevents"))
    throw refused(405, "Method Not Allowed");
  const version = query.get("api-version") ?? "";
  switch (category) {
    case "versions":
      return { status: 200, body: { apiVersions: instanceVersions } };
    case "instance":
      checkVersion(version, instanceVersions);
      return walk(instanceDocument(store, machine, version), rest, query.get("format"));
    case "loadbalancer":
      checkVersion(version, instanceVersions);
      return loadBalancerAnswer(store, machine);
    case "scheduledevents":
      checkVersion(version, eventVersions);
      return method === "GET" ? { status: 200, body: events.document() } : approve(events, body);
    case "identity":
      if (rest.join("/") !== "oauth2/token") throw refused(404, "Not Found");
      checkVersion(version, instanceVersions);
      return identityToken(world, machine, query);
    case "attested":
      throw refused(501, "The simulator does not attest documents.");
    default:
      throw refused(404, "Not found");
  }
}

function checkHeaders({ headers }: IncomingMessage, identity: boolean): void {
  const refuse = (what: string) =>
    identity ? identityRefused(400, "invalid_request", what) : refused(400, `Bad request. ${what}`);
  if (headers.metadata?.toString().toLowerCase() !== "true")
    throw refuse("Required metadata header not specified");
  // A proxy in between adds it: what only the machine may know must not leave it.
  if (headers["x-forwarded-for"] !== undefined)
    throw refuse("The X-Forwarded-For header is not allowed");
}

function checkQuery(query: URLSearchParams): void {
  const names = [...query.keys()].map((each) => each.toLowerCase());
  if (new Set(names).size < names.length)
    throw refused(400, "Bad request. A query parameter is given more than once");
}

function checkVersion(given: string, known: readonly string[]): void {
  if (known.includes(given)) return;
  throw new ImdsRefusal(400, {
    error:
      "Bad request. api-version is invalid or was not specified in the request. For more information refer to aka.ms/azureimds",
    "newest-versions": newestVersions(known),
  });
}

function approve(events: ScheduledEvents, body: string | undefined): ImdsAnswer {
  const bad = () => refused(400, "Bad request. The payload is malformed or names an unknown event");
  let ids: unknown[];
  try {
    const { StartRequests } = JSON.parse(body ?? "") as { StartRequests: { EventId: unknown }[] };
    ids = StartRequests.map(({ EventId }) => EventId);
  } catch {
    throw bad();
  }
  for (const id of ids)
    if (typeof id !== "string" || events.started(id.toUpperCase()) === undefined) throw bad();
  for (const id of ids) events.start(String(id));
  return { status: 200 };
}

/** A count of requests a second, on the simulator's clock. */
function bucket(perSecond: number): (now: number) => boolean {
  let left = perSecond;
  let at = 0;
  return (now) => {
    left = Math.min(perSecond, left + ((now - at) / 1000) * perSecond);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

/** The machines of a scale set are told of one another's events. */
function eventsOf(world: World, machineId: string): ScheduledEvents {
  const machine = world.store.get(machineId);
  const key = (machine && scaleSetOf(world.store, machine)?.key) ?? machineId.toLowerCase();
  let ofWorld = boards.get(world.store);
  if (!ofWorld) {
    ofWorld = new Map();
    boards.set(world.store, ofWorld);
  }
  let events = ofWorld.get(key);
  if (!events) {
    events = new ScheduledEvents({ now: () => world.now(), guid: () => world.guid() });
    ofWorld.set(key, events);
  }
  return events;
}

function send(response: ServerResponse, answer: () => ImdsAnswer): void {
  let made: ImdsAnswer;
  try {
    made = answer();
  } catch (error) {
    made =
      error instanceof ImdsRefusal
        ? { status: error.status, body: error.body }
        : { status: 500, body: { error: "Internal server error" } };
  }
  const { status, body } = made;
  const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, {
    Server: "IMDS/150.870.65.1854",
    ...(text !== "" && {
      "Content-Type":
        typeof body === "string" ? "text/plain; charset=utf-8" : "application/json; charset=utf-8",
    }),
    "Content-Length": Buffer.byteLength(text),
  });
  response.end(text);
}
