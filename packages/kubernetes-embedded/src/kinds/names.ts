const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const namePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

// Each says why a text will not do; `undefined` where it will.

/** A DNS label (RFC 1123): the name of a Namespace or a Service. */
export function wrongLabel(name: string): string | undefined {
  if (name.length > 63) return "must be no more than 63 characters";
  if (label.test(name)) return undefined;
  return "must be a lowercase RFC 1123 label: a-z, 0-9 and '-', with a letter or digit at both ends";
}

/** A DNS subdomain (RFC 1123): the name of most objects. */
export function wrongSubdomain(name: string): string | undefined {
  if (name.length > 253) return "must be no more than 253 characters";
  if (subdomain.test(name)) return undefined;
  return "must be a lowercase RFC 1123 subdomain: a-z, 0-9, '-' and '.', with a letter or digit at both ends of each part";
}

/** A name that can stand in a path. */
export function wrongPathSegment(name: string): string | undefined {
  if (name === "." || name === "..") return `may not be '${name}'`;
  return /[/%]/.test(name) ? "may not contain '/' or '%'" : undefined;
}

/** A key of a label or an annotation, a finalizer: a name, with or without `prefix/` before it. */
export function wrongQualifiedName(name: string): string | undefined {
  const parts = name.split("/");
  if (parts.length > 2) return "must be a name, or a DNS subdomain, '/' and a name";
  const own = parts.at(-1) ?? "";
  if (parts.length === 2) {
    const prefix = parts[0] ?? "";
    const why = prefix === "" ? "must not be empty" : wrongSubdomain(prefix);
    if (why !== undefined) return `prefix part ${why}`;
  }
  if (own === "") return "name part must not be empty";
  if (own.length > 63) return "name part must be no more than 63 characters";
  if (namePart.test(own)) return undefined;
  return "name part is made of letters, digits, '-', '_' and '.', with a letter or digit at both ends";
}

/** The value of a label. */
export function wrongLabelValue(value: string): string | undefined {
  if (value.length > 63) return "must be no more than 63 characters";
  if (value === "" || namePart.test(value)) return undefined;
  return "a label is empty, or made of letters, digits, '-', '_' and '.', with a letter or digit at both ends";
}

/** The name of a port: what RFC 6335 calls a service name. */
export function wrongPortName(name: string): string | undefined {
  if (name.length > 15) return "must be no more than 15 characters";
  const fits = label.test(name) && /[a-z]/.test(name) && !name.includes("--");
  return fits ? undefined : "must be a-z, 0-9 and single '-', with at least one letter";
}

/** The number of a port. */
export function wrongPort(port: number): string | undefined {
  return port >= 1 && port <= 65_535 ? undefined : "must be between 1 and 65535, inclusive";
}
