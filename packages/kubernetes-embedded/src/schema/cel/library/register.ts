import type { Environment } from "@marcbachmann/cel-js";

/** A function of CEL: its signature as the library writes it, and what it does. */
export type Functions = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Registers functions; none of them waits for anything. */
export function register(environment: Environment, functions: Functions): void {
  for (const [signature, handler] of Object.entries(functions)) {
    environment.registerFunction(signature, handler as (...args: unknown[]) => unknown, {
      async: false,
    });
  }
}

/** Makes a word such as `sets` of which functions hang; the signatures name its type. */
export function registerNamespace(environment: Environment, word: string, type: string): void {
  const Namespace = class {};
  environment.registerType(type, Namespace);
  environment.registerConstant(word, type, new Namespace());
}
