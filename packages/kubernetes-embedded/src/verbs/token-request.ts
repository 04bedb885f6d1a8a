import { dateBy } from "@postern/core/clock.ts";
import { badRequest, invalid } from "../answers.ts";
import type { Answer, Call, World } from "../call.ts";
import { issuer } from "../tokens.ts";
import { find } from "./get.ts";

const leastSeconds = 600;
const mostSeconds = 2 ** 32;

/** Give a service account a token of its own. */
export function requestToken(call: Call, world: World): Answer {
  const { object } = find(call, world);
  const { name, namespace = "", uid } = object.metadata;
  const spec = (objectOf(call.body).spec ?? {}) as {
    audiences?: string[];
    expirationSeconds?: number;
    boundObjectRef?: unknown;
  };
  const { expirationSeconds = 3600 } = spec;
  const audiences = spec.audiences?.length ? spec.audiences : [issuer];
  check(expirationSeconds);
  const { token, expires } = world.tokens.mint({
    namespace,
    name,
    uid,
    audiences,
    expirationSeconds,
  });
  const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  return {
    code: 201,
    document: {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name, namespace, creationTimestamp: time(dateBy(world.clock).getTime()) },
      spec: { audiences, expirationSeconds, boundObjectRef: spec.boundObjectRef ?? null },
      status: { token, expirationTimestamp: time(expires) },
    },
  };
}

function check(seconds: number): void {
  const why =
    seconds < leastSeconds
      ? "may not specify a duration less than 10 minutes"
      : seconds > mostSeconds
        ? "may not specify a duration larger than 2^32 seconds"
        : undefined;
  if (why === undefined) return;
  throw invalid({ group: "authentication.k8s.io", kind: "TokenRequest" }, "", [
    {
      reason: "FieldValueInvalid",
      field: "spec.expirationSeconds",
      message: `Invalid value: ${seconds}: ${why}`,
    },
  ]);
}

/** A body that has to be an object; an absent one is empty. */
export function objectOf(body: unknown): Record<string, unknown> {
  if (body === undefined) return {};
  if (typeof body === "object" && body !== null && !Array.isArray(body) && !(body instanceof Error))
    return body as Record<string, unknown>;
  throw badRequest("the body of the request is not an object");
}
