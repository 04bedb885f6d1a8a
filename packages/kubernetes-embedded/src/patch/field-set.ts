/**
 * A set of fields in the form of Kubernetes' FieldsV1. A key is a step down: `f:` a field, `k:` the item of a list with
 * these keys, `v:` the item of a list that is this value, `i:` an index. A node is itself in the set where it is empty
 * or has `.`; otherwise only what is below it is. The root stands for the whole object and is never in the set.
 * Sets are never changed once they are handed on.
 */
export interface FieldSet {
  [element: string]: FieldSet;
}

/** Whether nothing is in a set, or below a node. */
export function isEmpty(set: FieldSet): boolean {
  for (const element in set) if (element !== ".") return false;
  return true;
}

/** Whether a node is itself in the set. */
export function isMember(node: FieldSet | undefined): boolean {
  return node !== undefined && ("." in node || isEmpty(node));
}

/** Whether a path is in a set. */
export function hasPath(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) node = node?.[element];
  return isMember(node);
}

/** Puts a path into a set that is still being made. */
export function insert(set: FieldSet, path: readonly string[]): void {
  const parent = parentOf(set, path);
  const last = path[path.length - 1] as string;
  const node = parent[last];
  if (node === undefined) parent[last] = {};
  else if (!isEmpty(node)) node["."] ??= {};
}

/** Puts a path into a set that is still being made, and with it all that is below it. */
export function graft(set: FieldSet, path: readonly string[], node: FieldSet): void {
  parentOf(set, path)[path[path.length - 1] as string] = node;
}

function parentOf(set: FieldSet, path: readonly string[]): FieldSet {
  let node = set;
  for (let depth = 0; depth < path.length - 1; depth++) {
    const element = path[depth] as string;
    const next = node[element];
    if (next === undefined) node[element] = {};
    // What was a leaf until now stays in the set.
    else if (isEmpty(next)) next["."] ??= {};
    node = node[element] as FieldSet;
  }
  return node;
}

/** What is in either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const result: FieldSet = { ...a };
  for (const element in b) {
    const theirs = b[element] as FieldSet;
    const mine = a[element];
    if (mine === undefined) result[element] = theirs;
    else if (element !== ".") {
      put(result, element, isMember(mine) || isMember(theirs), union(below(mine), below(theirs)));
    }
  }
  return result;
}

/** What is in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const result: FieldSet = {};
  for (const element in a) {
    const mine = a[element] as FieldSet;
    const theirs = b[element];
    if (element === "." || theirs === undefined) continue;
    put(result, element, isMember(mine) && isMember(theirs), intersection(mine, theirs));
  }
  return result;
}

/** What is in the first set and not in the second; what lies below a field of the second stays. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  const result: FieldSet = {};
  for (const element in a) {
    const mine = a[element] as FieldSet;
    const theirs = b[element];
    if (element === ".") continue;
    if (theirs === undefined) result[element] = mine;
    else put(result, element, isMember(mine) && !isMember(theirs), difference(mine, theirs));
  }
  return result;
}

/** What is in the first set and neither in the second nor below a field of it. */
export function without(a: FieldSet, b: FieldSet): FieldSet {
  const result: FieldSet = {};
  for (const element in a) {
    const mine = a[element] as FieldSet;
    const theirs = b[element];
    if (element === "." || isMember(theirs)) continue;
    if (theirs === undefined) result[element] = mine;
    else put(result, element, isMember(mine), without(mine, theirs));
  }
  return result;
}

/** Whether two sets hold the same fields. */
export function sameSet(a: FieldSet, b: FieldSet): boolean {
  return isEmpty(difference(a, b)) && isEmpty(difference(b, a));
}

function below(node: FieldSet): FieldSet {
  if (!("." in node)) return node;
  const { ".": _, ...children } = node;
  return children;
}

function put(into: FieldSet, element: string, member: boolean, children: FieldSet): void {
  if (isEmpty(children)) {
    if (member) into[element] = {};
    else delete into[element];
  } else {
    into[element] = member ? { ".": {}, ...children } : children;
  }
}
