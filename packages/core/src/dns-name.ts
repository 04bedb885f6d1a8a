/** A DNS name as it is compared: case and the dot at its end do not count. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

/** Whether two DNS names are the same; absent ones are not. */
export function sameName(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && plainName(a) === plainName(b ?? "");
}

/** Whether a DNS name is below a domain. */
export function isBelow(name: string, domain: string): boolean {
  return plainName(name).endsWith(`.${plainName(domain)}`);
}
