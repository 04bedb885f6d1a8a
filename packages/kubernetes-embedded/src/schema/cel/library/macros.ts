import { type Environment, Optional } from "@marcbachmann/cel-js";
import type { Checker, Context, Evaluator, Node, Type } from "../node.ts";
import { ObjectValue } from "../values.ts";
import { compareValues } from "./lists.ts";

interface Call {
  args: Node[];
  receiver: Node;
}

function nameOf(node: Node | undefined): string {
  if (node?.op === "id") return node.args as string;
  throw new Error("argument is not an identifier");
}

function partTypes(checker: Checker, type: Type, node: Node): [Type, Type] {
  const dyn = checker.getType("dyn");
  if (type.kind === "list") return [checker.getType("int"), type.valueType ?? dyn];
  if (type.kind === "map") return [type.keyType ?? dyn, type.valueType ?? dyn];
  if (type.kind === "dyn") return [dyn, dyn];
  throw checker.createError(
    "invalid_comprehension_range",
    "expression cannot be range of a comprehension (must be list, map, or dynamic)",
    node,
  );
}

function pairsOf(range: unknown): [unknown, unknown][] {
  if (Array.isArray(range)) return range.map((item, index) => [BigInt(index), item]);
  if (range instanceof Map && !(range instanceof ObjectValue)) return [...range];
  return Object.entries(range as object);
}

/** What is asked of each key and value, and what comes of the answers. */
interface TwoVariables {
  type(checker: Checker, parts: Type[]): Type;
  result(
    pairs: [unknown, unknown][],
    ask: (part: number, pair: [unknown, unknown]) => unknown,
  ): unknown;
}

function twoVariables(kind: TwoVariables) {
  return ({ args, receiver }: Call) => {
    const [key, value, ...parts] = args;
    const names = [nameOf(key), nameOf(value)];
    let outer: Context | undefined;
    let inner: Context | undefined;
    return {
      args,
      receiver,
      async: false,
      typeCheck(checker: Checker, _: unknown, context: Context): Type {
        const [keyType, valueType] = partTypes(checker, checker.check(receiver, context), receiver);
        outer = context.forkWithVariable(names[0] ?? "", keyType);
        inner = outer.forkWithVariable(names[1] ?? "", valueType);
        const below = inner;
        return kind.type(
          checker,
          parts.map((part) => checker.check(part, below)),
        );
      },
      evaluate(evaluator: Evaluator, _: unknown, context: Context): unknown {
        const pairs = pairsOf(evaluator.run(receiver, context));
        return kind.result(pairs, (part, [one, other]) => {
          const first = (outer as Context).reuse(context).setIterValue(one, evaluator);
          const second = (inner as Context).reuse(first).setIterValue(other, evaluator);
          return evaluator.run(parts[part] as Node, second);
        });
      },
    };
  };
}

const bool = (checker: Checker) => checker.getType("bool");

/** Errors count only where no other answer decides. */
function quantified(
  pairs: [unknown, unknown][],
  ask: (part: number, pair: [unknown, unknown]) => unknown,
  deciding: boolean,
): boolean {
  let failure: unknown;
  let failed = false;
  for (const pair of pairs) {
    try {
      if (ask(0, pair) === deciding) return deciding;
    } catch (error) {
      failure = error;
      failed = true;
    }
  }
  if (failed) throw failure;
  return !deciding;
}

const all: TwoVariables = { type: bool, result: (pairs, ask) => quantified(pairs, ask, false) };
const exists: TwoVariables = { type: bool, result: (pairs, ask) => quantified(pairs, ask, true) };
const existsOne: TwoVariables = {
  type: bool,
  result: (pairs, ask) => pairs.filter((pair) => ask(0, pair) === true).length === 1,
};

function transformed(make: "list" | "map" | "entries", filters: boolean): TwoVariables {
  return {
    type(checker, parts) {
      const last = parts.at(-1) ?? checker.getType("dyn");
      if (make === "list") return checker.registry.getListType(last);
      return make === "entries" ? last : checker.registry.getMapType(checker.getType("dyn"), last);
    },
    result(pairs, ask) {
      const kept = filters ? pairs.filter((pair) => ask(0, pair) === true) : pairs;
      const part = filters ? 1 : 0;
      if (make === "list") return kept.map((pair) => ask(part, pair));
      if (make === "map") return new Map(kept.map((pair) => [pair[0], ask(part, pair)]));
      return new Map(kept.flatMap((pair) => pairsOf(ask(part, pair))));
    },
  };
}

function sortBy({ args, receiver }: Call) {
  const [variable, key] = args;
  const name = nameOf(variable);
  let inner: Context | undefined;
  return {
    args,
    receiver,
    async: false,
    typeCheck(checker: Checker, _: unknown, context: Context): Type {
      const type = checker.check(receiver, context);
      inner = context.forkWithVariable(name, partTypes(checker, type, receiver)[1]);
      checker.check(key as Node, inner);
      return type;
    },
    evaluate(evaluator: Evaluator, _: unknown, context: Context): unknown {
      const list = evaluator.run(receiver, context) as unknown[];
      const keyed = list.map((item) => {
        const below = (inner as Context).reuse(context).setIterValue(item, evaluator);
        return { item, key: evaluator.run(key as Node, below) };
      });
      return keyed.sort((one, other) => compareValues(one.key, other.key)).map(({ item }) => item);
    },
  };
}

function optionalMap(isFlat: boolean) {
  return ({ args, receiver }: Call) => {
    const [variable, body] = args;
    const name = nameOf(variable);
    let inner: Context | undefined;
    return {
      args,
      receiver,
      async: false,
      typeCheck(checker: Checker, _: unknown, context: Context): Type {
        const type = checker.check(receiver, context);
        inner = context.forkWithVariable(name, type.valueType ?? checker.getType("dyn"));
        const result = checker.check(body as Node, inner);
        return isFlat ? result : checker.registry.getOptionalType(result);
      },
      evaluate(evaluator: Evaluator, _: unknown, context: Context): unknown {
        const optional = evaluator.run(receiver, context) as Optional;
        if (!optional.hasValue()) return Optional.none();
        const below = (inner as Context).reuse(context).setIterValue(optional.value(), evaluator);
        const result = evaluator.run(body as Node, below);
        return isFlat ? result : Optional.of(result);
      },
    };
  };
}

/** Macros: two variables at once, sorting by a key, and what an optional value becomes. */
export function registerMacros(environment: Environment): void {
  const macros: Record<string, (call: Call) => unknown> = {
    "list.all(ast, ast, ast): bool": twoVariables(all),
    "list.exists(ast, ast, ast): bool": twoVariables(exists),
    "list.existsOne(ast, ast, ast): bool": twoVariables(existsOne),
    "list.exists_one(ast, ast, ast): bool": twoVariables(existsOne),
    "list.transformList(ast, ast, ast): list<dyn>": twoVariables(transformed("list", false)),
    "list.transformList(ast, ast, ast, ast): list<dyn>": twoVariables(transformed("list", true)),
    "list.transformMap(ast, ast, ast): dyn": twoVariables(transformed("map", false)),
    "list.transformMap(ast, ast, ast, ast): dyn": twoVariables(transformed("map", true)),
    "list.transformMapEntry(ast, ast, ast): dyn": twoVariables(transformed("entries", false)),
    "list.transformMapEntry(ast, ast, ast, ast): dyn": twoVariables(transformed("entries", true)),
    "list.sortBy(ast, ast): list<dyn>": sortBy,
    "optional.optMap(ast, ast): dyn": optionalMap(false),
    "optional.optFlatMap(ast, ast): dyn": optionalMap(true),
  };
  for (const [signature, macro] of Object.entries(macros)) {
    environment.registerFunction(signature, macro);
  }
}
