import { methodNotAllowed, noSuchPath, notFound } from "./answers.ts";
import type { Answer, Call, World } from "./call.ts";
import type { Verb } from "./routes.ts";
import { create } from "./verbs/create.ts";
import { remove, removeAll } from "./verbs/delete.ts";
import { finalize } from "./verbs/finalize.ts";
import { get } from "./verbs/get.ts";
import { list } from "./verbs/list.ts";
import { patch } from "./verbs/patch.ts";
import { requestToken } from "./verbs/token-request.ts";
import { update } from "./verbs/update.ts";

/** Carry a request out. Watches go on for longer and are not of these. */
export function dispatch(verb: Exclude<Verb, "watch">, call: Call, world: World): Answer {
  const { resource, subresource } = call;
  if (subresource !== undefined && !(subresource === "status" && resource.status))
    return ofSubresource(verb, call, world);
  if (resource.verbs?.includes(verb) === false) throw methodNotAllowed();
  switch (verb) {
    case "get":
      return get(call, world);
    case "list":
      return list(call, world);
    case "create":
      if (call.name !== undefined) throw methodNotAllowed();
      return create(call, world);
    case "update":
      return update(call, world);
    case "patch":
      return patch(call, world);
    case "delete":
      if (subresource !== undefined) throw methodNotAllowed();
      return remove(call, world);
    case "deletecollection":
      return removeAll(call, world);
  }
}

function ofSubresource(verb: Verb, call: Call, world: World): Answer {
  const { resource, subresource, name = "" } = call;
  const known = resource.subresources?.find((each) => each.name === subresource);
  if (!known) throw resource.builtIn ? noSuchPath() : notFound(resource, name);
  if (!known.verbs.includes(verb)) throw methodNotAllowed();
  if (subresource === "token") return requestToken(call, world);
  if (subresource === "finalize") return finalize(call, world);
  throw notFound(resource, name);
}
