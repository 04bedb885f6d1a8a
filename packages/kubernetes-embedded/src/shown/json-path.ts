/** A path of a printer column, made ready: gives all values that it leads to. */
export type JsonPath = (root: unknown) => unknown[];

type Step = (values: unknown[]) => unknown[];

const made = new Map<string, JsonPath>();

/** A path such as `.status.conditions[?(@.type=="Ready")].status`. One that cannot be read leads nowhere. */
export function jsonPath(text: string): JsonPath {
  const known = made.get(text);
  if (known !== undefined) return known;
  const path = makePath(text);
  made.set(text, path);
  return path;
}

function makePath(text: string): JsonPath {
  const steps = stepsOf(text.trim().replace(/^\{(.*)\}$/s, "$1"));
  if (steps === undefined) return () => [];
  return (root) => steps.reduce((values, step) => step(values), [root]);
}

const field = /^\.?((?:\\.|[^.[\]\\'"])+)/;
const bracket = /^\.?\[((?:'(?:\\.|[^'])*'|"(?:\\.|[^"])*"|[^\]'"])*)\]/;

function stepsOf(text: string): Step[] | undefined {
  const steps: Step[] = [];
  let rest = text.replace(/^[$@](?=[.[]|$)/, "");
  while (rest !== "" && rest !== ".") {
    const inBrackets = bracket.exec(rest);
    const named = inBrackets === null ? field.exec(rest) : null;
    const found = inBrackets ?? named;
    if (found === null) return undefined;
    const inside = (found[1] ?? "").trim();
    const step = inBrackets === null ? fieldStep(unescaped(inside)) : bracketStep(inside);
    if (step === undefined) return undefined;
    steps.push(step);
    rest = rest.slice(found[0].length);
  }
  return steps;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, "$1");
}

function fieldStep(name: string): Step {
  if (name === "*") return everything;
  return (values) => values.flatMap((value) => (has(value, name) ? [value[name]] : []));
}

function has(value: unknown, name: string): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name);
}

function everything(values: unknown[]): unknown[] {
  return values.flatMap((value) => {
    return typeof value === "object" && value !== null ? Object.values(value) : [];
  });
}

function bracketStep(inside: string): Step | undefined {
  if (inside === "*") return everything;
  const filter = /^\?\((.*)\)$/s.exec(inside)?.[1];
  if (filter !== undefined) return filterStep(filter);
  if (/^-?\d+$/.test(inside)) return (values) => items(values, (list) => [list.at(Number(inside))]);
  const slice = /^(-?\d*):(-?\d*)$/.exec(inside);
  if (slice !== null) return sliceStep(slice[1] ?? "", slice[2] ?? "");
  const quoted = literal(inside);
  return typeof quoted?.value === "string" ? fieldStep(quoted.value) : undefined;
}

function items(values: unknown[], pick: (list: unknown[]) => unknown[]): unknown[] {
  const lists = values.filter((value) => Array.isArray(value));
  return lists.flatMap(pick).filter((value) => value !== undefined);
}

function sliceStep(from: string, to: string): Step {
  const start = from === "" ? 0 : Number(from);
  const end = to === "" ? undefined : Number(to);
  return (values) => items(values, (list) => list.slice(start, end));
}

const comparison = /^(.*?)\s*(==|!=|<=|>=|<|>)\s*(.*)$/s;

function filterStep(text: string): Step | undefined {
  const [, left = text, operator, right = ""] = comparison.exec(text) ?? [];
  const one = operand(left.trim());
  if (one === undefined) return undefined;
  if (operator === undefined)
    return (values) => items(values, (list) => list.filter((item) => one(item).length > 0));
  const other = operand(right.trim());
  if (other === undefined) return undefined;
  const holds = (item: unknown) => compare(one(item), operator, other(item));
  return (values) => items(values, (list) => list.filter(holds));
}

/** One side of a comparison: a value that is written there, or a path from the item. */
function operand(text: string): JsonPath | undefined {
  const written = literal(text);
  if (written !== undefined) return () => [written.value];
  return text.startsWith("@") ? makePath(text) : undefined;
}

function literal(text: string): { value: unknown } | undefined {
  const quoted = /^'((?:\\.|[^'\\])*)'$|^"((?:\\.|[^"\\])*)"$/s.exec(text);
  if (quoted !== null) return { value: unescaped(quoted[1] ?? quoted[2] ?? "") };
  if (/^-?\d+(\.\d+)?$/.test(text)) return { value: Number(text) };
  if (text === "true" || text === "false") return { value: text === "true" };
  return text === "null" ? { value: null } : undefined;
}

/** What is not there is equal to nothing, and unequal to nothing. */
function compare(left: unknown[], operator: string, right: unknown[]): boolean {
  if (left.length === 0 || right.length === 0) return false;
  const [one, other] = [left[0], right[0]];
  if (operator === "==") return one === other;
  if (operator === "!=") return one !== other;
  if (typeof one !== typeof other || (typeof one !== "number" && typeof one !== "string")) {
    return false;
  }
  const order = one < (other as typeof one) ? -1 : one > (other as typeof one) ? 1 : 0;
  switch (operator) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    default:
      return order >= 0;
  }
}
