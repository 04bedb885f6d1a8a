import { notAcceptable } from "./answers.ts";
import type { World } from "./call.ts";
import { reviews } from "./kinds/reviews.ts";
import { discoveryOf } from "./shown/discovery.ts";
import { openApiOf } from "./shown/openapi.ts";
import { issuer } from "./tokens.ts";

/** A document that is no object. */
export interface Page {
  code?: number;
  contentType: string;
  text: string;
  headers?: Readonly<Record<string, string>>;
  etag?: string;
}

/** Everything that is no resource: health, the version, discovery, schemas, keys. */
export interface Pages {
  page(path: string, accept: string | undefined, query: URLSearchParams): Page | undefined;
}

/** The version of Kubernetes whose behaviour this follows. */
const version = { major: "1", minor: "36" };

const versionPage: Page = {
  contentType: "application/json",
  text: JSON.stringify({
    ...version,
    gitVersion: `v${version.major}.${version.minor}.0+postern`,
    gitCommit: "",
    gitTreeState: "",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "none",
    compiler: "none",
    platform: `${process.platform}/${process.arch}`,
  }),
};

const healthPage: Page = { contentType: "text/plain; charset=utf-8", text: "ok" };

/** The pages of a world, at an address. */
export function pagesOf(world: World, authority: string): Pages {
  const documents = documentsOf(world, authority);
  return {
    page(path, accept, query) {
      if (/^\/(healthz|livez|readyz)(\/|$)/.test(path)) return healthPage;
      if (/^\/version\/?$/.test(path)) return versionPage;
      const identity = identityPage(path, world, authority);
      if (identity) return identity;
      const { discovery, openApi } = documents();
      if (path.startsWith("/openapi/")) {
        const found = openApi.answer(path, query.get("hash") ?? undefined);
        return found && schemaPage(found);
      }
      const found = discovery.answer(path.replace(/(.)\/$/, "$1"), accept);
      if (found === "unacceptable") throw notAcceptable();
      return found;
    },
  };
}

function schemaPage(found: NonNullable<ReturnType<ReturnType<typeof openApiOf>["answer"]>>): Page {
  if ("movedTo" in found)
    return { code: 301, contentType: "text/plain", text: "", headers: { location: found.movedTo } };
  const { document, immutable } = found;
  return immutable ? { ...document, headers: { "cache-control": "public, immutable" } } : document;
}

/** What others need to know the tokens of service accounts: Azure's federated credentials, for one. */
function identityPage(path: string, { tokens }: World, authority: string): Page | undefined {
  if (path === "/openid/v1/jwks")
    return {
      contentType: "application/jwk-set+json",
      text: JSON.stringify({ keys: tokens.keys() }),
    };
  if (path !== "/.well-known/openid-configuration") return undefined;
  const document = {
    issuer,
    jwks_uri: `https://${authority}/openid/v1/jwks`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
  return { contentType: "application/json", text: JSON.stringify(document) };
}

/** Made anew when a CRD came, changed or went. */
function documentsOf({ registry }: World, authority: string) {
  const make = () => ({
    revision: registry.revision,
    discovery: discoveryOf(registry.all(), reviews, authority),
    openApi: openApiOf(registry.all()),
  });
  let made: ReturnType<typeof make> | undefined;
  return () => {
    if (made?.revision !== registry.revision) made = make();
    return made;
  };
}
