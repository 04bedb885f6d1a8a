// A promise that is rejected while nobody has a handler on it is an unhandled rejection. `npm run check` runs this over the packages and
// names every promise that can be rejected before its handler is there:
//
// - one that is kept in a variable, a field or a list while something else is awaited, the function returns, or nothing at all
//   is done with it (create it within `Promise.all` instead, or attach a `catch` at once);
// - one that is an element of an array or an argument of a call, while a later element or argument is awaited;
// - a statement or `void` whose promise has no `catch`;
// - an array of promises that is awaited one after another, or not at all, or that a function makes which may throw between two;
// - an async function where one is expected that returns nothing: an event handler, a timer, `forEach`.
import { relative } from "node:path";
import * as ast from "typescript/unstable/ast";
import {
  API,
  type APIOptions,
  type Checker,
  SignatureKind,
  type Type,
  TypeFlags,
} from "typescript/unstable/sync";

/** A place in a file where a rejection may find no handler, and why. */
export interface Finding {
  file: string;
  line: number;
  why: string;
}

/** All promises in the files of a project that may be rejected without a handler. */
export function unhandledPromises(
  config: string,
  isChecked: (file: string) => boolean,
  options: APIOptions = {},
): { files: number; findings: Finding[] } {
  const api = new API(options);
  try {
    const snapshot = api.updateSnapshot({ openProjects: [config] });
    const project = snapshot.getProject(config);
    if (project === undefined) throw new Error(`there is no project ${config}`);
    const files = project.rootFiles.filter(isChecked);
    const types = new Types(project.checker);
    const findings = files.flatMap((name) => {
      const file = project.program.getSourceFile(name);
      if (file === undefined) throw new Error(`the project has no file ${name}`);
      return inFile(file, types);
    });
    return { files: files.length, findings };
  } finally {
    api.close();
  }
}

/** What is asked of types, each once. */
class Types {
  readonly #checker: Checker;
  readonly #promises = new Map<number, boolean>();
  readonly #arrays = new Map<number, boolean>();

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  of(nodes: readonly ast.Node[]): (Type | undefined)[] {
    return nodes.length === 0 ? [] : this.#checker.getTypeAtLocation(nodes);
  }

  isPromise(type: Type | undefined): boolean {
    return this.#asked(this.#promises, type, (each) => {
      return this.#checker.getPropertyOfType(each, "then") !== undefined;
    });
  }

  isPromiseArray(type: Type | undefined): boolean {
    return this.#asked(this.#arrays, type, (each) => {
      if (!this.#checker.isArrayType(each) && !this.#checker.isTupleType(each)) return false;
      const elements = each.isTypeReference() ? this.#checker.getTypeArguments(each) : [];
      return elements.some((element) => this.isPromise(element) || this.isPromiseArray(element));
    });
  }

  /** Whether what is called here is expected to return nothing, and returns a promise. */
  returnsUnexpectedPromise(node: ast.Expression): boolean {
    const expected = this.#checker.getContextualType(node);
    if (expected === undefined || !this.#returns(expected, (type) => isVoid(type))) return false;
    const [own] = this.of([node]);
    return own !== undefined && this.#returns(own, (type) => this.isPromise(type));
  }

  #returns(type: Type, matches: (returned: Type | undefined) => boolean): boolean {
    const callable = this.#checker.getNonNullableType(type) ?? type;
    const signatures = this.#checker.getSignaturesOfType(callable, SignatureKind.Call);
    return (
      signatures.length > 0 &&
      signatures.every((each) => matches(this.#checker.getReturnTypeOfSignature(each)))
    );
  }

  #asked(
    known: Map<number, boolean>,
    type: Type | undefined,
    ask: (type: Type) => boolean,
  ): boolean {
    if (type === undefined || type.flags & (TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Never))
      return false;
    let answer = known.get(type.id);
    if (answer === undefined) {
      // A type that refers to itself is asked about once.
      known.set(type.id, false);
      const parts = type.isUnionType() || type.isIntersectionType() ? type.getTypes() : undefined;
      answer = parts
        ? parts.some((part) => this.#asked(known, part, ask))
        : type.isObjectType() && ask(type);
      known.set(type.id, answer);
    }
    return answer;
  }
}

function isPromiseClass(node: ast.Node): boolean {
  return node.getText() === "Promise";
}

function isVoid(type: Type | undefined): boolean {
  return type !== undefined && (type.flags & TypeFlags.Void) !== 0;
}

function inFile(file: ast.SourceFile, types: Types): Finding[] {
  const found: Finding[] = [];
  const report = (node: ast.Node, why: string) => {
    const line = file.text.slice(0, node.getStart(file)).split("\n").length;
    found.push({ file: file.fileName, line, why });
  };
  const nodes = everyNode(file);

  const made = nodes.filter((node) => ast.isCallExpression(node) || ast.isNewExpression(node));
  const madeTypes = types.of(made);
  made.forEach((node, at) => {
    const isArray = types.isPromiseArray(madeTypes[at]);
    if (!isArray && !types.isPromise(madeTypes[at])) return;
    if (isBorrowed(node) || (!isArray && neverRejects(node))) return;
    const why = unhandled(node, isArray);
    if (why !== undefined) report(node, why);
  });

  const parameters = nodes.filter(
    (node): node is ast.ParameterDeclaration =>
      ast.isParameterDeclaration(node) && ast.isIdentifier(node.name),
  );
  const parameterTypes = types.of(parameters.map(({ name }) => name));
  parameters.forEach(({ name, parent }, at) => {
    const { body } = parent as { body?: ast.Node };
    if (body === undefined || !types.isPromise(parameterTypes[at])) return;
    const statements = ast.isBlock(body) ? body.statements : [body];
    if (!isConsumedSoon(name.getText(), statements))
      report(name, `${name.getText()} is given, and something else is awaited first`);
  });

  for (const node of nodes)
    if (isCallback(node) && types.returnsUnexpectedPromise(node))
      report(node, "an async function where one is expected that returns nothing");
  return found;
}

function everyNode(root: ast.Node): ast.Node[] {
  const all: ast.Node[] = [];
  const visit = (node: ast.Node): undefined => {
    all.push(node);
    node.forEachChild(visit);
  };
  visit(root);
  return all;
}

/** Why the promise of an expression may have no handler in time; undefined where it has one. */
function unhandled(node: ast.Expression, isArray: boolean): string | undefined {
  if (isArray && mayThrowBetween(node)) return "a throw leaves the promises before it: use async";
  const top = outermost(node);
  const { parent } = top;
  if (isOvertaken(node, parent)) return "something is awaited beside it, before it has a handler";
  if (ast.isAwaitExpression(parent)) return isArray ? "await does not await an array" : undefined;
  if (ast.isReturnStatement(parent) || ast.isYieldExpression(parent)) return undefined;
  if (ast.isArrowFunction(parent) && parent.body === top) return undefined;
  if (ast.isPropertyAccessExpression(parent) && ast.isCallExpression(parent.parent)) {
    // What the call gives is looked at by itself.
    if (isArray || isChaining(parent.name.getText())) return undefined;
  }
  if ((ast.isCallExpression(parent) || ast.isNewExpression(parent)) && top !== parent.expression)
    return isStoring(parent) ? "it is put into a collection without a handler" : undefined;
  if (ast.isVoidExpression(parent) || ast.isExpressionStatement(parent))
    return "nobody awaits it, and it has no catch";
  const target = targetOf(top);
  if (target === undefined) return "it is kept without a handler";
  const { name, statement } = target;
  const { statements } = statement.parent as { statements?: readonly ast.Node[] };
  const next = statements?.slice(statements.indexOf(statement) + 1) ?? [];
  return isConsumedSoon(name, next)
    ? undefined
    : `${name} is kept, and has no handler before something else is awaited or the function ends`;
}

/** Whether promises are made by a function of several statements that is not async: what one of them throws is no rejection. */
function mayThrowBetween(node: ast.Expression): boolean {
  const [made] = ast.isCallExpression(node) ? node.arguments : [];
  if (made === undefined || !ast.isArrowFunction(made) || !ast.isBlock(made.body)) return false;
  return !made.modifiers?.some((each) => each.getText() === "async");
}

/** The largest expression around this one that has the same promise. */
function outermost(node: ast.Expression): ast.Expression {
  let top = node;
  for (;;) {
    const { parent } = top;
    const isPart =
      ast.isParenthesizedExpression(parent) ||
      ast.isAsExpression(parent) ||
      ast.isSatisfiesExpression(parent) ||
      ast.isNonNullExpression(parent) ||
      ast.isSpreadElement(parent) ||
      ast.isArrayLiteralExpression(parent) ||
      (ast.isConditionalExpression(parent) && parent.condition !== top) ||
      (ast.isBinaryExpression(parent) &&
        ["??", "||", "&&"].includes(parent.operatorToken.getText()));
    if (!isPart) return top;
    top = parent as ast.Expression;
  }
}

/** Where a promise is kept: the name of the variable or field, and the statement that does it. */
function targetOf(top: ast.Expression): { name: string; statement: ast.Node } | undefined {
  const { parent } = top;
  if (ast.isVariableDeclaration(parent) && ast.isIdentifier(parent.name))
    return { name: parent.name.getText(), statement: parent.parent.parent };
  if (
    ast.isBinaryExpression(parent) &&
    parent.right === top &&
    /^(\?\?|\|\|)?=$/.test(parent.operatorToken.getText()) &&
    ast.isExpressionStatement(parent.parent)
  )
    return { name: parent.left.getText(), statement: parent.parent };
  return undefined;
}

/** Whether one of these statements handles what is kept under a name before anything is awaited or the function is left. */
function isConsumedSoon(name: string, statements: readonly ast.Node[]): boolean {
  for (const statement of statements) {
    const [first] = ownNodes(headOf(statement)).filter(
      (node) => isConsumption(node, name) || isSuspension(node),
    );
    if (first !== undefined) return isConsumption(first, name);
    const isLate = (node: ast.Node) => {
      if (!isExit(node)) return isSuspension(node);
      return !ownNodes(node).some((within) => isConsumption(within, name));
    };
    if (ownNodes(statement).some(isLate)) return false;
  }
  return false;
}

/** The part of a statement that runs in any case. */
function headOf(statement: ast.Node): ast.Node {
  if (ast.isTryStatement(statement)) return statement.tryBlock.statements[0] ?? statement.tryBlock;
  if (ast.isIfStatement(statement) || ast.isWhileStatement(statement)) return statement.expression;
  if (ast.isForOfStatement(statement)) return statement.expression;
  return statement;
}

/** The nodes of a statement in the order in which they run, without those of functions that are called later. */
function ownNodes(root: ast.Node): ast.Node[] {
  const all: ast.Node[] = [];
  const visit = (node: ast.Node): undefined => {
    const isExecutor = ast.isNewExpression(node.parent) && isPromiseClass(node.parent.expression);
    if (ast.isFunctionLikeDeclaration(node) && !isExecutor) return;
    node.forEachChild(visit);
    all.push(node);
  };
  visit(root);
  return all;
}

/** Whether this is the name of something kept, in a place where it gets a handler. */
function isConsumption(node: ast.Node, name: string): boolean {
  if (!ast.isIdentifier(node) && !ast.isPropertyAccessExpression(node)) return false;
  if (node.getText() !== name) return false;
  const top = outermost(node);
  const { parent } = top;
  if (ast.isAwaitExpression(parent) || ast.isReturnStatement(parent)) return true;
  if (ast.isArrowFunction(parent)) return true;
  if (ast.isPropertyAccessExpression(parent)) return isChaining(parent.name.getText());
  if (!ast.isCallExpression(parent) || top === parent.expression) return false;
  return !isStoring(parent) && !isOvertaken(node, parent);
}

/** Whether a later element of the same array or a later argument of the same call awaits something. */
function isOvertaken(node: ast.Node, end: ast.Node): boolean {
  for (let each = node; each !== end; each = each.parent) {
    const { parent } = each;
    const listed: readonly ast.Node[] = ast.isArrayLiteralExpression(parent)
      ? parent.elements
      : ast.isCallExpression(parent) || ast.isNewExpression(parent)
        ? (parent.arguments ?? [])
        : [];
    const at = listed.indexOf(each);
    if (at < 0) continue;
    if (listed.slice(at + 1).some((later) => ownNodes(later).some(isSuspension))) return true;
  }
  return false;
}

function isSuspension(node: ast.Node): boolean {
  return (
    ast.isAwaitExpression(node) ||
    ast.isYieldExpression(node) ||
    (ast.isForOfStatement(node) && node.awaitModifier !== undefined)
  );
}

function isExit(node: ast.Node): boolean {
  return (
    ast.isReturnStatement(node) ||
    ast.isThrowStatement(node) ||
    ast.isBreakStatement(node) ||
    ast.isContinueStatement(node)
  );
}

function isChaining(method: string): boolean {
  return ["then", "catch", "finally"].includes(method);
}

/** Whether a call only puts what it is given into a list, a map, a set or an object. */
function isStoring({ expression }: ast.CallExpression | ast.NewExpression): boolean {
  if (["Map", "Set", "Object.fromEntries"].includes(expression.getText())) return true;
  return (
    ast.isPropertyAccessExpression(expression) &&
    ["push", "unshift", "set", "add"].includes(expression.name.getText())
  );
}

/** Whether a call only gives back what was kept before. */
function isBorrowed(node: ast.Expression): boolean {
  if (!ast.isCallExpression(node) || !ast.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  return name.getText() === "get" && /^(this\.)?#?[a-z]+$/i.test(expression.getText());
}

/** Whether a promise has its handler already, or nothing by which it could be rejected. */
function neverRejects(node: ast.Expression): boolean {
  if (ast.isNewExpression(node)) {
    const [executor] = node.arguments ?? [];
    return (
      executor !== undefined &&
      (ast.isArrowFunction(executor) || ast.isFunctionExpression(executor)) &&
      executor.parameters.length < 2
    );
  }
  if (!ast.isCallExpression(node) || !ast.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  const method = name.getText();
  if (isPromiseClass(expression)) return method === "resolve" || method === "allSettled";
  if (method === "finally") return neverRejects(expression);
  const handlers = node.arguments.length;
  return (method === "catch" && handlers === 1) || (method === "then" && handlers === 2);
}

/** Whether a function is given here to be called by another. */
function isCallback(node: ast.Node): node is ast.Expression {
  const { parent } = node;
  if (!ast.isArrowFunction(node) && !ast.isFunctionExpression(node) && !ast.isIdentifier(node))
    if (!ast.isPropertyAccessExpression(node)) return false;
  if (ast.isPropertyAssignment(parent)) return parent.initializer === node;
  if (!ast.isCallExpression(parent) && !ast.isNewExpression(parent)) return false;
  if (parent.expression === node) return false;
  // A promise that is returned there is waited for, although its type does not say so.
  const { expression } = parent;
  return !(ast.isPropertyAccessExpression(expression) && expression.name.getText() === "finally");
}

if (import.meta.main) {
  const root = process.cwd();
  const isChecked = (file: string) =>
    file.startsWith(`${root}/packages/`) && !file.endsWith(".test.ts") && !file.endsWith(".d.ts");
  const { files, findings } = unhandledPromises(`${root}/tsconfig.json`, isChecked);
  for (const { file, line, why } of findings)
    console.error(`${relative(root, file)}:${line}: ${why}`);
  console.log(`promises: ${files} files, ${findings.length} without a handler in time`);
  if (findings.length > 0) process.exitCode = 1;
}
