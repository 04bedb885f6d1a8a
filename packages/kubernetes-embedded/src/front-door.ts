import type { IncomingMessage, ServerResponse } from "node:http";
import { dateBy } from "@postern/core/clock.ts";
import { internal, methodNotAllowed, noSuchPath, Refused, unauthorized } from "./answers.ts";
import type { Audit } from "./audit.ts";
import { parseBody, parseProtobuf, readBody } from "./body.ts";
import type { Answer, Call, World } from "./call.ts";
import { dispatch } from "./dispatch.ts";
import type { Asker } from "./kinds/reviews.ts";
import { isTrue } from "./options.ts";
import type { Pages } from "./pages.ts";
import { protobufType } from "./protobuf/object.ts";
import type { Resource } from "./resource.ts";
import { type ResourcePath, resourcePath, type Verb, verbOf } from "./routes.ts";
import { Sender } from "./send.ts";
import { encode, negotiateOutput, serialize } from "./serializer.ts";
import { serveWatch } from "./streams.ts";
import { review } from "./verbs/review.ts";
import { watch } from "./verbs/watch.ts";

/** A request on its way through. */
interface Passage {
  method: string;
  url: string;
  path: string;
  query: URLSearchParams;
  received: Date;
  asker?: Asker;
  verb: string;
  target?: ResourcePath;
}

/** Takes requests in: who asks, what for, and the answer back. */
export class FrontDoor {
  readonly counts = new Map<string, number>();
  readonly #world: World;
  readonly #audit: Audit | undefined;
  readonly #sender = new Sender();
  pages: Pages = { page: () => undefined };

  constructor(world: World, audit: Audit | undefined) {
    this.#world = world;
    this.#audit = audit;
  }

  async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = request;
    const mark = url.indexOf("?");
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1));
    const received = dateBy(this.#world.clock);
    const passage: Passage = { method, url, path, query, received, verb: method.toLowerCase() };
    response.on("error", () => undefined);
    response.on("close", () => this.#finished(request, response, passage));
    try {
      await this.#answer(request, response, passage);
    } catch (error) {
      const refused = error instanceof Refused ? error : internal(messageOf(error));
      if (response.headersSent) response.destroy();
      else this.#sender.refuse(request, response, refused);
    }
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    passage: Passage,
  ): Promise<void> {
    const { method, path, query } = passage;
    const asker = this.#world.tokens.whoHas(bearer(request));
    if (!asker) throw unauthorized();
    passage.asker = asker;
    const target = resourcePath(path);
    if (!target) return this.#page(request, response, passage);
    passage.target = target;
    const watching = target.subresource === undefined && isTrue(query.get("watch"));
    const verb = verbOf(method, target.name !== undefined, watching);
    if (verb) passage.verb = verb;
    const asked = this.#world.registry.review(target);
    const resource = this.#world.registry.find(target.group, target.version, target.plural);
    if (!asked && !resource) throw noSuchPath();
    if (!verb) throw methodNotAllowed();
    const { text, body } = await bodyOf(request);
    const output = negotiateOutput(
      request.headers.accept,
      query,
      dateBy(this.#world.clock).getTime(),
    );
    const answered = async (answer: Answer) => {
      const text = await encode(serialize(answer, output), output);
      this.#sender.send(
        request,
        response,
        answer,
        text,
        output.yaml ? "application/yaml" : undefined,
      );
    };
    if (asked) {
      if (verb !== "create") throw methodNotAllowed();
      return answered(review(asked, body, asker, this.#world));
    }
    if (!resource) throw noSuchPath();
    checkPlace(resource, target, verb);
    const call: Call = {
      resource,
      ...(target.namespace !== undefined && { namespace: target.namespace }),
      ...(target.name !== undefined && { name: target.name }),
      ...(target.subresource !== undefined && { subresource: target.subresource }),
      query,
      contentType: mediaType(request),
      userAgent: request.headers["user-agent"] ?? "",
      asker,
      text,
      body,
    };
    if (verb === "watch") return serveWatch(response, watch(call, this.#world), output);
    const answer = dispatch(verb, call, this.#world);
    const warning = this.#world.registry.warning(resource);
    const warnings = [...(warning === undefined ? [] : [warning]), ...(answer.warnings ?? [])];
    return answered({ ...answer, warnings });
  }

  #page(
    request: IncomingMessage,
    response: ServerResponse,
    { path, query, method }: Passage,
  ): void {
    const page =
      method === "GET" || method === "HEAD"
        ? this.pages.page(path, request.headers.accept, query)
        : undefined;
    this.#sender.page(request, response, page);
  }

  #finished(request: IncomingMessage, response: ServerResponse, passage: Passage): void {
    const { verb, target, asker, url, received } = passage;
    const about = target
      ? `${verb} ${target.plural}${target.subresource ? `/${target.subresource}` : ""}`
      : `${verb} /`;
    this.counts.set(about, (this.counts.get(about) ?? 0) + 1);
    this.#audit?.log({
      verb,
      requestURI: url,
      username: asker?.username ?? "system:anonymous",
      userAgent: request.headers["user-agent"] ?? "",
      ...(target && { objectRef: objectRef(target) }),
      code: response.statusCode,
      received,
    });
  }
}

function objectRef({ group, version, plural, ...rest }: ResourcePath): object {
  return {
    resource: plural,
    ...rest,
    ...(group !== "" && { apiGroup: group }),
    apiVersion: version,
  };
}

/** What lies in namespaces is listed and watched over all of them, and nothing else. */
function checkPlace(resource: Resource, { namespace, name }: ResourcePath, verb: Verb): void {
  if (!resource.namespaced && namespace !== undefined) throw noSuchPath();
  if (!resource.namespaced || namespace !== undefined) return;
  if (name === undefined && (verb === "list" || verb === "watch")) return;
  throw resource.builtIn && name === undefined ? methodNotAllowed() : noSuchPath();
}

async function bodyOf(request: IncomingMessage): Promise<{ text: string; body: unknown }> {
  if (request.method === "GET" || request.method === "HEAD") return { text: "", body: undefined };
  const bytes = await readBody(request);
  if (mediaType(request) === protobufType) return { text: "", body: parseProtobuf(bytes) };
  const text = bytes.toString();
  const body =
    text === "" && request.method === "DELETE"
      ? undefined
      : await parseBody(text, mediaType(request));
  return { text, body };
}

function mediaType(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function bearer(request: IncomingMessage): string {
  return /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
