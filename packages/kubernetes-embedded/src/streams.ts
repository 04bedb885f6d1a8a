import type { ServerResponse } from "node:http";
import type { VersionedObject } from "./conversion.ts";
import { type OutputFormat, serializeObject } from "./serializer.ts";
import type { Bookmark, EventType, Watch } from "./verbs/watch.ts";

/** Who does not read for so long is cut off, and watches again: the events of all others must not wait for them. */
const mostUnread = 64 * 1024 * 1024;

/** The bytes of the last event: all who watch are told of it one after the other, and share them. */
let last: { type: EventType; seen: VersionedObject; bytes: Buffer } | undefined;

/** Send the events of a watch until it or the client ends. */
export function serveWatch(response: ServerResponse, watch: Watch, output: OutputFormat): void {
  response.writeHead(200, {
    "content-type": "application/json",
    "cache-control": "no-cache, private",
    "transfer-encoding": "chunked",
  });
  // A client waits for the head before it goes on, and there may be no event for long.
  response.flushHeaders();
  // What there is at the start goes out in one piece.
  let start: Buffer[] | undefined = [];
  let ended = false;
  const send = (bytes: Buffer) => {
    if (start) start.push(bytes);
    else if (response.writableLength > mostUnread) response.destroy();
    else response.write(bytes);
  };
  const line = (type: string, text: string) => Buffer.from(`{"type":"${type}","object":${text}}\n`);
  let first = true;
  const stop = watch.start({
    event: (type, seen) => {
      send(
        eventBytes(type, seen, () =>
          line(type, serializeObject(watch.resource, seen, output, first)),
        ),
      );
      first = false;
    },
    bookmark: (object) => send(line("BOOKMARK", JSON.stringify(bookmarkIn(output, object)))),
    error: ({ status }) => send(line("ERROR", JSON.stringify(status))),
    end: () => {
      ended = true;
      if (!start) response.end();
    },
  });
  if (start.length > 0) response.write(Buffer.concat(start));
  start = undefined;
  if (ended) response.end();
  response.on("close", stop);

  function eventBytes(type: EventType, seen: VersionedObject, make: () => Buffer): Buffer {
    // Tables and the like are for one who looks on; objects are for many.
    if (output.form.as !== "object") return make();
    if (last?.seen !== seen || last.type !== type) last = { type, seen, bytes: make() };
    return last.bytes;
  }
}

/** A bookmark in the form of the objects beside it. */
function bookmarkIn({ form }: OutputFormat, object: Bookmark): object {
  if (form.as === "object") return object;
  const { metadata } = object;
  const kind = form.as === "table" ? "Table" : "PartialObjectMetadata";
  const apiVersion = `meta.k8s.io/${form.version}`;
  return {
    kind,
    apiVersion,
    metadata,
    ...(form.as === "table" && { columnDefinitions: null, rows: [] }),
  };
}
