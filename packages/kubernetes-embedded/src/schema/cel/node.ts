/** A node of the library's tree, as far as it is looked at here: the library gives it no type. */
export interface Node {
  op: string;
  args: unknown;
  meta: {
    alternate?: Node;
    macro?: Record<string, unknown>;
    check: unknown;
    evaluate: unknown;
  };
  handle?: (...args: never[]) => unknown;
  setMeta(key: string, value: unknown): void;
  clone(operator: { name: string; check: unknown; evaluate: unknown }, args: unknown): Node;
}

/** A type of the library. */
export interface Type {
  kind: string;
  name: string;
  valueType?: Type;
  keyType?: Type;
  fieldLazy(value: unknown, key: unknown, node: Node, evaluator: Evaluator): unknown;
}

/** Where variables are looked up. */
export interface Context {
  forkWithVariable(name: string, type: Type): Context;
  reuse(parent: Context): Context;
  setIterValue(value: unknown, evaluator: Evaluator): Context;
}

/** What checks types. */
export interface Checker {
  check(node: Node, context: Context): Type;
  checkAccessOnType(node: Node, context: Context, type: Type): Type;
  getType(name: string): Type;
  createError(code: string, message: string, node: Node): Error;
  registry: {
    getListType(type: Type): Type;
    getMapType(key: Type, value: Type): Type;
    getOptionalType(type: Type): Type;
  };
}

/** What evaluates. */
export interface Evaluator {
  run(node: Node, context: Context): unknown;
  debugType(value: unknown): Type;
}
