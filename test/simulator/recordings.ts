import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/** A request and its answer, as they went over the wire to and from Azure. */
export interface Recorded {
  recording: string;
  id: number;
  method: string;
  /** Path and query. */
  url: string;
  headers: Record<string, string>;
  body: string;
  answer: { status: number; headers: Record<string, string>; body: string };
}

interface Cassette {
  interactions: {
    id: number;
    request: { method: string; url: string; body: string; headers: Record<string, string[]> };
    response: { code: number; body: string; headers: Record<string, string[]> };
  }[];
}

/** Every recording in a folder, each a list of interactions in their order. */
export function readRecordings(folder: string): Recorded[][] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
  return files.sort().map((file) => {
    const cassette = parse(readFileSync(join(folder, file), "utf8")) as Cassette;
    return cassette.interactions.map(({ id, request, response }) => {
      const { pathname, search } = new URL(request.url);
      return {
        recording: file.replace(/\.yaml$/, ""),
        id,
        method: request.method,
        url: pathname + search,
        headers: first(request.headers),
        body: request.body,
        answer: { status: response.code, headers: first(response.headers), body: response.body },
      };
    });
  });
}

function first(headers: Record<string, string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [name.toLowerCase(), values[0] ?? ""]),
  );
}
