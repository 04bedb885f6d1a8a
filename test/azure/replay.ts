import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { serve } from "../loopback.ts";

/** One request and its answer, as they were recorded. */
export interface Interaction {
  request: { method: string; url: string; headers?: Record<string, string[]>; body?: string };
  response: { code: number; headers?: Record<string, string[]>; body?: string };
}

/** Read a recording. */
export function readRecording(folder: string, name: string): Interaction[] {
  const recording = parse(readFileSync(join(folder, `${name}.yaml`), "utf8")) as {
    interactions: Interaction[];
  };
  return recording.interactions;
}

/**
 * Answer as recorded, in the recorded order. A request that is not the next one of the recording
 * (method, path, version, If-Match and body) is refused, and noted for the test to see.
 */
export async function replay(interactions: readonly Interaction[]): Promise<{
  url: string;
  strange: string[];
  /** How many of the recording have been asked for. */
  answered(): number;
}> {
  const strange: string[] = [];
  let at = 0;
  const { url } = await serve((seen, response, request) => {
    const base = `http://${request.headers.host}`;
    const next = interactions[at];
    const wanted =
      next === undefined ? "nothing more" : describe(next.request.method, next.request);
    const ifMatch = seen.headers["if-match"];
    const got = describe(seen.method, {
      url: `https://management.azure.com${seen.url}`,
      headers: ifMatch === undefined ? {} : { "If-Match": [ifMatch] },
      body: seen.body,
    });
    if (next === undefined || got !== wanted) {
      strange.push(`${got}\n  instead of ${wanted}`);
      response.writeHead(599);
      response.end();
      return;
    }
    at += 1;
    const { code, headers = {}, body = "" } = next.response;
    for (const [name, values] of Object.entries(headers)) {
      // The body of a recorded answer may have been rewritten since its length was taken.
      if (/^content-length$/i.test(name)) continue;
      response.setHeader(
        name,
        values.map((value) => value.replace("https://management.azure.com", base)),
      );
    }
    response.writeHead(code);
    response.end(body);
  });
  return { url, strange, answered: () => at };
}

/** What must be the same for a request to be the recorded one. */
function describe(
  method: string,
  { url, headers = {}, body = "" }: Pick<Interaction["request"], "url" | "headers" | "body">,
): string {
  const { pathname, searchParams } = new URL(url);
  const ifMatch = headers["If-Match"]?.[0] ?? "";
  const content = body === "" ? "" : JSON.stringify(JSON.parse(body));
  return [method, pathname, searchParams.get("api-version"), ifMatch, content].join(" ").trim();
}
