/** Tells whether a pattern of a role names an action; the action is in lower case. */
export type ActionPattern = (action: string) => boolean;

// A star stands for any text. One that is a whole word between slashes stands for no word too: the Managed Identity
// Operator, who has `userAssignedIdentities/*/read`, can read the identity itself.
// https://learn.microsoft.com/azure/role-based-access-control/role-definitions#wildcard-permissions

/** Read a pattern. Case does not count. */
export function actionPattern(pattern: string): ActionPattern {
  const plain = pattern.toLowerCase();
  if (plain === "*") return () => true;
  if (!plain.includes("*")) return (action) => action === plain;
  const shorter = plain.replaceAll("/*/", "/");
  const parts = plain.split("*");
  if (shorter === plain) return (action) => fits(action, parts);
  const shorterParts = shorter.split("*");
  return (action) => fits(action, parts) || fits(action, shorterParts);
}

/** Not a regular expression: a pattern comes from whoever writes a role, and some make those take for ever. */
function fits(action: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? "";
  if (parts.length === 1) return action === first;
  const last = parts.at(-1) ?? "";
  if (!action.startsWith(first) || !action.endsWith(last)) return false;
  let at = first.length;
  for (let i = 1; i < parts.length - 1; i++) {
    const part = parts[i] ?? "";
    const found = action.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= action.length;
}
