import type { Answer, World } from "../call.ts";
import { apiVersionOf } from "../conversion.ts";
import type { Asker, Review } from "../kinds/reviews.ts";
import { objectOf } from "./token-request.ts";

type Spec = Record<string, unknown> & { audiences?: string[] };

/** Answer a question about who somebody is or what they may do. Nothing is stored. */
export function review(asked: Review, body: unknown, asker: Asker, { tokens }: World): Answer {
  const { metadata = {}, spec } = objectOf(body) as { metadata?: object; spec?: Spec };
  const who = (token: string) => tokens.whoHas(token, spec?.audiences);
  const status = asked.status(spec ?? {}, asker, who);
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
