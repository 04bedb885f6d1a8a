import type { Environment } from "@marcbachmann/cel-js";
import { isOfFormat } from "../../formats.ts";
import { type Functions, register } from "./register.ts";

/** An absolute URI, or a path that begins with a slash. */
class UrlValue {
  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(text: string) {
    const [, scheme = "", host = "", path = "", query = ""] =
      /^(?:([a-zA-Z][\w+.-]*):)?(?:\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?]*)(?:\?(.*))?$/.exec(text) ??
      [];
    this.text = text;
    this.scheme = scheme.toLowerCase();
    this.host = host;
    this.path = path;
    this.query = query;
  }

  get port(): string {
    return /:(\d*)$/.exec(this.host)?.[1] ?? "";
  }

  get hostname(): string {
    const name = this.host.replace(/:\d*$/, "");
    return name.startsWith("[") ? name.slice(1, -1) : name;
  }

  equals(other: unknown): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }
}

function urlOf(text: string): UrlValue {
  if (!isOfFormat(text, "uri")) {
    throw new Error(
      `URL parse error during conversion from string: parse "${text}": invalid URI for request`,
    );
  }
  return new UrlValue(text);
}

function queryOf({ query }: UrlValue): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const values = found.get(name);
    if (values) values.push(value);
    else found.set(name, [value]);
  }
  return found;
}

const type = "kubernetes.URL";

const functions: Functions = {
  [`url(string): ${type}`]: urlOf,
  "isURL(string): bool": (text: string) => isOfFormat(text, "uri"),
  [`${type}.getScheme(): string`]: (url: UrlValue) => url.scheme,
  [`${type}.getHost(): string`]: (url: UrlValue) => url.host,
  [`${type}.getHostname(): string`]: (url: UrlValue) => url.hostname,
  [`${type}.getPort(): string`]: (url: UrlValue) => url.port,
  [`${type}.getEscapedPath(): string`]: (url: UrlValue) => encodeURI(decodeURI(url.path)),
  [`${type}.getQuery(): map<string, list<string>>`]: queryOf,
};

/** URLs. */
export function registerUrls(environment: Environment): void {
  environment.registerType(type, UrlValue);
  environment.registerOperator(`${type} == ${type}`, (one: UrlValue, other) => one.equals(other));
  register(environment, functions);
}
