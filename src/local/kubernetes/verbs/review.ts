import type { Answer, World } from "../call.ts";
import type { Asker, Review } from "../kinds/reviews.ts";
import { apiVersionOf } from "../seen.ts";
import { objectOf } from "./token-request.ts";

/** Answer a question about who somebody is or what they may do. Nothing is stored. */
export function review(asked: Review, body: unknown, asker: Asker, { tokens }: World): Answer {
  const { metadata = {}, spec } = objectOf(body);
  const status = asked.status((spec ?? {}) as Record<string, unknown>, asker, tokens.whoHas);
  return {
    code: 201,
    document: {
      kind: asked.kind,
      apiVersion: apiVersionOf(asked),
      metadata,
      ...(spec !== undefined && { spec }),
      status,
    },
  };
}
