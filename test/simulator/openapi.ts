import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv, type ValidateFunction } from "ajv";

/** An answer to check, with what was asked. */
export interface Exchange {
  method: string;
  /** Path, with or without a query. */
  url: string;
  status: number;
  body: string;
}

interface Document {
  paths: Record<
    string,
    Record<
      string,
      { operationId?: string; responses: Record<string, { schema?: unknown; $ref?: string }> }
    >
  >;
}

interface Operation {
  segments: string[];
  method: string;
  file: string;
  /** Where the operation stands in its document, as a JSON pointer. */
  pointer: string;
  responses: Record<string, { schema?: unknown; $ref?: string }>;
}

/**
 * Azure's OpenAPI documents, asked whether an answer has the form that they describe. What newer api-versions add is
 * allowed: the schemas close nothing.
 */
export class OpenApi {
  readonly #ajv = new Ajv({
    strict: false,
    allErrors: false,
    validateFormats: false,
    logger: false,
  });
  readonly #operations: Operation[] = [];
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(folder: string) {
    for (const file of globSync(`${folder}/specification/**/*.json`)) {
      const document = JSON.parse(readFileSync(file, "utf8"), newerForm) as Document;
      if (document.paths === undefined) continue;
      const address = pathToFileURL(file).href;
      this.#ajv.addSchema(document as object, address);
      for (const [path, methods] of Object.entries(document.paths))
        for (const [method, operation] of Object.entries(methods)) {
          if (operation.responses === undefined) continue;
          const pointer = `#/paths/${pointerOf(path)}/${method}/responses`;
          this.#operations.push({
            segments: path.split("/"),
            method: method.toUpperCase(),
            file: address,
            pointer,
            responses: operation.responses,
          });
        }
    }
  }

  get operations(): number {
    return this.#operations.length;
  }

  /** What is wrong with an answer; undefined where nothing is, `unknown` where no document describes it. */
  check(exchange: Exchange): string | undefined {
    const operation = this.#operationOf(exchange);
    if (operation === undefined) return "unknown";
    const { status, body } = exchange;
    const described = operation.responses[String(status)];
    const which = described !== undefined ? String(status) : status >= 400 ? "default" : undefined;
    if (which === undefined)
      return `status ${status} is not among ${Object.keys(operation.responses).join(", ")}`;
    const schema = operation.responses[which]?.schema;
    if (schema === undefined) return undefined;
    if (body === "") return status === 202 || status === 204 ? undefined : "the body is empty";
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch {
      return "the body is not JSON";
    }
    const validate = this.#validator(`${operation.file}${operation.pointer}/${which}/schema`);
    if (validate(value)) return undefined;
    const [error] = validate.errors ?? [];
    return `${error?.instancePath} ${error?.message} (${basename(operation.file)})`;
  }

  #validator(address: string): ValidateFunction {
    let validate = this.#validators.get(address);
    if (!validate) {
      validate = this.#ajv.compile({ $ref: address });
      this.#validators.set(address, validate);
    }
    return validate;
  }

  #operationOf({ method, url }: Exchange): Operation | undefined {
    const segments = (url.split("?")[0] ?? "").split("/");
    return this.#operations.find(
      (each) =>
        each.method === method &&
        each.segments.length === segments.length &&
        each.segments.every(
          (word, i) => word.startsWith("{") || word.toLowerCase() === segments[i]?.toLowerCase(),
        ),
    );
  }
}

/** Swagger is on an older JSON schema, in which an exclusive bound is a flag beside the bound. */
function newerForm(name: string, value: unknown): unknown {
  return name.startsWith("exclusive") && typeof value === "boolean" ? undefined : value;
}

function pointerOf(path: string): string {
  return encodeURIComponent(path.replaceAll("~", "~0").replaceAll("/", "~1"));
}
