import { Optional } from "@marcbachmann/cel-js";
import type { Checker, Context, Evaluator, Node, Type } from "./node.ts";

/**
 * `has(a.b[0].c)`: whether the last field is there. The library's own takes no index on the way and does not
 * ask whether the type has such a field.
 */
export function hasMacro([field]: Node[]): Record<string, unknown> {
  const [operand, name] = (field?.args ?? []) as [Node, string];
  return {
    args: [field],
    async: false,
    typeCheck(checker: Checker, _: unknown, context: Context): Type {
      if (field === undefined || (field.op !== "." && field.op !== ".?")) {
        throw checker.createError(
          "invalid_macro_argument",
          "invalid argument to has() macro",
          field as Node,
        );
      }
      const type = checker.check(operand, context);
      const plain = type.kind === "optional" ? type.valueType : type;
      if (field.op === "." && plain) checker.checkAccessOnType(field, context, plain);
      return checker.getType("bool");
    },
    evaluate(evaluator: Evaluator, _: unknown, context: Context): boolean {
      const value = evaluator.run(operand, context);
      const found = evaluator.debugType(value).fieldLazy(value, name, field as Node, evaluator);
      return found instanceof Optional ? found.hasValue() : found !== undefined;
    },
  };
}
