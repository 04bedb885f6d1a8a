/** A choice of objects by their labels, as Kubernetes has it. */
export interface LabelSelector {
  matchLabels?: Record<string, string> | null;
  matchExpressions?: readonly LabelRequirement[] | null;
}

export interface LabelRequirement {
  key: string;
  operator: string;
  values?: readonly string[] | null;
}

/** Whether it chooses nothing in particular. What that means differs from field to field. */
export function isEmptySelector(selector: LabelSelector | null | undefined): boolean {
  const { matchLabels, matchExpressions } = selector ?? {};
  return Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0;
}

/** Whether labels meet every requirement. An operator that Kubernetes does not have is met by nothing. */
export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every((each) => isMet(each, labels))
  );
}

function isMet(
  { key, operator, values }: LabelRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const among = value !== undefined && (values ?? []).includes(value);
  switch (operator) {
    case "In":
      return among;
    case "NotIn":
      // A label that is not there is in no list either.
      return !among;
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}
