import type { IncomingMessage } from "node:http";
import type { Json } from "../state/store.ts";
import { Refusal } from "./refusal.ts";

/** Resource Manager takes no larger body:
 * https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling */
export const largestBody = 4 * 1024 * 1024;

/** Deeper than any body of Azure, and far from the depth at which reading one ends the process. */
const deepest = 100;

/** The body, or undefined where it is larger than Resource Manager takes: the rest of that is not waited for. */
export function readBody(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > largestBody)
    return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= largestBody) chunks.push(chunk);
      else {
        chunks.length = 0;
        request.pause();
        resolve(undefined);
      }
    });
    request.on("end", () => resolve(Buffer.concat(chunks).toString()));
    request.on("error", reject);
  });
}

/** What a body says. */
export function parseBody(body: string | undefined): Json | undefined {
  if (body === undefined)
    throw new Refusal(
      413,
      "RequestEntityTooLarge",
      `The request content is larger than ${largestBody} bytes.`,
      { by: "gateway", headers: { Connection: "close" } },
    );
  if (body === "") return undefined;
  let parsed: Json;
  try {
    parsed = JSON.parse(body) as Json;
  } catch {
    throw invalidContent("it is not valid JSON");
  }
  if (deeperThan(parsed, deepest)) throw invalidContent(`it is nested deeper than ${deepest}`);
  return parsed;
}

function deeperThan(value: Json | undefined, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  if (Array.isArray(value)) return value.some((each) => deeperThan(each, depth - 1));
  for (const name in value) if (deeperThan(value[name], depth - 1)) return true;
  return false;
}

function invalidContent(why: string): Refusal {
  return new Refusal(
    400,
    "InvalidRequestContent",
    `The request content was invalid and could not be deserialized: ${why}.`,
    { by: "gateway" },
  );
}
